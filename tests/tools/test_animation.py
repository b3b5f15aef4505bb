"""Frames become an animated PNG of the format's chunks, in their order."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from types import ModuleType

import pytest

Tool = Callable[[str], ModuleType]


def picture(grey: int, width: int = 2) -> bytes:
    """A PNG of one row of pixels."""
    header = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    data = zlib.compress(bytes([0, *[grey] * width]))
    chunks = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def chunks(made: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], 8
    while at < len(made):
        (length,) = struct.unpack_from(">I", made, at)
        kind, body = made[at + 4 : at + 8], made[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", made, at + 8 + length) == (zlib.crc32(kind + body),)
        found.append((kind, body))
        at += length + 12
    return found


def test_frames_are_numbered_and_a_repeated_one_is_shown_longer(tool: Tool) -> None:
    animation = tool("animation")
    frames = [animation.Frame(picture(grey), 100) for grey in (1, 1, 2)]
    found = chunks(animation.animated(frames))
    kinds = [kind for kind, _ in found]
    assert kinds == [b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"IEND"]
    assert found[1][1] == struct.pack(">II", 2, 0)
    assert [struct.unpack(">I", found[at][1][:4])[0] for at in (2, 4, 5)] == [0, 1, 2]
    assert struct.unpack_from(">HH", found[2][1], 20) == (200, 1000)
    assert zlib.decompress(found[5][1][4:]) == bytes([0, 2, 2])


def test_pictures_of_several_sizes_are_refused(tool: Tool) -> None:
    animation = tool("animation")
    frames = [animation.Frame(picture(1, width), 100) for width in (2, 3)]
    with pytest.raises(ValueError, match="several sizes"):
        animation.animated(frames)
