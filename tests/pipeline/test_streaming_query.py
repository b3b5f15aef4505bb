"""When a query reads in micro-batches, and when it goes to real-time mode."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from evergrid.kafka.topics import Edges, TopicWatch
from evergrid.pipeline import streaming_query as query
from evergrid.pipeline.plan import Plan, QueryId
from evergrid.pipeline.streaming_query import Phase, Query

TOPIC = "users"


class Topic:
    """One partition; `waiting` messages lie beyond what the query has committed."""

    def __init__(self, waiting: int) -> None:
        self.committed = 0
        self.waiting = waiting

    def edges(self, _names: object) -> Edges:
        return Edges({(TOPIC, 0): 0}, {(TOPIC, 0): self.committed + self.waiting})


class Ended:
    """A Spark query that is over, without a failure."""

    isActive = False

    def exception(self) -> None:
        return None


@pytest.mark.parametrize(
    ("waiting", "modes"),
    [
        ([0], "live"),
        ([1_000], "live"),
        ([1_001, 0], "batch live"),
        # After micro-batches, real-time mode takes more at once than at the start.
        ([10_000, 4_000], "batch live"),
        ([1_000_000, 20_000], "batch live"),
        ([1_000_000, 20_001, 900], "batch batch live"),
        # Starting Spark's query took so long that more messages came than there were.
        ([20_000, 40_000, 500], "batch batch live"),
        # Messages come as fast as a start takes: real-time mode must do the rest.
        ([1_000_000, 60_000, 50_000, 50_000], "batch batch batch live"),
    ],
)
def test_micro_batches_go_on_while_they_help(
    monkeypatch: pytest.MonkeyPatch, waiting: list[int], modes: str
) -> None:
    topic = Topic(waiting[0])
    seen: list[str] = []

    def start(_query: object, _starts: object, _group: str, *, live: bool) -> Ended:
        seen.append("live" if live else "batch")
        return Ended()

    plan = SimpleNamespace(
        spark=None, settings=None, start=start, topics_of=lambda _: (TOPIC,), table_of=lambda _: ""
    )
    monkeypatch.setattr(query, "is_local", lambda _: False)
    monkeypatch.setattr(query, "positions", lambda *_: {TOPIC: {0: topic.committed}})
    monkeypatch.setattr(query, "failure_of", lambda *_: None)
    one = Query(cast(Plan, plan), QueryId(1, "raw-users"), cast(TopicWatch, topic))
    one.start()
    for count in waiting[1:]:
        assert one.phase is Phase.CATCHING_UP
        topic.committed += topic.waiting
        topic.waiting = count
        assert one.advance() is None
    assert " ".join(seen) == modes
    assert one.phase is Phase.LIVE
