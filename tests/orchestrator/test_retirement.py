"""Of generations that are not wanted any more, nothing is left but what must be read."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path
from typing import cast

import msgspec
import pytest
from tests.orchestrator.conftest import make_registry

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.codec import Row
from evergrid.changelog.internal_topics import manifest_topic, system_topic, table_topic
from evergrid.changelog.manifest import Current, encode, generation_key
from evergrid.changelog.reader import load_manifest, read_to_end
from evergrid.changelog.unreadable_records import FORMAT
from evergrid.changelog.writer import ManifestWriter, RecordWriter, TableWriter
from evergrid.config import load
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import LinkError
from evergrid.model.generation import ENGINE, Generation, SourceTopic, State, TableTopic, Times
from evergrid.orchestrator import retirement
from evergrid.orchestrator.retirement import Retirement
from evergrid.pipeline.checkpoint import all_checkpoints
from evergrid.pipeline.plan import QueryId, checkpoint_folder, queries_of

LONG_AGO = 1
SOURCE = "users"
ANNOUNCED_SECONDS = 3.0
LIMIT = 60.0
_PREFIXES = itertools.count()


class Bench:
    """A broker's manifest and topics, and the data directory beside them."""

    def __init__(self, broker: EmbeddedBroker, folder: Path, grace: str = "never") -> None:
        self.prefix = f"retire{next(_PREFIXES)}"
        self.settings = load(
            None,
            {
                "EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap,
                "EVERGRID_INTERNAL_TOPICS__PREFIX": self.prefix,
                "EVERGRID_DATA_DIR": str(folder),
                "EVERGRID_CONTROL__GRACE": grace,
            },
        )
        self._connection = self.settings.kafka.internal
        self.registry = make_registry(self.settings)
        self.said: list[str] = []

    def make(
        self, state: State, *, known: bool = True, current: bool = False, raw: int | None = None
    ) -> int:
        """A generation with a raw and a joined table, whose topics and checkpoints exist; whether
        the manifest knows it is another matter. `raw` is a generation that made the raw table."""
        number = self.registry.take_number()
        one = self._generation(number, state, raw or number)
        mine = [topic for topic in one.tables.values() if f".g{number}." in topic.topic]
        topics.create(self._connection, [NewTopicSpec(table.topic, 1, 1) for table in mine])
        for query in queries_of(one):
            checkpoint_folder(self.settings, query).mkdir(parents=True, exist_ok=True)
        if known:
            self.registry.put(one)
            if current:
                self.registry.make_current(one)
        return number

    def _generation(self, number: int, state: State, raw: int) -> Generation:
        table, joined = self.settings.raw_tables()[0], self.settings.joined_tables()[0]
        return Generation(
            number=number,
            state=state,
            sources=self.settings.sources,
            joins=self.settings.joins,
            topics={SOURCE: SourceTopic("id-1", {0: 0}, raw=raw, made=LONG_AGO)},
            tables={
                table.name: TableTopic(table, table_topic(self.prefix, raw, table.name), 1),
                joined.name: TableTopic(joined, table_topic(self.prefix, number, joined.name), 1),
            },
            times=Times(created=LONG_AGO, ended=LONG_AGO),
            error="it broke" if state is State.FAILED else "",
            engine=ENGINE,
        )

    def restart(self) -> Retirement:
        """As another process would begin: with what the broker has."""
        self.registry = make_registry(self.settings)
        return Retirement(self.settings, self.registry, self.said.append)

    @property
    def on_the_broker(self) -> set[int]:
        mine = f"{self.prefix}.g"
        names = [name for name in topics.partitions(self._connection) if name.startswith(mine)]
        return {int(name.removeprefix(mine).split(".")[0]) for name in names}

    @property
    def tables_on_the_broker(self) -> set[tuple[int, str]]:
        """The changelogs, as generation and table."""
        mine = f"{self.prefix}.g"
        names = [name for name in topics.partitions(self._connection) if name.startswith(mine)]
        split = [name.removeprefix(mine).split(".") for name in names]
        return {(int(number), table) for number, table in split}

    @property
    def checkpoints(self) -> set[QueryId]:
        return set(all_checkpoints(self.settings))

    @property
    def on_disk(self) -> set[int]:
        return {
            int(folder.name[1:]) for folder in (self.settings.data_dir / "generations").iterdir()
        }

    def row(self, number: int) -> Row:
        """Of `orchestrator_status`."""
        table = self.settings.system_tables.orchestrator_status
        batches = read_to_end(self._connection, system_topic(self.prefix, table))
        records = {one.key: one.value for batch in batches for one in batch}
        return cast("Row", msgspec.json.decode(records[str(number).encode()] or b"{}"))

    @property
    def states(self) -> dict[int, State]:
        """By the manifest that everybody reads."""
        manifest = load_manifest(self._connection, self.prefix)
        return {number: one.state for number, one in manifest.generations.items()}


