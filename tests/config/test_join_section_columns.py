"""What a join has when nobody says otherwise, and when its type changes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from evergrid.config import Settings, retyped
from evergrid.config.join_section import join_columns
from evergrid.model.field_types import TEXT
from evergrid.model.join import History, Join, JoinType, Side
from evergrid.model.source import Field, Source

Load = Callable[..., Settings]

JOIN = "joins:\n  final: {{table: final_ui, type: {}, left: users, right: accounts{}}}\n"


def names(join: Join) -> list[str]:
    return [column.name for column in join.columns]


@pytest.mark.parametrize(
    ("kind", "given", "history"),
    [
        ("asof", "", History(None, None)),
        ("left", "", History(None, None)),
        ("inner", "", History(None, None)),
        ("asof", ", history: {left: 8}", History(8, None)),
        ("asof", ", history: {right: 8}", History(None, 8)),
        ("left", ", history: {left: 8, right: 1}", History(8, None)),
        ("inner", ", history: {left: 1, right: 1000000000}", History(1, 1_000_000_000)),
    ],
)
def test_history_has_no_limit_where_none_is_given(
    load_text: Load, kind: str, given: str, history: History
) -> None:
    assert load_text(JOIN.format(kind, given)).joins["final"].history == history


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("left", "userId name email age accounts_userId accountType balance"),
        ("inner", "userId name email age accounts_userId accountType balance"),
        ("asof", "userId accountType balance users_userId name email age"),
    ],
)
def test_all_columns_are_shown_the_driving_sides_first(
    load_text: Load, kind: str, shown: str
) -> None:
    assert names(load_text(JOIN.format(kind, "")).joins["final"]) == shown.split()


def test_columns_can_be_chosen_and_renamed(load_text: Load) -> None:
    given = ", columns: {who: users.name, total: accounts.balance}"
    join = load_text(JOIN.format("left", given)).joins["final"]
    assert [(c.name, c.side, c.field) for c in join.columns] == [
        ("who", Side.LEFT, "name"),
        ("total", Side.RIGHT, "balance"),
    ]


def test_columns_can_be_listed_and_the_driving_sides_keep_their_names(load_text: Load) -> None:
    given = ", columns: [accounts.userId, users.userId, accounts.balance]"
    left = load_text(JOIN.format("left", given)).joins["final"]
    assert names(left) == ["accounts_userId", "userId", "balance"]
    asof = load_text(JOIN.format("asof", given)).joins["final"]
    assert names(asof) == ["userId", "users_userId", "balance"]


def test_names_are_unique_however_unlucky_the_fields() -> None:
    def source(name: str, *fields: str) -> Source:
        return Source(name, name, name, tuple(Field(f, TEXT) for f in fields), fields[0])

    sources = {"a": source("a", "id", "b_id"), "b": source("b", "ID", "b_id", "b_b_id")}
    join = Join("j", "j", JoinType.LEFT, "a", "b", "id", "ID", History(1, 1), ())
    shown = [column.name for column in join_columns(join, sources)]
    assert shown == ["id", "b_id", "b_b_ID", "b_b_b_id", "b_b_b_b_id"]


@pytest.mark.parametrize("before", JoinType)
@pytest.mark.parametrize("after", JoinType)
def test_a_join_that_changes_its_type_is_the_one_configured_so(
    load_text: Load, before: JoinType, after: JoinType
) -> None:
    old = load_text(JOIN.format(before.value, ""))
    new = load_text(JOIN.format(after.value, ""))
    assert retyped(old.joins["final"], after, old.sources) == new.joins["final"]


def test_a_join_that_changes_its_type_keeps_what_was_given(load_text: Load) -> None:
    given = ", history: {left: 8, right: 9}, pairs: 7, columns: {who: users.name}"
    settings = load_text(JOIN.format("asof", given))
    join = settings.joins["final"]
    for kind in JoinType:
        other = retyped(join, kind, settings.sources)
        assert other == msgspec.structs.replace(join, type=kind)


def test_an_inner_join_has_a_limit_of_pairs(load_text: Load) -> None:
    assert load_text(JOIN.format("inner", "")).joins["final"].pairs == 10_000
    for most in (1, 1_000_000):
        given = f", pairs: {most}"
        assert load_text(JOIN.format("inner", given)).joins["final"].pairs == most
