"""The binary messages: a header of fixed size, a short JSON description, an Arrow IPC stream.

    bytes   0– 3   subscription (unsigned 32 bits, little-endian like all that follow)
            4      kind: 1 full window, 2 difference
            5– 7   0
            8–15   sequence of this state of the window
           16–23   sequence that a difference starts from; 0 in a full window
           24–31   generation; 0 for tables that belong to none
           32–39   rows in the whole view
           40–47   offset of the window's first row in the view
           48–55   when the state was taken, microseconds since the epoch
           56–59   rows in the window
           60–63   bytes of JSON that follow, padded with spaces to a multiple of 8
           64–     the JSON, then the Arrow IPC stream

The stream of a difference comes without its first message, the schema, which is that of the
last full window: with that message put before it, it reads as a stream of the rows sent.
Everything after the first four bytes is the same for all subscribers of the window, and is
encoded once.
"""

from __future__ import annotations

import enum
import struct

import msgspec

from evergrid.model.table import Column

ID_COLUMN = "_id"

_HEADER = struct.Struct("<IBxxxQQQQQqII")
_SUB = struct.Struct("<I")


class FrameKind(enum.IntEnum):
    FULL = 1
    DIFFERENCE = 2


class Description(msgspec.Struct, frozen=True, omit_defaults=True):
    """The JSON of a frame.

    `columns` (full windows): name, type and role of each. `parts` (differences): the new
    window from top to bottom, as [start, count] of rows taken over from the one before, or
    [-1, count] for the next rows of the body.
    """

    columns: tuple[Column, ...] = ()
    parts: tuple[tuple[int, int], ...] = ()


class Header(msgspec.Struct, frozen=True):
    """The fields of a frame's header, in its order."""

    kind: FrameKind
    sequence: int
    base: int
    generation: int
    total: int
    offset: int
    time: int
    rows: int


class Frame(msgspec.Struct, frozen=True):
    sub: int
    header: Header
    description: Description
    body: memoryview


_descriptions = msgspec.json.Decoder(Description)
_encoder = msgspec.json.Encoder()


def encode_shared(header: Header, description: Description, body: bytes | memoryview) -> bytes:
    """A frame without its first four bytes."""
    text = _encoder.encode(description)
    text += b" " * (-len(text) % 8)
    packed = _HEADER.pack(0, *msgspec.structs.astuple(header), len(text))
    return b"".join((packed[_SUB.size :], text, body))


def addressed(sub: int, shared: bytes) -> bytes:
    """The whole frame for one subscription."""
    return _SUB.pack(sub) + shared


def decode(frame: bytes) -> Frame:
    """Decode a frame; ValueError if it is invalid."""
    if len(frame) < _HEADER.size:
        raise ValueError(f"a frame of {len(frame)} bytes is shorter than its header")
    sub, kind, *fields, length = _HEADER.unpack_from(frame)
    end = _HEADER.size + length
    if end > len(frame):
        raise ValueError("a frame ends within its description")
    return Frame(
        sub=sub,
        header=Header(FrameKind(kind), *fields),
        description=_descriptions.decode(frame[_HEADER.size : end]),
        body=memoryview(frame)[end:],
    )
