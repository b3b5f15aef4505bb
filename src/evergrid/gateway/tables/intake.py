"""Reads the changelogs and hands on what comes, parsed: the feed's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import msgspec

from evergrid.changelog.arrow_reader import RowReader
from evergrid.changelog.feed import Arrivals, Feed, Key, News
from evergrid.gateway.tables.keeper import Segment, Situation
from evergrid.gateway.tables.segments import segments

_READ_SECONDS = 0.1
_FEW = 500
_COLLECT_SECONDS = 0.01


class Intake:
    """`apply` gets each changelog's changes in order, `turn` how the feed is when that changes.

    A changelog is announced by `turn` before its first changes come.
    """

    def __init__(
        self,
        feed: Feed,
        apply: Callable[[Key, Sequence[Segment]], None],
        turn: Callable[[Situation], None],
        say: Callable[[str], None],
    ) -> None:
        self._feed = feed
        self._apply = apply
        self._turn = turn
        self._say = say
        self._readers: dict[Key, RowReader] = {}
        self._last = Situation()
        self._told = ""

    def run(self, stopping: threading.Event) -> None:
        try:
            while not stopping.is_set():
                news = self._feed.read(_READ_SECONDS)
                self._take(news)
                if 0 < sum(len(arrivals.records) for arrivals in news.arrivals) < _FEW:
                    # What comes drop by drop is cheaper by the spoon.
                    stopping.wait(_COLLECT_SECONDS)
        finally:
            self._feed.close()

    def _take(self, news: News) -> None:
        now = Situation(news.followed, news.reached, news.manifest, news.down)
        if now.followed != self._last.followed:
            self._readers = {
                one.key: self._readers.get(one.key) or RowReader(one.target.table)
                for one in now.followed
            }
            # Not how far it is: these very changes have not been handed on yet.
            self._turn(msgspec.structs.replace(now, reached={}))
        for arrivals in news.arrivals:
            self._hand_on(arrivals)
        if now != self._last:
            self._turn(now)
        self._last = now
        if news.down != self._told:
            self._told = news.down
            self._say(f"{news.down} Going on when it is back." if news.down else "Kafka is back.")

    def _hand_on(self, arrivals: Arrivals) -> None:
        reader = self._readers.get(arrivals.key)
        if reader is None:
            return  # its topic was given up with this very look
        made, bad = segments(arrivals.records, reader)
        for record in bad:
            self._say(
                f"{record.topic}, partition {record.partition}, offset {record.offset}: not a "
                "row of this table. It is left out."
            )
        self._apply(arrivals.key, made)
