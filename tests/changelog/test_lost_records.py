"""What Kafka lost of a changelog is noticed and counted, and no row stays that does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_END, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from tests.changelog.test_feed import RAW, TABLE, Seen
from tests.handwritten_pipeline import HandwrittenPipeline

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka import clients, topics
from evergrid.model.gap import GapReason
from evergrid.model.generation import TableTopic


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def settings_for(broker: EmbeddedBroker, prefix: str, age: str = "never") -> Settings:
    """One partition, so that one knows which record is where."""
    return load(
        None,
        {
            "EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap,
            "EVERGRID_INTERNAL_TOPICS__PREFIX": prefix,
            "EVERGRID_INTERNAL_TOPICS__PARTITIONS": "1",
            "EVERGRID_RETENTION__DEFAULT__AGE": age,
        },
    )


def delete_records(settings: Settings, target: TableTopic, before: int = OFFSET_END) -> None:
    """As retention does it, or somebody with Kafka's tools: a policy is changed in a moment."""
    admin = clients.admin(settings.kafka.internal)
    policy = ConfigEntry(
        "cleanup.policy", "compact,delete", incremental_operation=AlterConfigOpType.SET
    )
    topic = ConfigResource(ResourceType.TOPIC, target.topic, incremental_configs=[policy])
    for changed in admin.incremental_alter_configs([topic]).values():
        changed.result(timeout=60)
    place = TopicPartition(target.topic, 0, before)
    for answer in admin.delete_records([place]).values():
        answer.result(timeout=60)


def write(pipeline: HandwrittenPipeline, target: TableTopic, *offsets: int) -> None:
    """Each change in a batch of its own."""
    for offset in offsets:
        pipeline.write(target, f"0:{offset}", {})


def lost(seen: Seen, topic: str) -> dict[GapReason, int]:
    followed = seen.followed(topic)
    return {} if followed is None else dict(seen.news.lost.get(followed.key, {}))


@pytest.mark.parametrize("age", ["never", "1d"])
def test_records_deleted_before_they_were_read_are_counted(
    broker: EmbeddedBroker, age: str
) -> None:
    settings = settings_for(broker, f"behind-{age}", age)
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    target = first.tables[TABLE]
    write(pipeline, target, 0, 1)
    pipeline.switch(first)
    seen = Seen(settings)
    seen.until(lambda: seen.is_complete(target.topic))
    seen.feed.close()  # as after an outage: it goes on where it was
    write(pipeline, target, 2, 3, 4)
    delete_records(settings, target)
    write(pipeline, target, 5)
    seen.until(lambda: seen.ids[target.topic] == ["0:0", "0:1", "0:5"])
    assert lost(seen, target.topic) == {GapReason.RETENTION: 3}
    assert lost(seen, first.tables[RAW].topic) == {}
    seen.feed.close()


@pytest.mark.parametrize(("age", "counted"), [("never", {GapReason.RETENTION: 2}), ("1d", {})])
def test_a_reader_that_begins_lacks_only_what_no_age_has_dropped(
    broker: EmbeddedBroker, age: str, counted: dict[GapReason, int]
) -> None:
    settings = settings_for(broker, f"begins-{age}", age)
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    target = first.tables[TABLE]
    write(pipeline, target, 0, 1, 2, 3)
    pipeline.switch(first)
    delete_records(settings, target, before=2)
    seen = Seen(settings)
    seen.until(lambda: seen.ids.get(target.topic) == ["0:2", "0:3"])
    seen.until(lambda: seen.is_complete(target.topic))
    assert lost(seen, target.topic) == counted
    seen.feed.close()


def test_a_changelog_that_was_made_anew_and_is_shorter_is_another_table(
    broker: EmbeddedBroker,
) -> None:
    settings = settings_for(broker, "anew")
    pipeline = HandwrittenPipeline(settings)
    quarantine = pipeline.quarantine
    pipeline.switch(pipeline.prepare(1))
    write(pipeline, quarantine, 0, 1, 2)
    seen = Seen(settings)
    seen.until(lambda: len(seen.ids.get(quarantine.topic, [])) == 3)
    before = seen.followed(quarantine.topic)
    # Too fast for a reader that looks now and then which topics there are.
    topics.delete(settings.kafka.internal, [quarantine.topic])
    write(HandwrittenPipeline(settings), quarantine, 7)
    seen.until(lambda: seen.ids[quarantine.topic][3:] == ["0:7"])
    after = seen.followed(quarantine.topic)
    assert before is not None
    assert after is not None
    assert after.key.topic_id != before.key.topic_id
    assert lost(seen, quarantine.topic) == {}, "another topic, and all of it was read"
    seen.feed.close()


def test_a_changelog_that_lost_its_end_is_read_again_from_its_beginning(tmp_path: Path) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        settings = settings_for(broker, "cut")
        pipeline = HandwrittenPipeline(settings)
        first = pipeline.prepare(1)
        target = first.tables[TABLE]
        write(pipeline, target, *range(20))
        pipeline.switch(first)
        seen = Seen(settings)
        seen.until(lambda: seen.is_complete(target.topic))
        before = seen.followed(target.topic)
        broker.kill()
        cut_off_half(tmp_path, target.topic)
        broker.start()
        seen.until(lambda: seen.followed(target.topic) not in (None, before))
        seen.until(lambda: seen.is_complete(target.topic))
        after = seen.followed(target.topic)
        assert before is not None
        assert after is not None
        assert after.key != before.key, "its rows go into a table of their own"
        assert after.key.topic_id == before.key.topic_id
        again = seen.ids[target.topic][20:]
        assert 0 < len(again) < 20
        assert again == [f"0:{offset}" for offset in range(len(again))]
        assert lost(seen, target.topic) == {GapReason.TRUNCATED: 20 - len(again)}
        seen.feed.close()


def cut_off_half(folder: Path, topic: str) -> None:
    """Lose the end of a log, as a leader does that was elected without having it."""
    (log,) = folder.rglob(f"{topic}-0/*.log")
    with log.open("r+b") as file:
        file.truncate(log.stat().st_size // 2)
