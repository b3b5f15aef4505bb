"""Changes: decoded exactly, and never applied backwards."""

from __future__ import annotations

import pytest

from evergrid.changelog.codec import Change, Row, decode, is_older
from evergrid.config import load
from evergrid.model.errors import BrokenPromise

JOINED = load(None, {}).joined_tables()[0]
RAW = load(None, {}).raw_tables()[0]


def test_a_value_is_an_upsert_and_none_a_delete() -> None:
    assert decode(b"0:1", b'{"age":9007199254740993}') == Change("0:1", {"age": 9007199254740993})
    assert decode(b"0:1", None) == Change("0:1", None)
    with pytest.raises(BrokenPromise, match="without a key"):
        decode(None, b"{}")


def match(ts: int | None, partition: int | None = 0, offset: int | None = 0) -> Row:
    values = (None, None, None) if ts is None else (ts, partition, offset)
    return dict(zip(JOINED.version, values, strict=True))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        (match(None), match(-1)),
        (match(1), match(2)),
        (match(1, 0, 9), match(1, 1, 0)),
        (match(1, 1, 9), match(1, 1, 10)),
    ],
)
def test_a_replayed_match_is_older_than_what_is_shown(older: Row, newer: Row) -> None:
    assert is_older(older, newer, JOINED)
    assert not is_older(newer, older, JOINED)


def test_the_same_match_and_rows_without_one_are_not_older() -> None:
    assert not is_older(match(1), match(1), JOINED)
    assert not is_older({"ts": 1}, {"ts": 2}, RAW)
