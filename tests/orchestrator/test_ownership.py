"""One pipeline writes; others wait, and one that was replaced cannot harm anything."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.internal_topics import manifest_topic, owner_id
from evergrid.changelog.manifest import HeartbeatRecord, LastNumber, Manifest, TablesBehind
from evergrid.changelog.reader import load_manifest, read_to_end
from evergrid.changelog.writer import FencedWriter, ManifestWriter, RecordWriter, TableWriter
from evergrid.config import Settings, load
from evergrid.kafka import topics
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.generation import ENGINE, Generation, State, TableTopic, Times
from evergrid.orchestrator import generations, heartbeat, ownership
from evergrid.orchestrator.heartbeat import Heartbeat
from evergrid.orchestrator.ownership import Ownership, OwnershipLost
from evergrid.orchestrator.registry import Registry
from evergrid.orchestrator.retirement import Retirement
from evergrid.process.directory_lock import lock_directory
from evergrid.testing.changelog_tables import wait_for

LIMIT = 120.0
SILENT = 6.0
_PREFIXES = itertools.count()


class Pipeline:
    """What a pipeline does before it starts Spark, and then to the manifest."""

    def __init__(self, broker: EmbeddedBroker, prefix: str, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        self.settings: Settings = load(
            None,
            {
                "EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap,
                "EVERGRID_INTERNAL_TOPICS__PREFIX": prefix,
                "EVERGRID_DATA_DIR": str(directory),
            },
        )
        self.said: list[str] = []
        self.owns = False
        self.lock = lock_directory(directory, "pipeline")
        self.ownership = Ownership(self.settings, self.lock, self.said.append)
        self._heartbeat: Heartbeat | None = None
        self._waiting: threading.Thread | None = None

    def start(self, *, standby: bool = True) -> None:
        self.ownership.acquire(standby=standby)
        prefix, writer = self.settings.internal_topics.prefix, self.ownership.writer
        system = generations.make_system_topics(self.settings)
        status = TableWriter(writer, system[self.settings.system_tables.orchestrator_status])
        manifest_writer = ManifestWriter(writer, prefix)
        self.registry = Registry(self.settings, self.manifest(), manifest_writer, status)
        self.retirement = Retirement(self.settings, self.registry, self.said.append)
        self._heartbeat = Heartbeat(manifest_writer, TablesBehind)
        self._heartbeat.start()
        self.owns = True

    def wait_in_background(self) -> None:
        self._waiting = threading.Thread(target=self.start, daemon=True)
        self._waiting.start()

    def fall_silent(self) -> None:
        """As SIGSTOP or a cut network does it: no more heartbeats, and everything else is kept."""
        assert self._heartbeat is not None
        self._heartbeat.stop()

    def manifest(self) -> Manifest:
        return load_manifest(self.settings.kafka.internal, self.settings.internal_topics.prefix)

    def begin(self, state: State = State.CURRENT) -> Generation:
        """A generation with a topic for each of its tables."""
        number = self.registry.take_number()
        prefix = self.settings.internal_topics.prefix
        generation = Generation(
            number=number,
            state=state,
            sources=self.settings.sources,
            joins=self.settings.joins,
            topics={},
            tables={
                table.name: TableTopic(table, f"{prefix}.g{number}.{table.name}", 1)
                for table in self.settings.generation_tables()
            },
            times=Times(created=1, ended=1),
            engine=ENGINE,
        )
        specs = [topics.NewTopicSpec(table.topic, 1) for table in generation.tables.values()]
        topics.create(self.settings.kafka.internal, specs)
        self.registry.put(generation)
        return generation

    def close(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self.ownership.close()


Make = Callable[[str], Pipeline]


@pytest.fixture
def make(broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    monkeypatch.setattr(ownership, "SILENT_SECONDS", SILENT)
    monkeypatch.setattr(ownership, "_LOOK_SECONDS", 0.1)
    monkeypatch.setattr(ownership, "_LONGEST_LOOK_SECONDS", 0.5)  # on a machine that stands still
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.5)
    prefix = f"owner{next(_PREFIXES)}"
    with contextlib.ExitStack() as made:

        def one(name: str) -> Pipeline:
            return made.enter_context(contextlib.closing(Pipeline(broker, prefix, tmp_path / name)))

        yield one


def wait_until(condition: Callable[[], bool]) -> None:
    wait_for(condition, bool, LIMIT)


def test_the_first_one_owns_and_names_itself(make: Make) -> None:
    first = make("a")
    first.start()
    owner = first.manifest().owner
    assert owner is not None
    assert (owner.epoch, owner.released) == (1, False)
    assert first.said == [], "it waited for nobody"


def test_a_standby_waits_while_the_owner_lives_and_takes_over_when_it_ends(make: Make) -> None:
    first, second = make("a"), make("b")
    first.start()
    second.wait_in_background()
    wait_until(lambda: bool(second.said))
    owner = first.manifest().owner
    assert owner is not None
    assert f"on {owner.host} (process {owner.pid}, since 20" in second.said[0]
    assert "Waiting as a standby" in second.said[0]
    began = first.manifest().heartbeat
    wait_until(lambda: first.manifest().heartbeat > began + 2 * SILENT * 1_000_000)
    assert not second.owns
    first.close()
    ended = time.monotonic()
    wait_until(lambda: second.owns)
    print(f"took over {time.monotonic() - ended:.2f} s after the ordered end")
    assert second.said[1].endswith("has ended.")
    taken = second.manifest().owner
    assert taken is not None
    assert (taken.epoch, taken.released) == (2, False)


def test_a_standby_takes_over_from_a_silent_owner_which_can_then_write_nothing(make: Make) -> None:
    first, second = make("a"), make("b")
    first.start()
    generation = first.begin()
    first.registry.make_current(generation)
    first.fall_silent()
    second.start()
    assert "writes nothing any more" in second.said[-1]
    newest = second.begin()
    second.registry.make_current(newest)
    assert newest.number == generation.number + 1
    before = second.manifest()
    attempts: list[Callable[[], object]] = [
        first.registry.take_number,
        lambda: first.registry.put(generation),
        lambda: first.registry.make_current(generation),
        lambda: first.registry.forget(generation),
        first.registry.prove_ownership,
        lambda: first.registry.count(generation, 5),
    ]
    for attempt in attempts:
        with pytest.raises(OwnershipLost, match="another pipeline has taken over"):
            attempt()
    with pytest.raises(OwnershipLost):
        first.ownership.check()
    first.close()  # releases nothing that is not its own any more
    second.ownership.check()
    second.registry.put(newest)
    after = second.manifest()
    assert msgspec.structs.replace(after, heartbeat=0) == msgspec.structs.replace(
        before, heartbeat=0
    )


def test_an_owner_that_was_replaced_deletes_no_topic(make: Make) -> None:
    first, second = make("a"), make("b")
    first.start()
    overdue = first.begin(State.RETIRING)  # since 1970
    orphan = first.registry.take_number()
    prefix = first.settings.internal_topics.prefix
    names = {*(table.topic for table in overdue.tables.values()), f"{prefix}.g{orphan}.x"}
    connection = first.settings.kafka.internal
    topics.create(connection, [topics.NewTopicSpec(f"{prefix}.g{orphan}.x", 1)])
    first.fall_silent()
    second.start()
    with pytest.raises(OwnershipLost):
        first.retirement.turn(None)
    first.registry.manifest = msgspec.structs.replace(first.registry.manifest, generations={})
    with pytest.raises(OwnershipLost):
        first.retirement.turn(None)  # all of them are orphans now, as far as it knows
    assert topics.describe(connection, names).keys() == names
    second.retirement.turn(None)
    assert topics.describe(connection, names) == {}


def test_what_is_about_to_be_deleted_is_not_used_by_the_next_owner(make: Make) -> None:
    """The first one stands still between its record and its request to delete the topics."""
    first, second = make("a"), make("b")
    first.start()
    overdue = first.begin(State.RETIRING)

    def pause(_generation: Generation) -> None:
        raise LinkError("the broker is away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first.retirement, "_clear", pause)
        with pytest.raises(LinkError):
            first.retirement.turn(None)
    first.fall_silent()
    second.start()
    assert second.registry.manifest.generations[overdue.number].state is State.GONE
    second.retirement.clean_up_after_a_crash()
    assert second.registry.manifest.generations == {}


def test_without_standby_a_living_owner_is_a_refusal_and_a_dead_one_is_not(make: Make) -> None:
    first, second = make("a"), make("b")
    first.start()
    with pytest.raises(
        ConfigError, match=r"belong to the pipeline on .* which is alive.*--standby"
    ):
        second.start(standby=False)
    first.fall_silent()
    second.start(standby=False)
    assert second.owns


def test_the_same_directory_tells_at_once_that_the_owner_is_dead(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ownership, "SILENT_SECONDS", 3600.0)
    first = make("a")
    first.start()
    number = first.registry.take_number()
    first.fall_silent()
    os.close(first.lock)  # as the kernel does it when a process is killed
    second = make("a")
    second.start()
    assert second.said == []
    assert second.registry.take_number() == number + 1


def test_a_heartbeat_of_an_earlier_version_is_waited_for_too(make: Make) -> None:
    first = make("a")
    prefix, connection = first.settings.internal_topics.prefix, first.settings.kafka.internal
    generations.make_system_topics(first.settings)
    ManifestWriter(RecordWriter(connection), prefix).write(HeartbeatRecord(generations.now()))
    first.start()
    assert ["does not name itself" in text for text in first.said] == [True, True]


def test_of_many_standbys_one_takes_over(make: Make) -> None:
    first, others = make("a"), [make(name) for name in "bcde"]
    first.start()
    for one in others:
        one.wait_in_background()
    wait_until(lambda: all(one.said for one in others))
    first.close()
    left = list(others)
    for epoch in range(2, 6):
        wait_until(lambda: any(one.owns for one in left))
        owner = first.manifest().owner
        assert owner is not None
        assert owner.epoch == epoch
        [taken] = [one for one in left if one.owns]
        taken.registry.take_number()
        taken.ownership.check()
        left.remove(taken)
        taken.close()
    topic = manifest_topic(first.settings.internal_topics.prefix)
    records = [one for batch in read_to_end(first.settings.kafka.internal, topic) for one in batch]
    numbers = [
        msgspec.json.decode(one.value or b"", type=LastNumber).highest
        for one in records
        if one.key == b"numbered"
    ]
    assert numbers == [1, 2, 3, 4]


def test_another_producer_with_its_id_does_not_end_an_owner(make: Make) -> None:
    """A start that gave up halfway, or a transaction that timed out, raises the epoch as well."""
    first = make("a")
    first.start()
    connection, prefix = first.settings.kafka.internal, first.settings.internal_topics.prefix
    stray = FencedWriter(connection, owner_id(prefix), lambda: None)
    assert first.registry.take_number() == 1
    first.ownership.check()

    def refused() -> None:
        raise OwnershipLost("it is not the owner")

    stray._check = refused
    with pytest.raises(OwnershipLost):
        stray.write(manifest_topic(prefix), (b"numbered", b'{"highest":99}'))
    assert first.manifest().highest == 1
    wait_until(lambda: first.manifest().heartbeat > 0)
