"""A generation begins where its sources are, and shares what others have already."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.config import load
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec, TopicInfo
from evergrid.model.generation import Generation, State
from evergrid.orchestrator import generations
from evergrid.orchestrator.generation_rules import is_of
from evergrid.pipeline.plan import QueryId, checkpoint_folder, queries_of

_NUMBERS = itertools.count()


class Bench:
    """Two source topics of a test alone, and generations that read them."""

    def __init__(self, broker: EmbeddedBroker, folder: Path) -> None:
        name = f"begin{next(_NUMBERS)}"
        self.bootstrap = broker.bootstrap
        self.environment = {
            "EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap,
            "EVERGRID_INTERNAL_TOPICS__PREFIX": name,
            "EVERGRID_DATA_DIR": str(folder),
            "EVERGRID_SOURCES__USERS__TOPIC": f"{name}_users",
            "EVERGRID_SOURCES__ACCOUNTS__TOPIC": f"{name}_accounts",
        }
        self.settings = load(None, self.environment)
        self.users = self.settings.sources["users"].topic
        sources = [NewTopicSpec(one.topic, 2, 1) for one in self.settings.sources.values()]
        topics.create(self.settings.kafka.source, sources)
        self.admin = AdminClient({"bootstrap.servers": broker.bootstrap})

    @property
    def found(self) -> dict[str, TopicInfo]:
        names = [source.topic for source in self.settings.sources.values()]
        return dict(topics.describe(self.settings.kafka.source, names))

    def begin(self, number: int, *others: Generation, **environment: str) -> Generation:
        settings = load(None, self.environment | environment)
        made = generations.begin(settings, number, self.found, "", others)
        assert is_of(made, settings)
        return made

    def complete(self, generation: Generation) -> Generation:
        """As it is when its queries have run for a while."""
        for query in queries_of(generation):
            (checkpoint_folder(self.settings, query) / "metadata").write_text("{}")
        ready = generations.ready(self.settings, generation)
        return msgspec.structs.replace(ready, state=State.CURRENT)

    def write(self, messages: int) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap})
        for _ in range(messages):
            producer.produce(self.users, b"{}", partition=0)
        producer.flush(30)

    def drop_before(self, offset: int) -> None:
        """As Kafka's own retention does."""
        for future in self.admin.delete_records([TopicPartition(self.users, 0, offset)]).values():
            future.result(30)

    def grow(self, partitions: int) -> None:
        for future in self.admin.create_partitions(
            [NewPartitions(self.users, partitions)]
        ).values():
            future.result(30)


@pytest.fixture
def bench(broker: EmbeddedBroker, tmp_path: Path) -> Bench:
    return Bench(broker, tmp_path)


INNER = {"EVERGRID_JOINS__FINAL__TYPE": "inner"}


def test_another_join_shares_the_raw_tables(bench: Bench) -> None:
    first = bench.complete(bench.begin(1))
    second = bench.begin(2, first, **INNER)
    assert second.tables["users_ui"].topic == first.tables["users_ui"].topic
    assert second.tables["final_ui"].topic != first.tables["final_ui"].topic
    assert second.tables["users_ui"].ready_offsets == {}, "it is ready when the new one is"
    assert set(queries_of(second)) == {
        QueryId(1, "raw-users"),
        QueryId(1, "raw-accounts"),
        QueryId(2, "join-final"),
    }
    assert generations.has_checkpoints(bench.settings, second, joins=False)
    assert not generations.has_checkpoints(bench.settings, second)
    third = bench.begin(3, bench.complete(second))
    assert third.topics["users"].raw == 1


def test_a_source_that_changed_has_a_raw_table_of_its_own(bench: Bench) -> None:
    first = bench.complete(bench.begin(1))
    second = bench.begin(2, first, EVERGRID_SOURCES__USERS__START="latest")
    assert (second.topics["users"].raw, second.topics["accounts"].raw) == (2, 1)


def test_what_has_lost_its_checkpoint_is_not_shared(bench: Bench) -> None:
    first = bench.complete(bench.begin(1))
    (checkpoint_folder(bench.settings, QueryId(1, "raw-users")) / "metadata").unlink()
    assert bench.begin(2, first, **INNER).topics["users"].raw == 2


def test_a_join_begins_where_its_topic_does_now(bench: Bench) -> None:
    """Spark refuses to begin at offsets that are gone, or without naming every partition."""
    bench.write(10)
    first = bench.complete(bench.begin(1))
    assert first.topics["users"].start == {0: 0, 1: 0}
    bench.drop_before(4)
    bench.grow(3)
    second = bench.begin(2, first, **INNER)
    assert second.topics["users"].raw == 1
    assert second.topics["users"].start == {0: 4, 1: 0, 2: 0}


def test_a_join_does_not_begin_before_the_raw_table_that_it_shares(bench: Bench) -> None:
    bench.write(10)
    latest = {"EVERGRID_SOURCES__USERS__START": "latest"}
    first = bench.complete(bench.begin(1, **latest))
    bench.write(5)
    second = bench.begin(2, first, **INNER, **latest)
    assert first.topics["users"].start == second.topics["users"].start == {0: 10, 1: 0}
