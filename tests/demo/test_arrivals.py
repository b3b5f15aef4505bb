"""The board gets the tables that have a name now, each from its beginning, and nothing else."""

from __future__ import annotations

from evergrid.changelog.feed import Arrivals, Followed, Key, News, Reached
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import Record
from evergrid.config import load
from evergrid.demo.arrivals import Batch, Sorter
from evergrid.model.generation import Generation, State, TableTopic, Times

SETTINGS = load(None, {})
TABLE = SETTINGS.joined_tables()[0]


def topic(number: int) -> TableTopic:
    return TableTopic(TABLE, f"g{number}", 1)


def generation(number: int) -> Generation:
    tables = {TABLE.name: topic(number)}
    return Generation(number, State.READY, {}, {}, {}, tables, Times())


def news(
    *followed: int, current: int, arrived: dict[int, str] | None = None, done: bool = True
) -> News:
    keys = {number: Key(f"g{number}", f"id {number}", TABLE) for number in (1, 2)}
    return News(
        arrivals=[
            Arrivals(keys[n], [Record(f"g{n}", 0, 0, 7, row_id.encode(), b"{}")])
            for n, row_id in (arrived or {}).items()
        ],
        followed=[Followed(keys[n], topic(n), n) for n in followed],
        reached={keys[n]: Reached(int(done), 1) for n in followed},
        manifest=Manifest({n: generation(n) for n in followed}, current),
        down="",
    )


def ids(batch: Batch) -> list[str]:
    return [arrival.change.row_id for arrival in batch.arrivals]


def test_what_was_there_before_is_not_live_and_what_comes_is() -> None:
    sorter = Sorter()
    first = sorter.sort(news(1, current=1, arrived={1: "0:1"}, done=False))
    assert [moved.table.name for moved in first.moved] == [TABLE.name]
    assert [arrival.live for arrival in first.arrivals] == [False]
    assert not sorter.sort(news(1, current=1, arrived={1: "0:2"})).arrivals[0].live
    again = sorter.sort(news(1, current=1, arrived={1: "0:3"}))
    assert again.arrivals[0].live
    assert not again.moved


def test_a_coming_generation_is_kept_back_and_then_given_whole() -> None:
    sorter = Sorter()
    sorter.sort(news(1, current=1))
    sorter.sort(news(1, 2, current=1))
    between = sorter.sort(news(1, 2, current=1, arrived={1: "0:1", 2: "0:8"}))
    assert ids(between) == ["0:1"]
    after = sorter.sort(news(1, 2, current=2, arrived={1: "0:2", 2: "0:9"}))
    assert [moved.generation.number for moved in after.moved if moved.generation] == [2]
    assert ids(after) == ["0:8", "0:9"]


def test_a_broker_that_is_away_is_a_trouble_while_it_is() -> None:
    sorter = Sorter()
    well = news(1, current=1)
    away = News([], well.followed, well.reached, well.manifest, "It does not answer.")
    assert sorter.sort(away).trouble == "It does not answer. Going on when it is back."
    assert sorter.sort(well).trouble == ""
