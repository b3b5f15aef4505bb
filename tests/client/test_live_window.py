"""A window built from differences is the window that a full frame would have brought."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from evergrid.client.live_window import LiveWindow, apply_frame
from evergrid.model.errors import BrokenPromise
from evergrid.protocol import frames
from tests.client.gateway_messages import SCHEMA, Parts, Row, difference, full, row

SEED = 20_261_116
SEQUENCES = 300


def paint(before: LiveWindow | None, data: bytes, floor: int = 0) -> LiveWindow:
    return apply_frame(before or LiveWindow("people"), frames.decode(data), floor=floor)


def random_row(rng: random.Random, number: int) -> Row:
    name = rng.choice([None, "", "ann", "Zoë", "\u0000", "𝄞" * 3])
    return row(number, name, rng.choice([None, 0.0, -1.5, float("inf")]))


def random_window(rng: random.Random, before: list[Row]) -> list[Row]:
    """Rows that stay, change, go, come and change places."""
    rows = [row for row in before if rng.random() < 0.8]
    rows = [
        random_row(rng, int(str(row["_id"])[2:])) if rng.random() < 0.2 else row for row in rows
    ]
    if rng.random() < 0.3:
        rng.shuffle(rows)
    for _ in range(rng.randrange(4)):
        rows.insert(rng.randint(0, len(rows)), random_row(rng, rng.randrange(10_000, 10**9)))
    return rows


def random_difference(
    rng: random.Random, before: list[Row], after: list[Row]
) -> tuple[Parts, list[Row]]:
    """One of the many right ways from one to the other, runs split and rows resent at will."""
    parts: list[tuple[int, int]] = []
    sent: list[Row] = []
    for item in after:
        stays = item in before and rng.random() < 0.9
        start = before.index(item) if stays else -1
        if not stays:
            sent.append(item)
        last, count = parts[-1] if parts else (-2, 0)
        follows = last + count == start if stays and last >= 0 else (not stays and last == -1)
        if follows and rng.random() < 0.9:
            parts[-1] = (last, count + 1)
        else:
            parts.append((start, 1))
    return tuple(parts), sent


def test_random_differences_give_the_same_window_as_a_naive_list() -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    for _ in range(SEQUENCES):
        rows = [random_row(rng, number) for number in range(rng.randrange(20))]
        picture = paint(None, full(7, 1, rows))
        for sequence in range(2, rng.randrange(3, 12)):
            after = random_window(rng, rows)
            parts, sent = random_difference(rng, rows, after)
            picture = paint(picture, difference(7, sequence, sequence - 1, parts, sent))
            rows = after
            assert picture.rows.to_pylist() == rows
            assert picture.rows.schema.equals(SCHEMA)
            assert picture.sequence == sequence
        assert all(column.num_chunks <= 1 for column in picture.rows.columns)


def test_a_full_frame_brings_rows_columns_and_what_is_said_about_them() -> None:
    picture = paint(None, full(1, 5, [row(1), row(2)], generation=3, total=900, offset=40))
    assert picture.rows["_id"].to_pylist() == ["0:1", "0:2"]
    assert [column.name for column in picture.columns] == ["name", "size"]
    assert (picture.generation, picture.total, picture.offset) == (3, 900, 40)
    assert picture.rows.num_rows == 2


def test_an_empty_window_keeps_its_columns_and_can_fill_again() -> None:
    picture = paint(None, full(1, 1, [row(1)]))
    picture = paint(picture, difference(1, 2, 1, (), []))
    assert picture.rows.num_rows == 0
    assert picture.rows.schema.equals(SCHEMA)
    picture = paint(picture, difference(1, 3, 2, ((-1, 1),), [row(2)]))
    assert picture.rows.to_pylist() == [row(2)]


def test_a_difference_may_say_its_schema_if_it_is_the_same() -> None:
    picture = paint(None, full(1, 1, [row(1)]))
    plain = difference(1, 2, 1, ((-1, 1),), [row(2)])
    frame = frames.decode(plain)
    said = SCHEMA.serialize().to_pybytes()
    head = plain[: len(plain) - len(frame.body)]
    assert paint(picture, head + said + bytes(frame.body)).rows.to_pylist() == [row(2)]
    other = pa.schema([("_id", pa.string()), ("name", pa.int64())]).serialize().to_pybytes()
    with pytest.raises(BrokenPromise, match="other columns"):
        paint(picture, head + other + bytes(frame.body))


def test_a_difference_from_another_state_is_refused() -> None:
    picture = paint(None, full(1, 4, [row(1)]))
    with pytest.raises(BrokenPromise, match="difference from state 5, but the client has state 4"):
        paint(picture, difference(1, 6, 5, ((0, 1),), []))
    with pytest.raises(BrokenPromise, match="but the client has none"):
        paint(None, difference(1, 6, 5, ((0, 1),), []))


def test_an_older_state_after_a_newer_one_is_refused() -> None:
    with pytest.raises(BrokenPromise, match="frame out of order: state 3 came after state 4"):
        paint(None, full(1, 3, [row(1)]), floor=4)


@pytest.mark.parametrize(
    ("parts", "sent"),
    [
        (((0, 3),), 0),
        (((1, 2),), 0),
        (((-2, 1),), 1),
        (((0, -1),), 0),
        (((-1, 2),), 1),
        (((0, 1),), 1),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts: Parts, sent: int) -> None:
    picture = paint(None, full(1, 1, [row(1), row(2)]))
    fresh = [row(number) for number in range(10, 10 + sent)]
    with pytest.raises(BrokenPromise):
        paint(picture, _unchecked(parts, fresh))


def _unchecked(parts: Parts, rows: list[Row]) -> bytes:
    sane = difference(1, 2, 1, tuple((start, abs(count)) for start, count in parts), rows)
    frame = frames.decode(sane)
    shared = frames.encode_shared(frame.header, frames.Description(parts=parts), frame.body)
    return frames.addressed(1, shared)


@pytest.mark.parametrize("cut", [1, 8, 9, 40])
def test_a_body_that_is_cut_is_refused(cut: int) -> None:
    whole = full(1, 1, [row(1), row(2)])
    body = frames.decode(whole).body
    broken = whole[: len(whole) - len(body)] + bytes(body[: len(body) // 2 - cut])
    with pytest.raises(BrokenPromise):
        paint(None, broken)
