"""What the figures make of what was seen, and that every figure has cases in both modes."""

from __future__ import annotations

import pytest
from bench.__main__ import BENCHES, main
from bench.boundary import compare
from bench.figure import Value
from bench.latency import Stream
from bench.load import USERS_SHARE, accounts_among
from bench.stage import LARGE, SMALL, changes_per_account
from bench.sustained import Course, rates

from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType

SECOND = 1_000_000


def amounts(values: tuple[Value, ...]) -> dict[str, float]:
    return {value.name: value.amount for value in values}


@pytest.mark.parametrize("name", BENCHES)
def test_a_quick_run_leaves_no_figure_out_and_is_smaller(name: str) -> None:
    quick, full = BENCHES[name].cases(True), BENCHES[name].cases(False)
    assert 1 <= len(quick) <= len(full)


def test_help_lists_every_figure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    assert all(f"  {name} " in said for name in BENCHES)


def test_an_unknown_figure_is_refused_with_those_that_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["speed"])
    assert "speed; there are latency" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2, 10, 11, 12, 22, 23, 1000])
def test_accounts_of_a_stream_are_counted_before_it_is_sent(count: int) -> None:
    assert accounts_among(count) == sum(1 for number in range(count) if number % USERS_SHARE)


def test_an_account_shows_once_or_with_each_user_the_join_keeps() -> None:
    assert changes_per_account(JoinType.ASOF, LARGE) == 1
    assert changes_per_account(JoinType.LEFT, LARGE) == LARGE.users
    assert changes_per_account(JoinType.INNER, SMALL) == SMALL.users


def test_rates_leave_out_the_start_and_the_end_of_a_backlog() -> None:
    # Slow to begin, 100 changes a second at half a core from 2 s on, and a slow last piece.
    changes = [(0.0, 0.0), (2.0, 20.0), (9.5, 770.0), (11.5, 970.0), (60.0, 1000.0)]
    cpu = [(0.0, 5.0), (2.0, 9.0), (9.5, 12.75), (11.5, 13.75), (60.0, 50.0)]
    found = amounts(rates(Course(changes, cpu), each=2))
    assert found["changes"] == pytest.approx(100)
    assert found["input"] == pytest.approx(50)
    assert found["cores in use"] == pytest.approx(0.5)
    assert found["Spark CPU per 1,000 rows"] == pytest.approx(10_000)


def test_a_pause_at_a_commit_is_told_from_the_time_between() -> None:
    arrived = [second * SECOND for second in range(31) if second not in (15, 16)]
    age = [900_000 if second == 17 * SECOND else 40_000 for second in arrived]
    seen = Stream(arrived, age, sent_per_second=1.0, missing=0, cores=0.5)
    found = amounts(compare(seen, [1 * SECOND, int(15.5 * SECOND), 40 * SECOND]))
    assert found["boundaries"] == 1
    assert found["longest silence at a boundary"] == 3000
    assert found["max at a boundary"] == 900
    assert found["max between"] == found["p50 between"] == 40


def test_a_boundary_that_never_came_is_no_figure() -> None:
    seen = Stream([0, SECOND], [1, 1], sent_per_second=1.0, missing=0, cores=0.5)
    with pytest.raises(LinkError, match="no batch ended"):
        compare(seen, [])
