"""What joins leave out is added up, said once, and written where gateways read it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from tests.orchestrator.conftest import make_registry

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.join_reports import LeftOut, ReportReader
from evergrid.changelog.manifest import MAX_GAP_KEYS, Gap
from evergrid.changelog.reader import load_manifest
from evergrid.config import load
from evergrid.model.generation import ENGINE, Generation, State, TableTopic, Times
from evergrid.orchestrator import registry
from evergrid.orchestrator.registry import GapRecorder, added

_PREFIXES = itertools.count()


def test_messages_add_up_and_the_newest_keys_come_first() -> None:
    first = added(None, "history", LeftOut(2, ("a", "b")))
    assert (first.reason, first.messages, first.keys) == ("history", 2, ("a", "b"))
    assert first.since > 0
    second = added(first, "history", LeftOut(5, ("c", "a")))
    assert second == Gap("history", 7, ("c", "a", "b"), first.since)
    many = tuple(f"k{n}" for n in range(MAX_GAP_KEYS))
    third = added(second, "history", LeftOut(20, many))
    assert third.keys == many
    assert added(third, "history", LeftOut(1, ("x",))).keys == ("x", *many[:-1])


class Reports(ReportReader):
    """What a test says that joins have reported."""

    def __init__(self) -> None:
        self.left_out: list[tuple[str, str, LeftOut]] = []

    def take_left_out(self) -> list[tuple[str, str, LeftOut]]:
        taken, self.left_out = self.left_out, []
        return taken


class Bench:
    """A manifest on a broker with one generation, and a recorder as a pipeline has it."""

    def __init__(self, broker: EmbeddedBroker, folder: Path) -> None:
        self.prefix = f"gaps{next(_PREFIXES)}"
        self.settings = load(
            None,
            {
                "EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap,
                "EVERGRID_INTERNAL_TOPICS__PREFIX": self.prefix,
                "EVERGRID_DATA_DIR": str(folder),
            },
        )
        self.reports = Reports()
        self.said: list[str] = []
        self.restart()
        self.generation = Generation(
            number=self.registry.take_number(),
            state=State.CURRENT,
            sources=self.settings.sources,
            joins=self.settings.joins,
            topics={},
            tables={
                table.name: TableTopic(table, f"{self.prefix}.g1.{table.name}", 1)
                for table in self.settings.generation_tables()
            },
            times=Times(created=1),
            engine=ENGINE,
        )
        self.registry.put(self.generation)
        self.topic = self.generation.tables["final_ui"].topic

    def restart(self) -> None:
        """As another process would begin: with what the broker has."""
        self.registry = make_registry(self.settings)
        self.recorder = GapRecorder(self.registry, self.reports, self.said.append)

    def report(self, query: str, reason: str, messages: int, *keys: str) -> None:
        self.reports.left_out.append((query, reason, LeftOut(messages, keys)))

    @property
    def written(self) -> dict[str, dict[str, tuple[int, tuple[str, ...]]]]:
        """By the manifest that everybody reads: topic, reason, messages and keys."""
        found = load_manifest(self.settings.kafka.internal, self.prefix).gaps.topics
        return {
            topic: {gap.reason: (gap.messages, gap.keys) for gap in gaps_}
            for topic, gaps_ in found.items()
        }


@pytest.fixture
def bench(broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(registry, "_WRITE_GAPS_SECONDS", 0.0)
    return Bench(broker, tmp_path)


def test_what_is_left_out_is_written_and_said_once_for_each_reason(bench: Bench) -> None:
    bench.recorder.turn()
    assert bench.written == {}
    bench.report("g1.join-final", "history", 3, "u1")
    bench.report("g1.join-final", "history", 2, "u2")
    bench.recorder.turn()
    assert bench.written == {bench.topic: {"history": (5, ("u2", "u1"))}}
    bench.report("g1.join-final", "pairs", 1, "u1")
    bench.report("g1.join-final", "history", 1, "u1")
    bench.recorder.turn()
    assert bench.written == {bench.topic: {"history": (6, ("u1", "u2")), "pairs": (1, ("u1",))}}
    assert [("history" in text, "pairs" in text) for text in bench.said] == [
        (True, False),
        (False, True),
    ]
    assert all("final_ui" in text for text in bench.said)


def test_a_restart_goes_on_adding_and_says_nothing_twice(bench: Bench) -> None:
    bench.report("g1.join-final", "memory", 3, "u1")
    bench.recorder.turn()
    bench.restart()
    bench.report("g1.join-final", "memory", 4, "u2")
    bench.recorder.turn()
    assert bench.written == {bench.topic: {"memory": (7, ("u2", "u1"))}}
    assert len(bench.said) == 1


@pytest.mark.parametrize(
    "query", ["g9.join-final", "g1.join-other", "g1.raw-users", "gx.join-final", "final", ""]
)
def test_a_report_of_what_is_not_there_is_passed_over(bench: Bench, query: str) -> None:
    bench.report(query, "history", 3, "u1")
    bench.recorder.turn()
    assert bench.written == {}
    assert bench.said == []


def test_gaps_go_with_the_table_that_has_them(bench: Bench) -> None:
    bench.report("g1.join-final", "history", 3, "u1")
    bench.recorder.turn()
    bench.registry.forget(bench.generation)
    bench.recorder.turn()
    assert bench.written == {}


def test_it_is_not_written_at_every_turn(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_WRITE_GAPS_SECONDS", 3600.0)
    bench.recorder.turn()
    bench.report("g1.join-final", "history", 3, "u1")
    bench.recorder.turn()
    assert bench.written == {}
    assert len(bench.said) == 1, "the log has it at once"
