"""A failing comparison prints a table one can read."""

from __future__ import annotations

import pytest

from evergrid.testing.oracle import Table, Value, differences

ROW: dict[str, Value] = {"name": "Ann", "age": 3}


def test_equal_tables_differ_in_nothing() -> None:
    assert differences({}, {}) == ""
    assert differences({"0:1": ROW}, {"0:1": dict(reversed(ROW.items()))}) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [(3, 3.0), (True, 1), (False, 0), (None, ""), (None, 0), ("3", 3), ("1.0", "1.00"), (0.1, 0.2)],
)
def test_types_count(one: Value, other: Value) -> None:
    assert differences({"0:1": {"c": one}}, {"0:1": {"c": other}}) != ""
    assert differences({"0:1": {"c": one}}, {"0:1": {"c": one}}) == ""


def test_missing_extra_and_changed_rows_are_shown_column_by_column() -> None:
    expected: Table = {"0:2": ROW, "0:10": ROW, "0:1": ROW}
    actual: Table = {"0:1": {**ROW, "age": 4}, "0:10": ROW, "0:11": {"name": "Bo"}}
    assert differences(expected, actual).splitlines() == [
        "3 rows differ (1 missing, 1 extra, 1 changed) of 3 expected and 3 actual; showing 3:",
        "row id  what     column  expected  actual",
        "0:1     changed  age     3         4",
        "0:2     missing  name    'Ann'",
        "0:2     missing  age     3",
        "0:11    extra    name              'Bo'",
    ]


def test_a_column_on_one_side_only_is_a_difference_even_when_null() -> None:
    assert "(no such column)" in differences({"0:1": {"a": None}}, {"0:1": {}})
    assert "(no such column)" in differences({"0:1": {}}, {"0:1": {"a": None}})


def test_only_the_first_rows_are_shown_but_all_are_counted() -> None:
    expected: Table = {f"0:{n}": ROW for n in range(100)}
    report = differences(expected, {}, limit=2)
    assert report.startswith("100 rows differ (100 missing")
    assert "0:1 " in report
    assert "0:2 " not in report


def test_long_values_are_cut_where_they_begin_to_differ() -> None:
    same = "x" * 500
    line = differences({"0:1": {"a": same + "L"}}, {"0:1": {"a": same + "R"}}).splitlines()[-1]
    assert "L'" in line
    assert "R'" in line
    assert len(line) < 200