@pytest.fixture(autouse=True)
def at_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retirement, "_LEFTOVERS_SECONDS", 0.0)
    monkeypatch.setattr(retirement, "_ANNOUNCED_SECONDS", ANNOUNCED_SECONDS)


def test_what_the_manifest_never_knew_is_found(broker: EmbeddedBroker, tmp_path: Path) -> None:
    bench = Bench(broker, tmp_path)
    current = bench.make(State.CURRENT, current=True)
    bench.make(State.PREPARING, known=False)  # a kill came before it was written down
    busy = bench.make(State.PREPARING, known=False)
    retiring = bench.restart()
    retiring.turn(busy)
    assert bench.on_the_broker == bench.on_disk == {current, busy}
    retiring.turn(None)  # it was called off just then
    assert bench.on_the_broker == bench.on_disk == {current}
    bench.make(State.PREPARING, known=False)
    retiring.look_for_orphans()
    retiring.turn(None)
    assert bench.on_the_broker == {current}


def test_nothing_goes_that_a_generation_may_need_whose_record_cannot_be_read(
    broker: EmbeddedBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(broker, tmp_path, grace="1s")
    before = bench.make(State.RETIRING)
    unread = bench.make(State.CURRENT, known=False, raw=before)
    orphan = bench.make(State.PREPARING, known=False)
    writer, topic = RecordWriter(bench.settings.kafka.internal), manifest_topic(bench.prefix)
    newer = {"format": FORMAT + 1, "number": unread}
    records = (generation_key(unread), msgspec.json.encode(newer)), encode(Current(unread))
    writer.write(topic, *records, (b"generation:abc", b"{}"), (b"pulse", b'{"at":"tomorrow"}'))
    tables, checkpoints = bench.tables_on_the_broker, bench.checkpoints
    retiring = bench.restart()
    said = capsys.readouterr().out
    assert f"Record generation:{unread} of the manifest was skipped" in said
    assert "It was written by a newer Evergrid; upgrade the pipeline." in said
    retiring.clean_up_after_a_crash()
    retiring.turn(None)
    assert bench.states == {}, "the one before is over"
    assert bench.tables_on_the_broker == {it for it in tables if it[0] != orphan}
    assert bench.checkpoints == {query for query in checkpoints if query.generation != orphan}
    assert bench.registry.manifest.current is None, "nobody writes what the switch names"
    assert bench.registry.take_number() > orphan
    writer.write(topic, (generation_key(unread), None))
    bench.restart().turn(None)
    assert bench.on_the_broker == bench.on_disk == set()


def test_after_a_kill_halves_go_and_errors_stay(broker: EmbeddedBroker, tmp_path: Path) -> None:
    bench = Bench(broker, tmp_path)
    before = bench.make(State.CURRENT)
    current = bench.make(State.CURRENT, current=True)
    ready = bench.make(State.READY)
    bench.make(State.PREPARING)
    failed = bench.make(State.FAILED)
    retiring = bench.restart()
    retiring.clean_up_after_a_crash()
    assert bench.on_the_broker == bench.on_disk == {before, current, ready}
    assert bench.states == {
        before: State.RETIRING,
        current: State.CURRENT,
        ready: State.RETIRING,
        failed: State.FAILED,
    }
    assert bench.registry.manifest.generations[failed].error == "it broke"


def test_what_is_on_screens_stays_though_it_failed(broker: EmbeddedBroker, tmp_path: Path) -> None:
    bench = Bench(broker, tmp_path)
    current = bench.make(State.FAILED, current=True)
    retiring = bench.restart()
    retiring.clean_up_after_a_crash()
    retiring.turn(None)
    assert bench.on_the_broker == bench.on_disk == {current}


def test_one_that_is_half_gone_has_no_checkpoint_to_go_back_to(
    broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(broker, tmp_path, grace="1m")
    number, current = bench.make(State.RETIRING), bench.make(State.CURRENT, current=True)
    retiring = bench.restart()
    with monkeypatch.context() as away:
        away.setattr(topics, "delete", no_answer)
        with pytest.raises(LinkError):
            retiring.turn(None)
    assert bench.on_disk == {current}
    assert bench.states == {number: State.GONE, current: State.CURRENT}
    retiring.turn(None)
    assert bench.on_the_broker == {*bench.states} == {current}


def no_answer(*_arguments: object) -> None:
    raise LinkError("the broker does not answer")


def test_a_row_follows_its_record_though_a_write_failed(
    broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(broker, tmp_path)
    bench.make(State.CURRENT, current=True)
    number = bench.make(State.CURRENT)  # which was replaced just now
    for writer in (TableWriter, ManifestWriter):
        retiring = bench.restart()
        with monkeypatch.context() as away:
            away.setattr(writer, "put" if writer is TableWriter else "write", no_answer)
            with pytest.raises(LinkError):
                retiring.turn(None)
        assert bench.registry.manifest.generations[number].state is State.CURRENT
    retiring.turn(None)
    assert bench.states[number] is State.RETIRING
    assert bench.row(number)["state"] == "retiring"


@pytest.mark.parametrize("grace", ["never", "1m"])
def test_what_was_replaced_is_kept_as_long_as_it_should(
    broker: EmbeddedBroker, tmp_path: Path, grace: str
) -> None:
    bench = Bench(broker, tmp_path, grace)
    kept = [bench.make(State.RETIRING) for _ in range(3)]
    current = bench.make(State.CURRENT, current=True)
    retiring = bench.restart()
    retiring.turn(None)
    left = {*kept[1:], current} if grace == "never" else {current}  # three at the most
    assert bench.on_the_broker == bench.on_disk == {*bench.states} == left


def test_a_failed_one_goes_when_gateways_have_heard_of_it(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    bench = Bench(broker, tmp_path)
    current = bench.make(State.CURRENT, current=True)
    number = bench.make(State.PREPARING)
    retiring = bench.restart()
    one = bench.registry.manifest.generations[number]
    retiring.end(one, State.FAILED, "no right to read users")
    retiring.turn(None)
    assert bench.on_the_broker == {current, number}
    time.sleep(ANNOUNCED_SECONDS)
    retiring.turn(None)
    assert bench.on_the_broker == bench.on_disk == {current}
    assert bench.states[number] is State.FAILED


# Raw tables that generations share


def test_a_shared_raw_table_stays_while_one_generation_needs_it(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    bench = Bench(broker, tmp_path, grace="1m")
    maker = bench.make(State.RETIRING)  # its time is over
    current = bench.make(State.CURRENT, current=True, raw=maker)
    retiring = bench.restart()
    retiring.turn(None)
    assert [*bench.states] == [current]
    assert bench.tables_on_the_broker == {(maker, "users_ui"), (current, "final_ui")}
    assert bench.checkpoints == {QueryId(maker, "raw-users"), QueryId(current, "join-final")}
    retiring.look_for_orphans()
    retiring.turn(None)
    assert bench.tables_on_the_broker == {(maker, "users_ui"), (current, "final_ui")}


def test_a_shared_raw_table_goes_with_the_last_one(broker: EmbeddedBroker, tmp_path: Path) -> None:
    bench = Bench(broker, tmp_path, grace="1m")
    maker = bench.make(State.RETIRING)
    bench.make(State.RETIRING, raw=maker)
    current = bench.make(State.CURRENT, current=True)
    retiring = bench.restart()
    retiring.turn(None)
    assert bench.on_the_broker == bench.on_disk == {*bench.states} == {current}


@pytest.mark.parametrize("state", [State.FAILED, State.GONE])
def test_what_failed_leaves_the_table_that_it_shared(
    broker: EmbeddedBroker, tmp_path: Path, state: State
) -> None:
    bench = Bench(broker, tmp_path)
    current = bench.make(State.CURRENT, current=True)
    number = bench.make(State.PREPARING, raw=current)
    retiring = bench.restart()
    one = bench.registry.manifest.generations[number]
    retiring.end(one, state, "no right to read accounts")
    time.sleep(ANNOUNCED_SECONDS)
    retiring.turn(None)
    assert bench.tables_on_the_broker == {(current, "users_ui"), (current, "final_ui")}
    assert bench.checkpoints == {QueryId(current, "raw-users"), QueryId(current, "join-final")}


def test_after_a_kill_a_half_one_leaves_the_table_that_it_shared(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    bench = Bench(broker, tmp_path)
    current = bench.make(State.CURRENT, current=True)
    bench.make(State.PREPARING, raw=current)
    failed = bench.make(State.FAILED, raw=current)
    bench.restart().clean_up_after_a_crash()
    assert [*bench.states] == [current, failed]
    assert bench.tables_on_the_broker == {(current, "users_ui"), (current, "final_ui")}
    assert bench.checkpoints == {QueryId(current, "raw-users"), QueryId(current, "join-final")}


def test_no_table_is_removed_while_a_generation_begins(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """It may be about to share the table, which the manifest does not know yet."""
    bench = Bench(broker, tmp_path, grace="1m")
    maker = bench.make(State.RETIRING)  # its time is over
    current = bench.make(State.CURRENT, current=True)
    retiring = bench.restart()
    with bench.registry.sharing:
        turn = threading.Thread(target=retiring.turn, args=(None,))
        turn.start()
        turn.join(1.0)
        assert bench.on_the_broker == bench.on_disk == {maker, current}
        number = bench.make(State.PREPARING, raw=maker)
    turn.join(LIMIT)
    assert {*bench.states} == {current, number}
    assert (maker, "users_ui") in bench.tables_on_the_broker
    assert QueryId(maker, "raw-users") in bench.checkpoints
