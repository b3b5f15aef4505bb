"""Everything that the manifest names is read from its beginning, whatever happens meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.handwritten_pipeline import HandwrittenPipeline

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.feed import Feed, FeedUpdate, Followed, LoadProgress
from evergrid.config import Settings, load
from evergrid.kafka import topics
from evergrid.model.generation import State

LIMIT = 120.0
TABLE = "final_ui"
RAW = "users_ui"


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
    """Everything that a feed gave, and how it was last."""

    def __init__(self, settings: Settings) -> None:
        self.feed = Feed(settings.kafka.internal, settings.internal_topics.prefix)
        self.ids: dict[str, list[str]] = {}  # by topic
        self.downs: list[str] = []
        self.news: FeedUpdate = self.look()

    def look(self) -> FeedUpdate:
        self.news = self.feed.read(0.2)
        for arrivals in self.news.arrivals:
            ids = [record.key.decode() for record in arrivals.records if record.key]
            self.ids.setdefault(arrivals.key.topic, []).extend(ids)
        if self.news.down not in self.downs[-1:]:
            self.downs.append(self.news.down)
        return self.news

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < deadline, (self.ids, self.news)
            self.look()

    def followed(self, topic: str) -> Followed | None:
        return next((one for one in self.news.followed if one.key.topic == topic), None)

    def reached(self, topic: str) -> LoadProgress | None:
        one = self.followed(topic)
        return None if one is None else self.news.reached[one.key]

    def is_complete(self, topic: str) -> bool:
        reached = self.reached(topic)
        return reached is not None and reached.complete


def test_it_reads_all_tables_from_their_beginning_and_knows_when_it_has_caught_up(
    settings: Settings,
) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    target = first.tables[TABLE]
    expected = [f"0:{number}" for number in range(50)]
    for row_id in expected:
        pipeline.write(target, row_id, {})
    pipeline.write(pipeline.quarantine, "users:0:1", {})
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(target.topic))
    assert sorted(seen.ids[target.topic]) == sorted(expected)
    assert seen.reached(target.topic) == LoadProgress(50, 50)
    followed = seen.followed(target.topic)
    assert followed is not None
    assert (followed.generation, followed.target.table.name) == (1, TABLE)
    assert seen.news.manifest.current == 1
    quarantine = pipeline.quarantine.topic
    seen.until(lambda: seen.ids.get(quarantine) == ["users:0:1"])
    system = seen.followed(quarantine)
    assert system is not None
    assert system.generation == 0
    assert {one.target.table.name for one in seen.news.followed} == {*first.tables, "quarantine"}
    pipeline.write(target, "0:1", None)
    seen.until(lambda: seen.ids[target.topic][50:] == ["0:1"])
    seen.feed.close()


def test_it_waits_for_a_manifest_that_is_not_there_yet(settings: Settings) -> None:
    seen = Seen(settings)
    seen.look()
    seen.until(lambda: seen.news.down == "")  # one answer may be late
    assert seen.news.followed == ()
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    pipeline.switch(first)
    seen.until(lambda: seen.is_complete(first.tables[TABLE].topic))
    seen.feed.close()


def test_a_coming_generation_is_read_before_it_is_current(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first, second = pipeline.prepare(1), pipeline.prepare(2)
    old, new = first.tables[TABLE], second.tables[TABLE]
    pipeline.write(old, "0:1", {})
    pipeline.switch(first)
    seen = Seen(settings)
    pipeline.write(new, "0:2", {})
    seen.until(lambda: seen.ids == {old.topic: ["0:1"], new.topic: ["0:2"]})
    assert seen.news.manifest.current == 1
    pipeline.switch(second)
    pipeline.remove(first)
    seen.until(lambda: seen.followed(old.topic) is None and seen.is_complete(new.topic))
    assert seen.news.manifest.current == 2
    assert seen.ids[new.topic] == ["0:2"], "what was read is not read again"
    seen.feed.close()


def test_one_that_was_replaced_is_left_and_can_come_back(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first, second = pipeline.prepare(1), pipeline.prepare(2)
    old, new = first.tables[TABLE].topic, second.tables[TABLE].topic
    pipeline.write(first.tables[TABLE], "0:1", {})
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(old) and seen.is_complete(new))
    pipeline.switch(second)
    pipeline.become(first, State.RETIRING)
    seen.until(lambda: seen.followed(old) is None)
    pipeline.become(first, State.PREPARING)
    seen.until(lambda: seen.is_complete(old))
    assert seen.ids[old] == ["0:1", "0:1"], "it is read anew"
    pipeline.switch(first)
    pipeline.become(second, State.RETIRING)
    seen.until(lambda: seen.followed(new) is None)
    assert seen.news.manifest.current == 1
    seen.feed.close()


def test_the_one_before_goes_on_until_all_of_the_current_one_is_read(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first, second = pipeline.prepare(1), pipeline.prepare(2)
    old, new = first.tables[TABLE], second.tables[TABLE]
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(old.topic) and seen.is_complete(new.topic))
    pipeline.switch(second, incomplete=TABLE)
    pipeline.become(first, State.RETIRING)
    seen.until(lambda: seen.news.manifest.generations[1].state is State.RETIRING)
    pipeline.write(old, "0:1", {})
    seen.until(lambda: seen.ids.get(old.topic) == ["0:1"])
    assert not seen.is_complete(new.topic)
    pipeline.write_all(new, {f"0:{number}": {} for number in range(50)})
    seen.until(lambda: seen.followed(old.topic) is None)
    assert seen.is_complete(new.topic)
    seen.until(lambda: len(seen.ids[new.topic]) >= 50)
    assert len({*seen.ids[new.topic]}) == 50, "what was read is not read again"
    seen.feed.close()


def test_a_changelog_that_two_generations_share_is_read_once_and_goes_on_under_the_new_number(
    settings: Settings,
) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    users, old = first.tables[RAW], first.tables[TABLE]
    pipeline.write(users, "0:1", {})
    pipeline.switch(first)
    second = pipeline.prepare(2, sharing=first)
    new = second.tables[TABLE]
    assert second.tables[RAW].topic == users.topic
    seen = Seen(settings)
    seen.until(lambda: all(seen.is_complete(it.topic) for it in (users, old, new)))
    before = seen.followed(users.topic)
    assert before is not None
    assert before.generation == 1, "a coming generation does not take it before the switch"
    pipeline.write(users, "0:2", {})
    pipeline.switch(second)
    pipeline.become(first, State.RETIRING)
    seen.until(lambda: seen.news.manifest.current == 2 and seen.followed(old.topic) is None)
    after = seen.followed(users.topic)
    assert after is not None
    assert (after.key, after.generation) == (before.key, 2)
    assert seen.is_complete(users.topic)
    pipeline.remove(first, sharing=second)
    pipeline.write(users, "0:3", {})
    seen.until(lambda: len(seen.ids[users.topic]) >= 3)
    assert seen.ids[users.topic] == ["0:1", "0:2", "0:3"], "what was read is not read again"
    after = seen.followed(users.topic)
    assert after is not None
    assert (after.key, after.generation) == (before.key, 2)
    seen.feed.close()


def test_the_current_generation_does_not_wait_for_what_a_coming_one_has_at_ready(
    settings: Settings,
) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    users = first.tables[RAW].topic
    pipeline.switch(first)
    second = pipeline.prepare(2, sharing=first)
    later = msgspec.structs.replace(second.tables[RAW], ready_offsets={0: 1})
    ready = msgspec.structs.replace(second, tables={**second.tables, RAW: later})
    pipeline.become(ready, State.READY)
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(users))
    assert seen.reached(users) == LoadProgress(0, 0)
    pipeline.switch(second, incomplete=RAW)
    seen.until(lambda: seen.news.manifest.current == 2)
    assert seen.reached(users) == LoadProgress(0, 1), "now it counts"
    seen.feed.close()


def test_going_back_reads_only_what_is_not_shared(settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    users, old = first.tables[RAW], first.tables[TABLE]
    pipeline.write(users, "0:1", {})
    pipeline.write(old, "0:1", {})
    pipeline.switch(first)
    second = pipeline.prepare(2, sharing=first)
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(old.topic) and seen.is_complete(users.topic))
    pipeline.switch(second)
    pipeline.become(first, State.RETIRING)
    seen.until(lambda: seen.followed(old.topic) is None)
    pipeline.become(first, State.PREPARING)
    seen.until(lambda: seen.is_complete(old.topic))
    one = seen.followed(users.topic)
    assert one is not None
    assert one.generation == 2
    pipeline.switch(first)
    pipeline.become(second, State.RETIRING)
    seen.until(lambda: seen.followed(second.tables[TABLE].topic) is None)
    one = seen.followed(users.topic)
    assert one is not None
    assert one.generation == 1
    assert seen.ids == {users.topic: ["0:1"], old.topic: ["0:1", "0:1"]}
    seen.feed.close()


def test_a_deleted_changelog_is_given_up_and_another_of_its_name_read_whole(
    settings: Settings,
) -> None:
    pipeline = HandwrittenPipeline(settings)
    quarantine = pipeline.quarantine
    pipeline.switch(pipeline.prepare(1))
    pipeline.write(quarantine, "users:0:1", {})
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(quarantine.topic))
    before = seen.followed(quarantine.topic)
    assert before is not None
    topics.delete(settings.kafka.internal, [quarantine.topic])
    seen.until(lambda: seen.followed(quarantine.topic) is None)
    again = HandwrittenPipeline(settings)
    again.write(quarantine, "users:0:7", {})
    seen.until(lambda: seen.ids[quarantine.topic] == ["users:0:1", "users:0:7"])
    after = seen.followed(quarantine.topic)
    assert after is not None
    assert after.key != before.key
    seen.until(lambda: seen.is_complete(quarantine.topic))
    seen.feed.close()


def test_it_survives_a_broker_that_is_killed_and_says_so(
    settings: Settings, broker: EmbeddedBroker
) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    target = first.tables[TABLE]
    pipeline.write(target, "0:1", {})
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(target.topic))
    before = seen.followed(target.topic)
    broker.kill()
    seen.until(lambda: "does not answer" in seen.news.down)
    assert seen.followed(target.topic) == before, "tables stay as they are meanwhile"
    broker.start()
    seen.until(lambda: seen.news.down == "")
    pipeline.write(target, "0:2", {})
    seen.until(lambda: "0:2" in seen.ids[target.topic])
    assert seen.ids[target.topic] == ["0:1", "0:2"]
    seen.feed.close()


def test_a_broker_that_is_not_there_at_the_start_is_waited_for(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path / "one") as one:
        settings = load(None, {"EVERGRID_KAFKA__BOOTSTRAP": one.bootstrap})
        pipeline = HandwrittenPipeline(settings)
        first = pipeline.prepare(1)
        pipeline.write(first.tables[TABLE], "0:1", {})
        pipeline.write(pipeline.quarantine, "users:0:1", {})
        pipeline.switch(first)
        one.kill()
        seen = Seen(settings)
        assert "does not answer" in seen.news.down
        one.start()
        seen.until(lambda: seen.is_complete(first.tables[TABLE].topic))
        seen.until(lambda: seen.is_complete(pipeline.quarantine.topic))
        known = {one.key for one in seen.news.followed}
    port = int(settings.kafka.internal.bootstrap.rpartition(":")[2])
    with EmbeddedBroker(tmp_path / "two", port):
        # Another cluster under the same address: nothing of the first one holds.
        pipeline = HandwrittenPipeline(settings)
        first = pipeline.prepare(1)
        pipeline.write(first.tables[TABLE], "0:5", {})
        pipeline.switch(first)
        seen.until(lambda: "0:5" in seen.ids[first.tables[TABLE].topic])
        seen.until(lambda: seen.is_complete(pipeline.quarantine.topic))
        assert not known & {one.key for one in seen.news.followed}
        seen.feed.close()
