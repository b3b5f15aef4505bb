"""The schemas of raw and joined tables: row ids, default orders and versions."""

from __future__ import annotations

import pytest

from evergrid.config.load import load
from evergrid.model.join import Join, JoinType, Side
from evergrid.model.source import Source
from evergrid.model.table import (
    Retention,
    Role,
    Table,
    joined_table,
    quarantine_table,
    raw_table,
)

SETTINGS = load(None, {})
USERS: Source = SETTINGS.sources["users"]
FINAL: Join = SETTINGS.joins["final"]


def joined(kind: JoinType) -> Table:
    join = Join(
        name=FINAL.name,
        table=FINAL.table,
        type=kind,
        left="users",
        right="accounts",
        left_key="userId",
        right_key="userId",
        history=FINAL.history,
        columns=FINAL.columns,
    )
    return joined_table(join, SETTINGS.sources, Retention())


def test_a_raw_table_has_the_fields_and_one_row_for_each_message() -> None:
    table = raw_table(USERS, Retention(rows=10))
    data = [column.name for column in table.columns if column.role is Role.DATA]
    assert data == [field.name for field in USERS.fields]
    assert table.row_id == ("_partition", "_offset")
    assert table.order[0] == "ts"
    assert table.retention.rows == 10


@pytest.mark.parametrize(
    ("kind", "driving", "other"),
    [(JoinType.ASOF, "accounts", "users"), (JoinType.LEFT, "users", "accounts")],
)
def test_a_row_is_identified_by_the_message_that_drives_the_join(
    kind: JoinType, driving: str, other: str
) -> None:
    table = joined(kind)
    assert table.row_id == (f"_{driving}_partition", f"_{driving}_offset")
    assert table.version == (f"_{other}_ts", f"_{other}_partition", f"_{other}_offset")


def test_a_row_of_an_inner_join_is_identified_by_both_messages_and_never_changes() -> None:
    table = joined(JoinType.INNER)
    users, accounts = (
        ("_users_partition", "_users_offset"),
        ("_accounts_partition", "_accounts_offset"),
    )
    assert table.row_id == (*users, *accounts)
    assert table.version == ()


def test_times_are_those_of_the_row_and_of_both_messages() -> None:
    assert joined(JoinType.ASOF).times == ("ts", "_users_ts", "_accounts_ts")


def test_quarantine_tells_topics_apart() -> None:
    assert quarantine_table("quarantine", Retention()).row_id == ("topic", "_partition", "_offset")


def test_the_sides_of_a_join_are_each_others_other() -> None:
    assert [side.other for side in Side] == [Side.RIGHT, Side.LEFT]
    assert (FINAL.source_of(Side.LEFT), FINAL.source_of(Side.RIGHT)) == (FINAL.left, FINAL.right)
