"""What Kafka's producer is given is ours where the user has said nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Self, cast

import pytest
from pyspark.sql import DataFrame

from evergrid.config.settings import Connection
from evergrid.pipeline.kafka_frames import start_writing


class Writing:
    """Takes down what changes would be written with, and does not write them."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self.triggers: list[dict[str, object]] = []
        self.name = self.mode = ""

    @property
    def writeStream(self) -> Self:
        return self

    def select(self, *_: object) -> Self:
        return self

    def format(self, _: str) -> Self:
        return self

    def queryName(self, name: str) -> Self:
        self.name = name
        return self

    def outputMode(self, mode: str) -> Self:
        self.mode = mode
        return self

    def options(self, **options: str) -> Self:
        self.given |= options
        return self

    def option(self, name: str, value: str) -> Self:
        return self.options(**{name: value})

    def trigger(self, **trigger: object) -> Self:
        self.triggers.append(trigger)
        return self

    def start(self) -> None:
        assert self.given["kafka.bootstrap.servers"] == "b:1"


def written(properties: dict[str, str], *, live: bool) -> Writing:
    changes = Writing()
    start_writing(
        cast(DataFrame, changes),
        Connection("internal", "b:1", properties),
        "g1.join-final",
        Path("/here"),
        largest_change=1024,
        batch_seconds=300 if live else None,
    )
    return changes


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(
    ("times", "linger"),
    [
        ({}, ("3", "20")),
        ({"request.timeout.ms": "60000"}, ("3", "20")),
        ({"delivery.timeout.ms": "30000"}, (None, None)),
        ({"linger.ms": "5"}, ("5", "5")),
    ],
    ids=str,
)
def test_a_users_times_are_not_joined_by_ours(
    times: dict[str, str], linger: tuple[str | None, str | None], live: bool
) -> None:
    changes = written(times, live=live)
    assert changes.given.get("kafka.linger.ms") == linger[0 if live else 1]


@pytest.mark.parametrize(("live", "size"), [(True, "65536"), (False, "262144")])
def test_a_users_batch_size_is_taken_instead_of_ours(live: bool, size: str) -> None:
    assert written({}, live=live).given["kafka.batch.size"] == size
    assert written({"batch.size": "77"}, live=live).given["kafka.batch.size"] == "77"


@pytest.mark.parametrize(
    ("live", "trigger"), [(True, {"realTime": "300 seconds"}), (False, {"availableNow": True})]
)
def test_both_modes_use_the_same_name_and_checkpoint(
    live: bool, trigger: dict[str, object]
) -> None:
    changes = written({}, live=live)
    assert (changes.name, changes.mode, changes.triggers) == ("g1.join-final", "update", [trigger])
    assert changes.given["checkpointLocation"] == "/here"


def test_the_largest_change_fits_into_a_request_and_the_buffer() -> None:
    for largest, buffer in ((1024, "33554432"), (1 << 25, str(1 << 27))):
        changes = Writing()
        start_writing(
            cast(DataFrame, changes),
            Connection("internal", "b:1", {}),
            "q",
            Path("/here"),
            largest_change=largest,
            batch_seconds=None,
        )
        assert changes.given["kafka.max.request.size"] == str(largest)
        assert changes.given["kafka.buffer.memory"] == buffer
