"""Ports for servers that a test starts, stops and starts again."""

from __future__ import annotations

import contextlib
import random
import socket

_PORTS = range(10_000, 20_000)


def free_port() -> int:
    """A port below those that the system gives to clients.

    A server takes it a while later, and again after a kill: one of the hundreds of clients
    beside it could have been given it meanwhile.
    """
    for port in random.sample(_PORTS, 200):
        with socket.socket() as place, contextlib.suppress(OSError):
            place.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"no port is free in {_PORTS}")
