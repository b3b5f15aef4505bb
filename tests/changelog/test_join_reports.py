"""How far a join has come, from what its reducers report, however late and mixed up that comes."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.internal_topics import reports_topic, signal_specs
from evergrid.changelog.join_reports import (
    JoinProgress,
    LeftOut,
    PartitionReport,
    Report,
    ReportReader,
)
from evergrid.config.settings import InternalTopics
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.testing.changelog_tables import wait_for

PLACES = [(0, 0), (0, 1), (1, 0)]  # two partitions of the left source, one of the right
FIRST_OFFSET = 100


class Reducer:
    """What one reducer of a join knows while a batch runs."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.waiting: list[tuple[tuple[int, int], int, tuple[int, ...]]] = []
        self._seen: dict[tuple[int, int], PartitionReport] = {}

    def join_one(self) -> None:
        (side, partition), offset, sent = self.waiting.pop(0)
        known = self._seen.get((side, partition))
        joined = (known.joined if known else 0) + 1
        self._seen[side, partition] = PartitionReport(side, partition, joined, offset, sent)

    def report(self, run: str, batch: int) -> Report:
        return Report("g1.join-final", run, batch, self.number, tuple(self._seen.values()))


class Batch:
    """Readers that send messages to reducers, which join and report them in any order."""

    def __init__(self, rng: random.Random, run: str, number: int, reducers: int) -> None:
        self._rng = rng
        self.run, self.number = run, number
        self.reducers = [Reducer(n) for n in range(reducers)]
        self.ends = dict.fromkeys(PLACES, FIRST_OFFSET)
        self._sent = {place: [0] * reducers for place in PLACES}
        self._home: dict[tuple[tuple[int, int], int], int] = {}

    def send(self) -> None:
        """One message; offsets may be missing, as transactions and compaction leave them."""
        place = self._rng.choice(PLACES)
        offset = self.ends[place] + self._rng.choice((0, 0, 0, 3))
        self.ends[place] = offset + 1
        to = self._rng.randrange(len(self.reducers))
        self._sent[place][to] += 1
        self._home[place, offset] = to
        self.reducers[to].waiting.append((place, offset, tuple(self._sent[place])))

    def step(self) -> None:
        busy = [one for one in self.reducers if one.waiting]
        if busy and self._rng.random() < 0.6:
            self._rng.choice(busy).join_one()
        else:
            self.send()

    def report(self) -> Report:
        return self._rng.choice(self.reducers).report(self.run, self.number)

    def first_unjoined(self, place: tuple[int, int]) -> int:
        """The oldest message of a partition that no reducer has joined, or its end."""
        waiting = [
            offset for one in self.reducers for where, offset, _ in one.waiting if where == place
        ]
        return min(waiting, default=self.ends[place])

    def finish(self) -> None:
        for one in self.reducers:
            while one.waiting:
                one.join_one()


@pytest.mark.parametrize("seed", range(150))
def test_what_is_said_to_be_joined_has_been_joined(seed: int) -> None:
    rng = random.Random(seed)
    reducers = rng.choice((1, 2, 3, 8))
    progress = JoinProgress()
    on_the_way: list[Report] = []
    for run, number in (("first", 0), ("first", 1), ("second", 1), ("second", 2)):
        batch = Batch(rng, run, number, reducers)
        for _ in range(rng.randrange(150)):
            batch.step()
            if rng.random() < 0.3:
                on_the_way.append(batch.report())
            while on_the_way and rng.random() < 0.3:
                # Those of one reducer stay in order, those of several need not.
                progress.add(on_the_way.pop(0), 0.0)
                if progress.batch == (run, number):
                    for place, position in progress.joined().items():
                        assert position <= batch.first_unjoined(place), (seed, place)
        batch.finish()
        last = [one.report(run, number) for one in batch.reducers]
        rng.shuffle(last)
        for report in [*on_the_way, *last]:
            progress.add(report, 1.0)
        on_the_way = rng.sample(last, rng.randrange(len(last) + 1))  # they come again, late
        moved = {place: end for place, end in batch.ends.items() if end > FIRST_OFFSET}
        assert progress.joined() == moved, seed
        assert progress.batch == (run, number)
        assert progress.is_quiet(reducers, since=0.5)


def seen(joined: int, offset: int, *sent: int) -> PartitionReport:
    return PartitionReport(0, 0, joined, offset, sent)


