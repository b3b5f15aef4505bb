"""Listening in on what clients say to a broker, where that is not encrypted."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Wiretap:
    """Passes everything on to a port of this machine, and keeps what was said to it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._heard = bytearray()
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def heard(self) -> bytes:
        return bytes(self._heard)

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, name="wiretap", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                caller, _ = self._listener.accept()
                broker = socket.create_connection(("127.0.0.1", self._port))
                for ends in ((caller, broker, self._heard), (broker, caller, bytearray())):
                    threading.Thread(target=_pass_on, args=ends, daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket, heard: bytearray) -> None:
    with one, contextlib.suppress(OSError):
        while said := one.recv(65536):
            heard += said
            other.sendall(said)
        other.shutdown(socket.SHUT_WR)
