"""Joins PNG pictures of one size to an animated PNG, which browsers play where they show pictures.

A frame that equals the one before lengthens it. The pictures are used as they are: decoding them
to store only what has changed would need an image library.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence

import msgspec

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER, _DATA, _END = b"IHDR", b"IDAT", b"IEND"


class Frame(msgspec.Struct, frozen=True):
    picture: bytes  # a PNG file
    milliseconds: int


def animated(frames: Sequence[Frame]) -> bytes:
    """An animated PNG that plays for ever; ValueError if the pictures are not alike."""
    different = list(_without_repeats(frames))
    headers = {_only(frame.picture, _HEADER) for frame in different}
    if len(headers) != 1:
        raise ValueError("pictures of several sizes or kinds of pixels")
    (header,) = headers
    out = [
        _SIGNATURE,
        _chunk(_HEADER, header),
        _chunk(b"acTL", struct.pack(">II", len(different), 0)),
    ]
    number = 0
    for index, frame in enumerate(different):
        size = header[:8]
        times = struct.pack(">HH", frame.milliseconds, 1000)
        control = struct.pack(">I", number) + size + bytes(8) + times + bytes(2)
        out.append(_chunk(b"fcTL", control))
        number += 1
        for data in _all(frame.picture, _DATA):
            if index == 0:
                out.append(_chunk(_DATA, data))
            else:
                out.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
                number += 1
    return b"".join([*out, _chunk(_END, b"")])


def _without_repeats(frames: Sequence[Frame]) -> Iterator[Frame]:
    held: Frame | None = None
    for frame in frames:
        if held is not None and frame.picture == held.picture:
            held = Frame(held.picture, held.milliseconds + frame.milliseconds)
            continue
        if held is not None:
            yield held
        held = frame
    if held is not None:
        yield held


def _only(picture: bytes, kind: bytes) -> bytes:
    (body,) = _all(picture, kind)
    return body


def _all(picture: bytes, wanted: bytes) -> Iterator[bytes]:
    if not picture.startswith(_SIGNATURE):
        raise ValueError("not a PNG file")
    at = len(_SIGNATURE)
    while at < len(picture):
        length, kind = struct.unpack_from(">I4s", picture, at)
        if kind == wanted:
            yield picture[at + 8 : at + 8 + length]
        at += length + 12


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
