"""Faults of the surroundings: a named error or a recovery, never silence, never a gap."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewPartitions  # type: ignore[attr-defined]  # public

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.writer import ManifestWriter, RecordWriter
from evergrid.kafka import clients, topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.generation import ENGINE
from evergrid.model.source import TopicEnd
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Script, Send, random_case
from tests.disks import fill, small_disk
from tests.support.soak import Counted, Soak
from tests.system.conftest import PATIENCE, MakeWorld, two_sources
from tests.system.damage import DAMAGES, last_commit_gone, numbered
from tests.system.judging import Judge
from tests.system.spark_cluster import HOST, executors, spark_cluster
from tests.system.swapping import Operator

SEED = 20_261_118
BROKER_GONE_SECONDS = 30.0
JOINED = ["users_ui", "accounts_ui", "final_ui"]


def config(name: str, **more: object) -> dict[str, object]:
    return {
        "sources": two_sources(name),
        "joins": {"final": {"table": "final_ui", "left": "users", "right": "accounts"}},
        "spark": {"batch": "5s"},
        **more,
    }


class Messages:
    """Cases with keys of their own, one after the other."""

    def __init__(self, world: Installation) -> None:
        print(f"seed {SEED}")
        self._rng = random.Random(SEED)
        self._world = world
        self._number = 0

    def some(self, partitions: int = 2) -> list[Send]:
        self._number += 1
        join, sources = self._world.spec.joins["final"], self._world.spec.sources
        script = Script(partitions=partitions, bad_share=0.0)
        return random_case(self._rng, join, sources, f"m{self._number}-", script)


def test_a_missing_topic_is_named(make_world: MakeWorld) -> None:
    world = make_world(config("ghost"))
    process = world.start_pipeline()
    assert process.wait(PATIENCE) == 1
    assert "topics accounts-ghost, users-ghost do not exist" in process.said()
    assert "missing_topics: wait" in process.said()
    assert "Traceback" not in process.said()


def test_waiting_growing_and_going_on_without_a_broker(
    make_world: MakeWorld, broker: EmbeddedBroker
) -> None:
    world = make_world(config("grown", missing_topics="wait", control={"topic": "c-grown"}))
    messages = Messages(world)
    process = world.start_pipeline()
    with process:
        process.wait_for_words("Waiting for topics accounts-grown, users-grown", PATIENCE)
        operator = Operator(world, Judge(world), "c-grown")
        nonsense, hopeless = operator.send(b"nonsense", b'{"usersTopic": "users-grown_v2"}')
        operator.wait_for(nonsense, "invalid")
        reason = str(operator.wait_for(hopeless, "failed")["reason"])
        assert "accounts-grown, users-grown_v2 do not exist" in reason
        world.make_topics(partitions=1)
        process.wait_for_words("is live", PATIENCE)
        world.send(messages.some(partitions=1))
        world.wait_until_exact(JOINED)

        more_partitions(world, "users-grown", 2)
        more_partitions(world, "accounts-grown", 2)
        process.wait_for_words("has more partitions", PATIENCE)
        world.send(messages.some() + messages.some())
        world.wait_until_exact(JOINED)

        broker.kill()
        time.sleep(BROKER_GONE_SECONDS)  # the outage itself, not a wait for something
        broker.start()
        world.send(messages.some() + messages.some())
        world.wait_until_exact(JOINED)
        assert process.is_running()


def more_partitions(world: Installation, topic: str, count: int) -> None:
    admin = clients.admin(world.connection)
    for future in admin.create_partitions([NewPartitions(topic, count)]).values():
        future.result()
    world.wait_until(
        lambda: topics.describe(world.connection, [topic])[topic].partitions == count, PATIENCE
    )


def test_another_topic_lost_input_and_an_old_state_mean_a_new_generation(
    make_world: MakeWorld,
) -> None:
    world = make_world(config("anew"))
    world.make_topics()
    messages = Messages(world)
    with world.start_live() as process:
        world.send(messages.some())
        world.wait_until_exact(JOINED)
        made_anew(world, "users-anew")
        process.wait_for_words("topic users-anew was deleted and made anew", PATIENCE)
        process.wait_for_words("Generation 2 is live", PATIENCE)
        world.send(messages.some())
        world.wait_until_exact(JOINED)
    vanished(world, messages.some(), "accounts-anew")
    with world.start_live() as process:
        process.wait_for_words("Generation 3 is live", PATIENCE)
        assert "lost its input" in process.said()
        world.send(messages.some())
        world.wait_until_exact(JOINED)
    made_by_an_earlier_version(world)
    with world.start_live() as process:
        process.wait_for_words("Generation 4 is live", PATIENCE)
        assert "was made by an earlier version of Evergrid" in process.said()
        world.send(messages.some())
        world.wait_until_exact(JOINED)


def made_anew(world: Installation, topic: str) -> None:
    topics.delete(world.connection, [topic])
    topics.create(world.connection, [NewTopicSpec(topic, 2, 1, {"retention.ms": "-1"})])
    world.messages = [message for message in world.messages if message.topic != topic]


def made_by_an_earlier_version(world: Installation) -> None:
    """The manifest says of the current generation what one of the version before would say."""
    current = world.manifest().current_generation
    assert current is not None
    before = msgspec.structs.replace(current, engine=ENGINE - 1)
    ManifestWriter(RecordWriter(world.connection), world.prefix).write(before)


def vanished(world: Installation, sends: list[Send], topic: str) -> None:
    """Messages that the stopped pipeline never saw are deleted, as retention would."""
    world.send(sends)
    ends = topics.offsets(world.connection, topic, TopicEnd.LATEST)
    admin = clients.admin(world.connection)
    places = [TopicPartition(topic, partition, end) for partition, end in ends.items()]
    for future in admin.delete_records(places).values():
        future.result()
    world.messages = [message for message in world.messages if message.topic != topic]


def test_a_full_disk_is_named_and_survived(make_world: MakeWorld) -> None:
    world = make_world(config("full"))
    world.make_topics()
    messages = Messages(world)
    with small_disk(world.data_dir, megabytes=1200), world.start_live() as process:
        world.send(messages.some())
        world.wait_until_exact(JOINED)
        ballast = fill(world.data_dir)
        world.send(messages.some())
        process.wait_for_words("No space left on device", PATIENCE)
        world.wait_until(lambda: "failed" in world.manifest().behind.why, PATIENCE)
        ballast.unlink()
        world.wait_until(lambda: not world.manifest().behind.why, PATIENCE)
        world.send(messages.some())
        world.wait_until_exact(JOINED)
        process.stop()


def test_a_directory_in_use_and_too_little_memory_are_sentences(make_world: MakeWorld) -> None:
    world = make_world(config("manners", missing_topics="wait"))
    with world.start_pipeline() as first:
        first.wait_for_words("Waiting for topics", PATIENCE)
        command = ["pipeline", "--no-standby", "-c", str(world.file)]
        second = EvergridProcess(command, world.folder / "second.txt")
        assert second.wait(PATIENCE) == 1
        assert "is in use by another pipeline" in second.said()
        elsewhere = {**os.environ, "EVERGRID_DATA_DIR": str(world.folder / "elsewhere")}
        third = EvergridProcess(command, world.folder / "third.txt", elsewhere)
        assert third.wait(PATIENCE) == 1
        assert f"(process {first.pid}, since" in third.said()
        assert "which is alive. End that one first" in third.said()
        first.stop_in_order()
    greedy = world.start_pipeline({"EVERGRID_SPARK__DRIVER_MEMORY": "900g"})
    assert greedy.wait(PATIENCE) == 1
    assert "not enough memory" in greedy.said()
    assert "set spark.driver_memory lower" in greedy.said()


@pytest.mark.soak(part="checkpoints")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_never_gives_wrong_rows(
    make_world: MakeWorld, soak: Soak, damage: Callable[[Path], None]
) -> None:
    world = make_world(config(damage.__name__.replace("_", "-")))
    world.make_topics()
    messages = Messages(world)
    world.send(messages.some())
    with world.start_live():
        world.send(messages.some())
        world.wait_until_exact(JOINED)
        commits = world.data_dir / "generations" / "g1" / "join-final" / "commits"
        wait_for(lambda: len(numbered(commits)), lambda count: count > 2, PATIENCE)
    damage(world.data_dir / "generations" / "g1" / "join-final")
    world.send(messages.some())
    with world.start_live() as process:
        world.send(messages.some())
        if damage is not last_commit_gone:  # of which the one before tells everything
            process.wait_for_words("Generation 2 is live", PATIENCE)
        world.wait_until_exact(JOINED)
        assert "Traceback" not in process.said()
    soak.count(Counted.DAMAGED_CHECKPOINTS)


@pytest.mark.soak(part="cluster")
def test_a_cluster_joins_exactly_and_survives_the_loss_of_an_executor(
    make_world: MakeWorld, soak: Soak, tmp_path: Path
) -> None:
    with spark_cluster(tmp_path) as master:
        settings = {"spark.driver.host": HOST, "spark.driver.bindAddress": HOST}
        spark = {"batch": "5s", "master": master, "settings": settings}
        world = make_world(config("cluster", spark=spark, control={"topic": "c-cluster"}))
        world.make_topics()
        messages = Messages(world)
        world.send(messages.some())
        with world.start_live() as process:
            world.send(messages.some())
            world.wait_until_exact(JOINED)
            (before,) = executors(tmp_path)
            os.kill(before, signal.SIGKILL)
            soak.count(Counted.KILLS)
            process.wait_for_words("failed (", PATIENCE)
            wait_for(lambda: executors(tmp_path), lambda now: now not in ([], [before]), PATIENCE)
            world.send(messages.some())
            world.wait_until_exact(JOINED)
            assert "Generation 2" not in process.said()
