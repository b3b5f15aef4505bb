"""Frames decode to what was encoded, and damaged ones are refused."""

from __future__ import annotations

import pytest

from evergrid.model.field_types import TEXT
from evergrid.model.table import Column
from evergrid.protocol.frames import (
    Description,
    FrameKind,
    Header,
    addressed,
    decode,
    encode_shared,
)

HEADER = Header(
    kind=FrameKind.DIFFERENCE,
    sequence=2**40,
    base=7,
    generation=3,
    total=1_000_000,
    offset=250,
    time=-1,
    rows=2,
)
DESCRIPTION = Description(columns=(Column("name", TEXT),), parts=((0, 1), (-1, 1)))


def test_a_frame_decodes_to_what_was_encoded() -> None:
    frame = decode(addressed(2**32 - 1, encode_shared(HEADER, DESCRIPTION, b"arrow")))
    assert frame.sub == 2**32 - 1
    assert frame.header == HEADER
    assert frame.description == DESCRIPTION
    assert bytes(frame.body) == b"arrow"


def test_all_but_the_first_four_bytes_are_the_same_for_every_subscriber() -> None:
    shared = encode_shared(HEADER, DESCRIPTION, b"")
    assert addressed(1, shared)[4:] == addressed(2, shared)[4:] == shared


def test_the_body_is_aligned_to_eight_bytes() -> None:
    for length in range(9):
        description = Description(columns=(Column("c" * (length + 1), TEXT),))
        data = addressed(1, encode_shared(HEADER, description, b"body"))
        assert (len(data) - len(b"body")) % 8 == 0


def test_a_truncated_frame_is_refused() -> None:
    data = addressed(1, encode_shared(HEADER, DESCRIPTION, b""))
    for length in (0, 63, len(data) - 1):
        with pytest.raises(ValueError, match="frame"):
            decode(data[:length])


def test_an_unknown_kind_is_refused() -> None:
    data = bytearray(addressed(1, encode_shared(HEADER, DESCRIPTION, b"")))
    data[4] = 9
    with pytest.raises(ValueError, match="9"):
        decode(bytes(data))
