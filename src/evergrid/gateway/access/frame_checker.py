"""Checks the headers of WebSocket frames, before aiohttp's reader gets them.

That reader accepts frames without a mask and messages of endlessly many frames.
"""

from __future__ import annotations

from typing import Protocol

MOST_FRAMES = 100  # of one message
# A frame with a reserved opcode: the reader ends the connection with a protocol error.
_ILLEGAL = b"\x83\x80"
_MASK_BYTES = 4
_LENGTH_BYTES = {126: 2, 127: 8}


class FrameReader(Protocol):
    """What aiohttp asks of the reader of a WebSocket."""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]: ...
    def feed_eof(self) -> None: ...


class FrameChecker:
    """Passes frames on to `reader`; from the first that is not allowed on, an illegal one."""

    def __init__(self, reader: FrameReader) -> None:
        self._reader = reader
        self._header = b""  # the beginning of one that is incomplete
        self._to_skip = 0  # bytes of the current frame's mask and payload
        self._frames = 0  # of the current message

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        data, self._header = self._header + bytes(data), b""
        position = self._to_skip
        while position < len(data):
            size = _header_size(data[position : position + 2])
            if len(data) - position < size:
                self._header = data[position:]
                return self._pass_on(data[:position], 0)
            if not self._is_allowed(*data[position : position + 2]):
                return self._pass_on(data[:position] + _ILLEGAL, 0)
            position += size + _MASK_BYTES + _payload_size(data[position : position + size])
        return self._pass_on(data, position - len(data))

    def feed_eof(self) -> None:
        self._reader.feed_eof()

    def _pass_on(self, data: bytes, to_skip: int) -> tuple[bool, bytes]:
        self._to_skip = to_skip
        return self._reader.feed_data(data)

    def _is_allowed(self, first: int, second: int) -> bool:
        opcode = first & 0x0F
        if opcode < 8:  # not a control frame, which may come between those of a message
            self._frames = 1 if opcode else self._frames + 1
        return bool(second & 0x80) and self._frames <= MOST_FRAMES


def _header_size(header: bytes) -> int:
    """Without the mask."""
    return 2 + (_LENGTH_BYTES.get(header[1] & 0x7F, 0) if len(header) > 1 else 0)


def _payload_size(header: bytes) -> int:
    return int.from_bytes(header[2:]) if len(header) > 2 else header[1] & 0x7F
