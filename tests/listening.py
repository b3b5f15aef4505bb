"""The addresses that a process listens on, as Linux's /proc shows them."""

from __future__ import annotations

import contextlib
import ipaddress
import os
from pathlib import Path

LISTENING = "0A"


def listening_addresses(pid: int) -> dict[int, str]:
    """Port → address of each TCP socket that accepts connections; none of a process that ended."""
    process = Path(f"/proc/{pid}")
    sockets = set()
    found: dict[int, str] = {}
    try:
        for file in (process / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                sockets.add(os.readlink(file))
        tables = [(process / "net" / family).read_text() for family in ("tcp", "tcp6")]
    except (FileNotFoundError, ProcessLookupError):
        return found
    for table in tables:
        for line in table.splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == LISTENING and f"socket:[{rest[5]}]" in sockets:
                address, _, port = local.partition(":")
                found[int(port, 16)] = _address(address)
    return found


def is_loopback(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    mapped = getattr(ip, "ipv4_mapped", None)
    return bool((mapped or ip).is_loopback)


def _address(text: str) -> str:
    """In /proc an address is words of four bytes, each in the machine's (little-endian) order."""
    words = bytes.fromhex(text)
    packed = b"".join(words[start : start + 4][::-1] for start in range(0, len(words), 4))
    return str(ipaddress.ip_address(packed))
