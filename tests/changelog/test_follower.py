"""A table is followed by name, whatever happens to the topics and the broker behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evergrid.changelog.follower import Arrival, Batch, Followed, Follower
from evergrid.config import Settings, load
from evergrid.kafka import topics
from evergrid.kafka.broker import EmbeddedBroker
from evergrid.testing.handwritten import HandwrittenPipeline

LIMIT = 60.0
TABLE = "final_ui"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def settings(broker: EmbeddedBroker, request: pytest.FixtureRequest) -> Settings:
    return load(
        None,
        {
            "EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap,
            "EVERGRID_INTERNAL_TOPICS__PREFIX": request.node.name,
        },
    )


class Seen:
    """Everything that a follower gave, in order."""

    def __init__(self, settings: Settings, *tables: str, from_start: bool = False) -> None:
        prefix = settings.internal_topics.prefix
        self.follower = Follower(
            settings.kafka.internal, prefix, tables or (TABLE,), from_start=from_start
        )
        self.arrivals: list[Arrival] = []
        self.moved: list[Followed] = []
        self.notes: list[str] = []

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < deadline, (self.ids(), self.generations(), self.notes)
            self.take(self.follower.read())

    def take(self, batch: Batch) -> None:
        self.arrivals += batch.arrivals
        self.moved += batch.moved
        self.notes += batch.notes

    def ids(self) -> list[str]:
        return [arrival.change.row_id for arrival in self.arrivals]

    def generations(self) -> list[int | None]:
        return [f.generation.number if f.generation else None for f in self.moved]


def test_from_the_start_it_gives_all_there_is_and_says_what_is_live(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    pipeline.write(first.tables[TABLE], "0:1", {"userId": "a"})
    pipeline.switch(first)
    seen = Seen(settings, from_start=True)
    seen.until(lambda: seen.ids() == ["0:1"])
    pipeline.write(first.tables[TABLE], "0:1", None)
    seen.until(lambda: seen.ids() == ["0:1", "0:1"])
    assert [a.live for a in seen.arrivals] == [False, True]
    assert [a.change.row for a in seen.arrivals] == [{"userId": "a"}, None]
    seen.follower.close()


def test_otherwise_it_gives_only_what_comes(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    pipeline.write(first.tables[TABLE], "0:1", {})
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.generations() == [1])
    pipeline.write(first.tables[TABLE], "0:2", {})
    seen.until(lambda: bool(seen.arrivals))
    assert seen.ids() == ["0:2"]
    seen.follower.close()


def test_it_waits_for_a_manifest_that_is_not_there_yet(settings: Settings) -> None:
    seen = Seen(settings)
    seen.take(seen.follower.read())
    assert not seen.moved
    pipeline = HandwrittenPipeline(settings)
    pipeline.switch(pipeline.prepare(1))
    seen.until(lambda: seen.generations() == [1])
    seen.follower.close()


def test_it_moves_to_the_next_generation_and_starts_after_its_past(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.generations() == [1])
    second = pipeline.prepare(2)
    pipeline.write(second.tables[TABLE], "0:1", {"past": 1})
    pipeline.switch(second)
    pipeline.write(second.tables[TABLE], "0:2", {})
    pipeline.remove(first)
    seen.until(lambda: seen.ids() == ["0:2"])
    assert seen.generations() == [1, 2]
    assert f"{TABLE} is now that of generation 2." in seen.notes
    seen.follower.close()


def test_from_the_start_it_reads_the_next_generation_whole(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    pipeline.switch(pipeline.prepare(1))
    seen = Seen(settings, from_start=True)
    seen.until(lambda: seen.generations() == [1])
    second = pipeline.prepare(2)
    pipeline.write(second.tables[TABLE], "0:1", {})
    pipeline.switch(second)
    seen.until(lambda: seen.ids() == ["0:1"])
    assert not seen.arrivals[0].live
    seen.follower.close()


def test_it_survives_the_deletion_of_the_topic_it_reads(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    pipeline.switch(first)
    seen = Seen(settings, TABLE, "quarantine")
    seen.until(lambda: len(seen.moved) == 2)
    topics.delete(settings.kafka.internal, [first.tables[TABLE].topic])
    seen.until(lambda: any("not there now" in note for note in seen.notes))
    pipeline.write(pipeline.quarantine, "users:0:1", {"reason": "x"})
    seen.until(lambda: seen.ids() == ["users:0:1"])
    second = pipeline.prepare(2)
    pipeline.switch(second)
    pipeline.write(second.tables[TABLE], "0:9", {})
    seen.until(lambda: seen.ids() == ["users:0:1", "0:9"])
    seen.follower.close()


def test_it_survives_a_broker_that_is_killed_and_says_so(
    settings: Settings, broker: EmbeddedBroker
) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.generations() == [1])
    broker.kill()
    seen.until(lambda: any("does not answer" in note for note in seen.notes))
    broker.start()
    seen.until(lambda: any("is back" in note for note in seen.notes))
    pipeline.write(first.tables[TABLE], "0:2", {})
    seen.until(lambda: seen.ids() == ["0:2"])
    assert len(seen.notes) == 2
    seen.follower.close()


def test_another_cluster_at_the_same_address_is_followed_from_its_beginning(
    tmp_path: Path,
) -> None:
    with EmbeddedBroker(tmp_path / "one") as one:
        settings = load(None, {"EVERGRID_KAFKA__BOOTSTRAP": one.bootstrap})
        pipeline = HandwrittenPipeline(settings)
        for number in (1, 2, 3):
            generation = pipeline.prepare(number)
            pipeline.switch(generation)
        seen = Seen(settings, from_start=True)
        seen.until(lambda: seen.generations() == [3])
    port = int(settings.kafka.internal.bootstrap.rpartition(":")[2])
    with EmbeddedBroker(tmp_path / "two", port):
        pipeline = HandwrittenPipeline(settings)
        generation = pipeline.prepare(1)
        pipeline.switch(generation)
        pipeline.write(generation.tables[TABLE], "0:5", {})
        seen.until(lambda: "0:5" in seen.ids())
        assert set(seen.generations()[1:]) == {1}
        seen.follower.close()
