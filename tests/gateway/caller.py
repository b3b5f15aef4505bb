"""A client that says exactly what a test wants said, byte by byte, over a real socket."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import ssl
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from evergrid.protocol.error_codes import Code
from evergrid.protocol.frames import Frame, FrameKind, decode

LIMIT = 60.0
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10

Message = dict[str, object]


class Answer:
    """A whole HTTP answer."""

    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(first.split(" ")[1]) if first.startswith("HTTP/1.") else 0
        pairs = [line.partition(": ") for line in lines]
        self.headers = {name.lower(): value for name, _, value in pairs}

    @property
    def code(self) -> str:
        """The code of an error; empty when the answer is none of ours."""
        try:
            return str(json.loads(self.body)["error"]["code"])
        except (ValueError, KeyError, TypeError):
            return ""


def label(value: object) -> str | None:
    """A test's name for its parameters: bytes by how many they are."""
    if isinstance(value, Code):
        return str(value.value)
    return f"{len(value)} bytes" if isinstance(value, bytes) else None


def wait_until(condition: Callable[[], bool], what: str, seconds: float = LIMIT) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.01)


def frame(opcode: int, payload: bytes, *, fin: bool = True, masked: bool = True) -> bytes:
    """A WebSocket frame as a client sends it."""
    first = opcode | (0x80 if fin else 0)
    mask_bit = 0x80 if masked else 0
    if len(payload) < 126:
        head = struct.pack("!BB", first, len(payload) | mask_bit)
    elif len(payload) < 65536:
        head = struct.pack("!BBH", first, 126 | mask_bit, len(payload))
    else:
        head = struct.pack("!BBQ", first, 127 | mask_bit, len(payload))
    if not masked:
        return head + payload
    mask = b"mask"
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


class Called(Protocol):
    """A gateway at a port of this machine, and a secret that opens it."""

    @property
    def port(self) -> int: ...
    @property
    def secret(self) -> str: ...


class Caller:
    """One TCP connection to a gateway."""

    def __init__(self, gateway: Called, receive_buffer: int = 0) -> None:
        self.gateway = gateway
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(LIMIT)
        self.socket.connect(("127.0.0.1", gateway.port))
        self._read = b""

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    # HTTP

    def host(self) -> str:
        return f"127.0.0.1:{self.gateway.port}"

    def origin(self) -> str:
        return f"http://{self.host()}"

    def bearer(self) -> str:
        return f"Bearer {self.gateway.secret}"

    def ask(
        self,
        target: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        body: bytes | None = None,
    ) -> Answer:
        """One request on this connection; given headers replace the usual ones, "" drops them."""
        usual = {
            "Host": self.host(),
            "Authorization": self.bearer(),
            "Connection": "close",
            "Content-Length": "" if body is None else str(len(body)),
        }
        lines = [
            f"{name}: {value}" for name, value in {**usual, **(headers or {})}.items() if value
        ]
        head = "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode("latin-1")
        self.send(head + (body or b""))
        return self.answer()

    def answer(self) -> Answer:
        """All that comes until the other side closes."""
        return Answer(self.rest())

    def rest(self) -> bytes:
        data = self._read
        with contextlib.suppress(ConnectionError):
            while part := self.socket.recv(65536):
                data += part
        return data

    # WebSocket

    def shake_hands(self, headers: Mapping[str, str] | None = None) -> Answer:
        """The handshake of a browser's page, with these headers replaced."""
        self.ask_for_upgrade(headers)
        return self.upgraded()

    def ask_for_upgrade(self, headers: Mapping[str, str] | None = None) -> None:
        """The first half of the handshake, without waiting for its answer."""
        usual = {
            "Host": self.host(),
            "Origin": self.origin(),
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            "Sec-WebSocket-Protocol": "evergrid.v1",
        }
        lines = [
            f"{name}: {value}" for name, value in {**usual, **(headers or {})}.items() if value
        ]
        self.send("\r\n".join(["GET /api/live HTTP/1.1", *lines, "", ""]).encode("latin-1"))

    def upgraded(self) -> Answer:
        """The answer to the handshake."""
        head = self._until(b"\r\n\r\n")
        answer = Answer(head)
        if answer.status != 101:
            length = int(answer.headers.get("content-length", "0"))
            answer.body = self._take(length)
        return answer

    def log_in_encrypted(self, authority: Path) -> None:
        """Over TLS, as a page of the gateway's own."""
        context = ssl.create_default_context(cafile=authority)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.shake_hands({"Origin": f"https://127.0.0.1:{self.gateway.port}"})
        self.say(type="hello", protocol=1, key=self.gateway.secret)
        assert self.hear()["type"] == "welcome"

    def log_in(self, secret: str | None = None) -> Message:
        """Shake hands and say hello; the welcome."""
        assert self.shake_hands().status == 101
        self.say(type="hello", protocol=1, key=secret or self.gateway.secret)
        return self.hear()

    def say(self, **message: object) -> None:
        self.send(frame(TEXT, json.dumps(message).encode()))

    def open(self, sub: int, table: str = "people", **more: object) -> None:
        self.say(type="open", sub=sub, table=table, **more)

    def next(self) -> tuple[int, bytes]:
        """The next WebSocket frame: opcode and payload."""
        first, second = self._take(2)
        assert first & 0x80, "a gateway sends whole messages"
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._take(8))
        return first & 0x0F, self._take(length)

    def hear(self) -> Message:
        """The next text message that is no heart; hearts are answered."""
        while True:
            opcode, payload = self.next()
            if opcode == TEXT:
                message: Message = json.loads(payload)
                if message["type"] != "heart":
                    return message
                self.say(type="heart")

    def watch(self) -> Frame:
        """The next data frame; hearts on the way are answered."""
        while True:
            opcode, payload = self.next()
            if opcode == BINARY:
                return decode(payload)
            if opcode == TEXT and b'"heart"' in payload:
                self.say(type="heart")
            assert opcode == TEXT, f"the connection ended: {payload!r}"
            assert b'"error"' not in payload, payload

    def ending(self) -> tuple[str, int]:
        """The code of the error that ends the connection, and the number it is closed with."""
        code = ""
        while True:
            opcode, payload = self.next()
            if opcode == TEXT:
                message = json.loads(payload)
                code = message["code"] if message.get("fatal") else code
            elif opcode == CLOSE:
                return code, struct.unpack("!H", payload[:2])[0]

    def _take(self, count: int) -> bytes:
        while len(self._read) < count:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError("the gateway has closed the connection")
            self._read += part
        taken, self._read = self._read[:count], self._read[count:]
        return taken

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._read:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError("the gateway has closed the connection")
            self._read += part
        end = self._read.index(mark) + len(mark)
        taken, self._read = self._read[:end], self._read[end:]
        return taken


@contextmanager
def calling(gateway: Called, receive_buffer: int = 0) -> Iterator[Caller]:
    caller = Caller(gateway, receive_buffer)
    try:
        yield caller
    finally:
        caller.close()


def ids(full: Frame) -> list[str]:
    """The row ids in a full window."""
    assert full.header.kind is FrameKind.FULL
    rows = pa.ipc.open_stream(full.body).read_all()
    return [str(row_id) for row_id in rows.column("_id").to_pylist()]


def works(gateway: Called, table: str = "people") -> bool:
    """Whether a client as it should be gets its rows."""
    with calling(gateway) as caller:
        assert caller.log_in()["type"] == "welcome"
        caller.open(7, table, limit=3)
        return len(ids(caller.watch())) == 3
