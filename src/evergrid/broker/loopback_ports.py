"""Free ports on loopback, the same again at the next start."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection
from pathlib import Path

from evergrid.model.errors import ConfigError

HOST = "127.0.0.1"

# Below the ephemeral ports of Linux and macOS: a client that retries while the broker is down could
# otherwise be given the broker's own port.
_PORTS = range(20000, 32000)


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def free_port(apart_from: Collection[int] = ()) -> int:
    for port in random.sample(_PORTS, 200):
        if port not in apart_from and is_free(port):
            return port
    raise ConfigError(
        f"no port is free on {HOST} between {_PORTS.start} and {_PORTS.stop}",
        remedy="End programs that hold many ports, or choose a port for the broker.",
    )


def choose_ports(file: Path, count: int, first: int | None = None) -> list[int]:
    """`count` different ports: those that `file` names where they are free, else others.

    ConfigError when `first`, which must be the first of them, is in use.
    """
    try:
        last = [int(word) for word in file.read_text().split()]
    except (OSError, ValueError):
        last = []
    chosen = [] if first is None else [first]
    if first is not None and not is_free(first):
        raise ConfigError(
            f"port {first} on {HOST} is in use by another program",
            remedy="End that program, or choose another port for the broker.",
        )
    for place in range(len(chosen), count):
        port = last[place] if place < len(last) else 0
        if not (0 < port < 65536 and port not in chosen and is_free(port)):
            port = free_port({*last, *chosen})
        chosen.append(port)
    return chosen
