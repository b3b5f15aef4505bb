"""What the demo's screen shows, for given states."""

from __future__ import annotations

import datetime
import subprocess

import msgspec
import pytest
from rich.cells import cell_len
from rich.text import Text

from evergrid.changelog.codec import Row
from evergrid.config import load
from evergrid.demo.board import shown_columns
from evergrid.demo.screen import CHANGED, NEW, render, status_line
from evergrid.demo.view import RowView, TableView, View, Words
from evergrid.model.generation import Generation, State, Times

SETTINGS = load(None, {})
TABLE = SETTINGS.joined_tables()[0]
GENERATION = Generation(3, State.CURRENT, SETTINGS.sources, SETTINGS.joins, {}, {}, Times())
COLUMNS = shown_columns(TABLE, GENERATION)
COMMAND = (
    ".venv/bin/evergrid tail final_ui -c .evergrid/demo/evergrid.yaml --key-file .evergrid/demo/key"
)
WORDS = Words(".evergrid/demo", COMMAND, 50.0)
NOW = datetime.datetime(2026, 3, 1, 12, 0, 0).timestamp()


def person(number: int) -> Row:
    return {
        "ts": round((NOW - number) * 1_000_000),
        "userId": f"U{number}",
        "name": "Zoë Łukasz-Müller",
        "email": "zoe.lukasz-mueller.the.third@example.com",
        "age": 41,
        "accountType": "checking" if number else None,
        "balance": "1820.50" if number else None,
    }


LIVE = View(
    now=NOW,
    words=WORDS,
    live=True,
    broker="127.0.0.1:20815",
    generation=3,
    join="left",
    steps=("Starting a Kafka broker.", "Waiting for live rows."),
    tables=(
        TableView("users_ui", 1234, 5.2, 21.0, 0.2),
        TableView("accounts_ui", 98765, 44.8, 24.0, 0.04),
        TableView("final_ui", 1234, 97.1, 41.0, 0.05),
        TableView("quarantine", 3, 0.1, None, 200.0),
    ),
    bad="accounts: balance: '12.345' does not fit decimal(18,2)",
    focus="final_ui",
    columns=COLUMNS,
    rows=tuple(RowView(person(number)) for number in range(200)),
)


def lines(view: View, width: int = 100, height: int = 30) -> list[str]:
    return render(view, width, height).plain.split("\n")


def test_the_title_says_where_it_runs_and_that_it_is_live() -> None:
    title = lines(LIVE)[0]
    assert "127.0.0.1:20815 · generation 3 · left join" in title
    assert title.endswith("● live")


def test_each_table_has_its_figures() -> None:
    text = "\n".join(lines(LIVE))
    for words in (
        ["users_ui", "1,234", "5.2", "0.2 s ago", "21 ms"],
        ["accounts_ui", "98,765", "44.8", "0.0 s ago", "24 ms"],
        ["quarantine", "3", "0.1", "3 min ago"],
    ):
        line = next(line for line in text.split("\n") if line.strip().startswith(words[0]))
        assert all(word in line for word in words)
    assert "balance: '12.345' does not fit decimal(18,2)" in text


def test_rows_fill_the_space_and_the_other_sides_key_is_not_repeated() -> None:
    shown = lines(LIVE)
    assert sum("Zoë" in line for line in shown) > 10
    assert "accounts_userId" not in "\n".join(shown)
    assert any(line.split()[:3] == ["ts", "userId", "name"] for line in shown)


def test_the_footer_says_how_to_stop_and_how_to_go_on() -> None:
    text = "\n".join(lines(LIVE, 120, 30)[-3:])
    assert "Ctrl-C stops" in text
    assert "--fresh" in text
    assert COMMAND in text
    assert "logs in .evergrid/demo" in text


@pytest.mark.parametrize("width", [70, 80, 90, 120])
def test_the_command_can_be_copied_into_a_shell_on_any_terminal(width: int) -> None:
    shown = lines(LIVE, width, 30)
    start = next(i for i, line in enumerate(shown) if "Follow a table: " in line)
    copied = [line[len(" Follow a table: ") :] for line in shown[start:-1]]
    script = f"printf '%s\\n' {chr(10).join(copied)}"
    heard = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert heard.stdout.split() == COMMAND.split()


@pytest.mark.parametrize("size", [(80, 24), (81, 25), (100, 30), (250, 70), (40, 10), (20, 4)])
@pytest.mark.parametrize("live", [True, False])
def test_it_fits_any_terminal_exactly(size: tuple[int, int], live: bool) -> None:
    shown = lines(msgspec.structs.replace(LIVE, live=live), *size)
    assert len(shown) == size[1]
    assert max(map(cell_len, shown)) <= size[0]


def test_at_80_by_24_a_person_still_sees_rows_with_their_balance() -> None:
    shown = lines(LIVE, 80, 24)
    assert sum("1820.50" in line for line in shown) > 5
    assert any("balance" in line for line in shown)


def styles_of(text: Text, words: str) -> set[str]:
    start = text.plain.index(words)
    return {str(span.style) for span in text.spans if span.start <= start < span.end}


def test_new_rows_and_changed_cells_stand_out() -> None:
    rows = (
        RowView({**person(1), "userId": "UNEW"}, new=True),
        RowView({**person(2), "balance": "77.77"}, changed=frozenset({"balance"})),
        RowView(person(3)),
    )
    text = render(msgspec.structs.replace(LIVE, rows=rows), 120, 30)
    assert NEW in styles_of(text, "UNEW")
    assert CHANGED in styles_of(text, "77.77")
    assert CHANGED not in styles_of(text, "U3 ")


def test_while_starting_each_step_is_on_the_screen_and_the_last_one_goes_on() -> None:
    view = View(
        now=NOW,
        words=WORDS,
        steps=("Starting a Kafka broker.", "Starting Spark.", "Generation 1: joining: 5 of 9 rows"),
    )
    text = "\n".join(lines(view, 80, 24))
    assert "✓ Starting a Kafka broker." in text
    assert "✓ Generation 1" not in text
    assert "Generation 1: joining: 5 of 9 rows" in text
    assert "○ not live" in text


def test_what_keeps_it_from_being_live_is_said_above_the_last_rows() -> None:
    trouble = "The pipeline ended (Spark did not start); again in 2 s."
    shown = lines(msgspec.structs.replace(LIVE, live=False, trouble=trouble))
    assert any(f"✗ {trouble}" in line for line in shown)
    assert any("Zoë" in line for line in shown)


def test_nothing_shown_can_steer_the_terminal() -> None:
    evil = "\x1b[2J"
    view = msgspec.structs.replace(
        LIVE, bad=evil, trouble=evil, live=False, rows=(RowView({**person(1), "name": evil}),)
    )
    assert "\x1b" not in render(view, 100, 30).plain
    assert "\x1b" not in status_line(view)


def test_one_plain_line_says_the_same() -> None:
    line = status_line(LIVE)
    assert line.startswith("live, generation 3, left | users_ui 1,234 rows, 5.2/s, delay 21 ms")
    assert "quarantine 3 rows" in line
    assert line.endswith("last bad message: accounts: balance: '12.345' does not fit decimal(18,2)")
    assert "\n" not in line
