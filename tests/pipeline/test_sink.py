"""What Kafka's producer is given for history is ours where the user has said nothing."""

from __future__ import annotations

from typing import Self, cast

import pytest
from pyspark.sql import DataFrame

from evergrid.config.settings import Connection
from evergrid.pipeline.sink import ChangelogSink


class Writing:
    """Takes down what changes would be written with, and does not write them."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}

    @property
    def write(self) -> Self:
        return self

    def select(self, *_: object) -> Self:
        return self

    def format(self, _: str) -> Self:
        return self

    def options(self, **options: str) -> Self:
        self.given |= options
        return self

    def option(self, name: str, value: str) -> Self:
        return self.options(**{name: value})

    def save(self) -> None:
        assert self.given["kafka.bootstrap.servers"] == "b:1"


@pytest.mark.parametrize(
    ("times", "linger"),
    [
        ({}, "20"),
        ({"request.timeout.ms": "60000"}, "20"),
        ({"delivery.timeout.ms": "30000"}, None),
        ({"linger.ms": "5"}, "5"),
    ],
    ids=str,
)
def test_a_users_times_are_not_joined_by_ours(times: dict[str, str], linger: str | None) -> None:
    changes = Writing()
    ChangelogSink(Connection("internal", "b:1", times), 1024).at_once(cast(DataFrame, changes))
    assert changes.given.get("kafka.linger.ms") == linger
    assert changes.given["kafka.batch.size"] == "262144"