def report(
    reducer: int,
    *places: PartitionReport,
    run: str = "a",
    batch: int = 0,
    gaps: dict[str, LeftOut] | None = None,
) -> Report:
    return Report("g1.join-final", run, batch, reducer, places, gaps or {})


def test_a_message_that_overtook_others_does_not_count_for_them() -> None:
    progress = JoinProgress()
    progress.add(report(0, seen(2, 9, 2, 1)), 0.0)  # one went to the other reducer before
    assert progress.joined() == {}
    progress.add(report(1), 0.0)
    assert progress.joined() == {}
    progress.add(report(1, seen(1, 5, 1, 1)), 0.0)
    assert progress.joined() == {(0, 0): 10}


def test_reports_of_an_earlier_batch_or_run_are_late() -> None:
    progress = JoinProgress()
    progress.add(report(0, seen(5, 104, 5), batch=3), 0.0)
    progress.add(report(0, seen(9, 900, 9), batch=2), 0.0)
    assert progress.joined() == {(0, 0): 105}
    progress.add(report(0, seen(1, 51, 1), run="b"), 0.0)
    assert progress.joined() == {(0, 0): 52}
    progress.add(report(0, seen(9, 900, 9), batch=4), 0.0)
    assert progress.joined() == {(0, 0): 52}, "the first run is over"


def test_a_new_batch_knows_nothing_of_the_one_before() -> None:
    progress = JoinProgress()
    progress.add(report(0, seen(3, 102, 3, 2)), 0.0)
    progress.add(report(1, seen(2, 101, 2, 2)), 0.0)
    assert progress.joined() == {(0, 0): 103}
    progress.add(report(0, seen(1, 200, 1, 2), batch=1), 1.0)
    assert progress.joined() == {}
    assert not progress.is_quiet(2, since=0.5)


def test_a_run_that_is_over_says_nothing_any_more() -> None:
    progress = JoinProgress()
    progress.add(report(0, seen(3, 102, 3)), 1.0)
    progress.end_run()
    assert progress.joined() == {}
    assert progress.batch == ("", -1)
    assert not progress.is_quiet(1, since=0.0)
    progress.add(report(0, seen(3, 102, 3)), 2.0)
    assert progress.joined() == {}, "it was on its way"
    progress.add(report(0, seen(1, 50, 1), run="b"), 3.0)
    assert progress.joined() == {(0, 0): 51}


def test_it_is_quiet_when_every_reducer_has_said_so() -> None:
    progress = JoinProgress()
    progress.add(report(0, seen(2, 9, 2, 1)), 5.0)
    assert not progress.is_quiet(2, since=4.0), "the other has said nothing"
    progress.add(report(1), 5.0)
    assert not progress.is_quiet(2, since=4.0), "a message is on its way to the other"
    progress.add(report(1, seen(1, 5, 1, 1)), 6.0)
    assert progress.is_quiet(2, since=4.0)
    assert not progress.is_quiet(2, since=5.0), "the first has not said so since"
    assert not progress.is_quiet(3, since=4.0)


JAVA = (
    b'{"query":"g1.join-final","run":"r","batch":7,"reducer":1,'
    b'"seen":[[0,2,5,104,[3,5]],[1,0,1,0,[0,1]]],"gaps":{"pairs":{"messages":3,"keys":["a"]}}}'
)


def test_what_the_java_writes_is_read() -> None:
    found = msgspec.json.decode(JAVA, type=Report)
    assert found.seen == (
        PartitionReport(0, 2, 5, 104, (3, 5)),
        PartitionReport(1, 0, 1, 0, (0, 1)),
    )
    assert found.gaps == {"pairs": LeftOut(3, ("a",))}


def test_a_record_that_is_no_report_is_skipped_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        connection = broker.connection()
        topics.create(connection, signal_specs(InternalTopics("evergrid", 1, 1, -1)))
        reader = ReportReader(connection, "evergrid")
        reader.start()
        sender = Sender(connection)

        def is_read() -> bool:
            """It reads what comes after it has started."""
            for value in (b'{"query":7}', b"[" * 100_000, JAVA):
                sender.send(reports_topic("evergrid"), value)
            sender.flush()
            return reader.skipped > 1 and reader.batch("g1.join-final") == ("r", 7)

        wait_for(is_read, bool, 120.0)
        reader.stop()
    assert caplog.text.count("not a report of a join") == 1
