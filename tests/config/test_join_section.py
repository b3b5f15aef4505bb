"""Every mistake in joins, and the exact sentence that names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MORE = "# more\n"  # its last line, 28
NAME = "a name of letters, digits and _ (at most 100) that starts with a letter"
RANGE = "Choose a number in this range."
REFERENCES = (
    "users.userId, users.age, users.score, users.at, "
    "accounts.userId, accounts.balance, accounts.rank"
)

CASES: dict[str, tuple[str, str, str]] = {
    "join's name": (
        "  final:\n",
        "  _final:\n",
        f"22: joins._final: found '_final', expected {NAME}. Choose such a name.",
    ),
    "join's type": (
        "type: asof",
        "type: as-of",
        "24: joins.final.type: found 'as-of', expected one of asof, left, inner. "
        "Did you mean 'asof'?",
    ),
    "join's source": (
        "left: users",
        "left: user",
        "25: joins.final.left: found 'user', expected a source: users, accounts. "
        "Did you mean 'users'?",
    ),
    "join without a side": (
        "    right: accounts\n",
        "",
        "22: joins.final.right: missing. Add it: a source: users, accounts.",
    ),
    "join with itself": (
        "right: accounts",
        "right: users",
        "26: joins.final.right: found 'users', the left source too. Join two different sources.",
    ),
    "join's key": (
        MORE,
        "    left_key: id\n",
        "28: joins.final.left_key: found 'id', expected a field of users: "
        "userId, age, score, at. Choose one of these.",
    ),
    "join's key a float": (
        MORE,
        "    left_key: score\n",
        "28: joins.final.left_key: found 'score', a float, whose values are not exact enough "
        "to be equal. Make the field decimal or text.",
    ),
    "source's key with a tag, which joins would look up": (
        "    key: userId\n    fields",
        "    key: !x y\n    fields",
        "16: sources.accounts.key: found a YAML tag (!). "
        "Put quotes around a value that starts with a sign such as ! * & % @.",
    ),
    "keys of two types": (
        MORE,
        "    right_key: balance\n",
        "22: joins.final: the keys differ in type: users.userId is text, "
        "accounts.balance is decimal(18,2). Give both fields the same type.",
    ),
    "history too short": (
        "right: 16",
        "right: 0",
        "27: joins.final.history.right: found '0', expected a whole number from 1 to "
        "1000000000. " + RANGE,
    ),
    "history too long": (
        "left: 64",
        "left: 1000000001",
        "27: joins.final.history.left: found '1000000001', expected a whole number from 1 to "
        "1000000000. " + RANGE,
    ),
    "no pairs": (
        MORE,
        "    pairs: 0\n",
        f"28: joins.final.pairs: found '0', expected a whole number from 1 to 1000000. {RANGE}",
    ),
    "too many pairs": (
        MORE,
        "    pairs: 1000001\n",
        "28: joins.final.pairs: found '1000001', expected a whole number from 1 to 1000000. "
        + RANGE,
    ),
    "history of a left join": (
        "type: asof",
        "type: left",
        "27: joins.final.history.right: found '16', but a left join looks at the one latest row "
        "of its right side. Remove this key, or choose the type asof or inner.",
    ),
    "columns refer to nothing": (
        MORE,
        "    columns: {who: users.nam}\n",
        f"28: joins.final.columns.who: found 'users.nam', expected one of {REFERENCES}. "
        "Did you mean 'users.at'?",
    ),
    "columns listed refer to nothing": (
        MORE,
        "    columns:\n      - users.age\n      - shop.id\n",
        f"30: joins.final.columns.1: found 'shop.id', expected one of {REFERENCES}. "
        "Choose one of these.",
    ),
    "columns listed twice": (
        MORE,
        "    columns: [users.age, users.age]\n",
        "28: joins.final.columns.1: found 'users.age' a second time. Remove one of the two.",
    ),
    "joined column's name": (
        MORE,
        "    columns: {ts: users.age}\n",
        f"28: joins.final.columns.ts: found 'ts', expected {NAME} and is not 'ts'. "
        "Choose such a name.",
    ),
    "joined columns that case alone tells apart": (
        MORE,
        "    columns: {who: users.age, Who: users.at}\n",
        "28: joins.final.columns.Who: differs from 'who' in upper and lower case alone. "
        "Rename one of the two.",
    ),
    "columns a word": (
        MORE,
        "    columns: all\n",
        "28: joins.final.columns: found 'all', expected columns as {shown_name: source.field} "
        "or [source.field]. Name at least one, or leave 'columns' out to show all.",
    ),
    "columns none": (
        MORE,
        "    columns: []\n",
        "28: joins.final.columns: found none, expected columns as {shown_name: source.field} "
        "or [source.field]. Name at least one, or leave 'columns' out to show all.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_is_named_in_one_sentence(
    complaints_after: Callable[[str, str], list[str]], case: str
) -> None:
    old, new, sentence = CASES[case]
    assert complaints_after(old, new) == [f"evergrid.yaml:{sentence}"]
