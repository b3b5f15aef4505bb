"""Changes as lines that line up, fit the terminal and can be told apart."""

from __future__ import annotations

import datetime
import json

import pytest
from rich.cells import cell_len

from evergrid.changelog.codec import Change, Row
from evergrid.changelog.follower import Arrival, Followed
from evergrid.cli.lines import Style, TableLines, as_json
from evergrid.config import load
from evergrid.model.generation import Generation, State, TableTopic, Times

TODAY = datetime.date(2026, 3, 1)
WRITTEN = round(datetime.datetime(2026, 3, 1, 9, 5, 7, 120_000).timestamp() * 1000)
SETTINGS = load(None, {})
GENERATION = Generation(4, State.CURRENT, {}, {}, {}, {}, Times(created=1))
FOLLOWED = Followed(TableTopic(SETTINGS.joined_tables()[0], "t", 2), GENERATION)
PLAIN = Style(width=110, colour=False)

ANN: Row = {
    "userId": "U1",
    "name": "Ann Lee",
    "email": "ann@example.com",
    "age": 7,
    "accounts_userId": None,
    "accountType": None,
    "balance": "-12.50",
    "ts": 1,
    "_users_topic": "users",
}


def arrival(row_id: str, row: Row | None) -> Arrival:
    return Arrival("final_ui", Change(row_id, row), WRITTEN, True)


def test_the_header_names_table_generation_and_columns() -> None:
    title, names = TableLines(FOLLOWED, PLAIN).header()
    assert title == "final_ui · generation 4"
    assert names.split()[:4] == ["written", "userId", "name", "email"]
    assert "_users_topic" not in names


def test_a_new_row_a_known_one_and_a_deletion_have_their_marks() -> None:
    lines = TableLines(FOLLOWED, PLAIN)
    changes = [arrival("0:1", ANN), arrival("0:1", ANN), arrival("0:1", None), arrival("0:1", ANN)]
    shown = lines.lines(changes, TODAY)[1:]
    assert [line[0] for line in shown] == ["+", "~", "-", "+"]
    assert shown[0].startswith("+ 09:05:07.120  U1")
    assert shown[2] == "- 09:05:07.120  row 0:1 deleted"


def test_numbers_stand_under_the_right_end_of_their_names() -> None:
    heading, line = TableLines(FOLLOWED, PLAIN).lines([arrival("0:1", ANN)], TODAY)
    assert line.index("-12.50") + 6 == heading.index("balance") + 7
    assert line.index("7  ") == heading.index("age") + 2


@pytest.mark.parametrize("width", [40, 80, 110, 300])
def test_every_line_fits_whatever_a_row_holds(width: int) -> None:
    lines = TableLines(FOLLOWED, Style(width=width, colour=False))
    wild = {**ANN, "name": "李" * 500, "email": "x" * 5000, "balance": "9" * 16 + ".99"}
    shown = lines.lines([arrival("0:1", ANN), arrival("0:2", wild)], TODAY)
    assert max(map(cell_len, shown)) <= width


def test_columns_that_do_not_fit_are_counted_in_the_header() -> None:
    title, _ = TableLines(FOLLOWED, Style(width=50, colour=False)).header()
    assert "more columns do not fit" in title


def test_names_are_repeated_only_when_columns_had_to_grow() -> None:
    lines = TableLines(FOLLOWED, PLAIN)
    lines.lines([arrival("0:1", ANN)], TODAY)
    assert len(lines.lines([arrival("0:2", ANN)], TODAY)) == 1
    assert len(lines.lines([arrival("0:3", {**ANN, "name": "Ann Elizabeth Lee"})], TODAY)) == 2


def test_nulls_are_dim_and_marks_coloured_only_where_colour_is_wanted() -> None:
    line = TableLines(FOLLOWED, Style(width=110, colour=True)).lines([arrival("0:1", ANN)], TODAY)
    assert "\x1b[32m+\x1b[0m" in line[1]
    assert "\x1b[2m–" in line[1]
    assert "\x1b" not in "".join(TableLines(FOLLOWED, PLAIN).lines([arrival("0:1", ANN)], TODAY))


def test_a_row_cannot_steer_the_terminal() -> None:
    bad = {**ANN, "name": "\x1b]0;owned\x07"}
    shown = TableLines(FOLLOWED, PLAIN).lines([arrival("0:1\x1b", bad)], TODAY)
    assert "\x1b" not in "".join(shown)


def test_all_columns_are_shown_when_asked_for() -> None:
    _, names = TableLines(FOLLOWED, Style(width=400, colour=False, all_columns=True)).header()
    assert "_accounts_offset" in names


def test_json_has_the_id_and_the_whole_row() -> None:
    assert json.loads(as_json(arrival("0:1", ANN))) == {"id": "0:1", "row": ANN}
    assert json.loads(as_json(arrival("0:1", None))) == {"id": "0:1", "row": None}
