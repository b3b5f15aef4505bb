"""Viewers who open a window and never read: what a broken program or a sleeping laptop does."""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import struct
import time
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from evergrid.model.errors import LinkError
from evergrid.protocol.messages import PATH, PROTOCOL, SUBPROTOCOL, Heart, Hello, Open, encode
from evergrid.views.view_query import OrderBy

_RECEIVE_BYTES = 4096
_HEART_SECONDS = 4.0
_LOOK_SECONDS = 0.2
_ANSWER_SECONDS = 10.0


class Deaf(msgspec.Struct, frozen=True, tag=True):
    """So many viewers of the newest `rows` rows; every other one still sends hearts."""

    address: str
    key: str
    table: str
    rows: int
    viewers: int
    stop: str


def run(task: Deaf) -> int:
    """Hold the connections until the file `stop` exists; how many there were."""
    links = [_knock(task) for _ in range(task.viewers)]
    beat = time.monotonic()
    while not Path(task.stop).exists():
        if time.monotonic() - beat > _HEART_SECONDS:
            beat = time.monotonic()
            for link in links[::2]:
                with contextlib.suppress(OSError):  # the gateway has hung up
                    link.send(masked(encode(Heart())))
        time.sleep(_LOOK_SECONDS)
    for link in links:
        link.close()
    return len(links)


def _knock(task: Deaf) -> socket.socket:
    """Shake hands, ask for a window, and read no more."""
    place = urlsplit(task.address)
    link = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
    link.settimeout(_ANSWER_SECONDS)
    link.connect((place.hostname, place.port))
    lines = (
        f"GET {PATH} HTTP/1.1",
        f"Host: {place.netloc}",
        f"Authorization: Bearer {task.key}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
    )
    link.sendall("\r\n".join((*lines, "", "")).encode())
    answer = link.recv(_RECEIVE_BYTES)
    if b" 101 " not in answer:
        raise LinkError(f"the gateway answered {answer[:200]!r}")
    newest = (OrderBy("ts", descending=True),)
    link.sendall(masked(encode(Hello(PROTOCOL))))
    link.sendall(masked(encode(Open(1, task.table, order=newest, limit=task.rows))))
    return link


def masked(text: str) -> bytes:
    """A text message as clients must send it: masked, which with zeros changes nothing."""
    data = text.encode()
    size = (
        struct.pack("!B", 0x80 | len(data))
        if len(data) < 126
        else struct.pack("!BH", 0x80 | 126, len(data))
    )
    return b"\x81" + size + bytes(4) + data
