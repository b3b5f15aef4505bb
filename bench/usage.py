"""What Spark's Java process has used so far: CPU and memory, as the system counts them."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

_PROC = Path("/proc")
_CPU_USER, _CPU_SYSTEM = 11, 12  # fields of /proc/<pid>/stat after the name
_KB = 1024


class Usage(msgspec.Struct, frozen=True):
    """`peak_bytes` is the most it ever held; where the system does not say, what it holds."""

    cpu_seconds: float
    rss_bytes: int
    peak_bytes: int


class CoresInUse:
    """How many cores a process kept busy on average since we began to look."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = time.monotonic()
        self._before = usage(pid).cpu_seconds

    def so_far(self) -> float:
        spent = usage(self._pid).cpu_seconds - self._before
        return spent / max(time.monotonic() - self._began, 1e-6)


def java_below(pid: int) -> int:
    """The Java process that `pid` started, directly or not; LookupError when there is none."""
    processes = list(_processes())
    family = {pid}
    while True:
        more = {child for child, parent, _ in processes if parent in family} - family
        if not more:
            break
        family |= more
    found = [child for child, _, name in processes if child in family and name == "java"]
    if not found:
        raise LookupError(f"process {pid} has no Java process below it")
    return found[0]


def usage(pid: int) -> Usage:
    """What process `pid` has used since it started."""
    if not (_PROC / "self/stat").exists():
        return _usage_by_ps(pid)
    fields = (_PROC / f"{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[_CPU_USER]) + int(fields[_CPU_SYSTEM])
    status = (_PROC / f"{pid}/status").read_text()
    return Usage(
        cpu_seconds=ticks / os.sysconf("SC_CLK_TCK"),
        rss_bytes=_kilobytes(status, "VmRSS"),
        peak_bytes=_kilobytes(status, "VmHWM"),
    )


def _kilobytes(status: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * _KB if found else 0


def _processes() -> Iterator[tuple[int, int, str]]:
    """Every process: its id, its parent's, its name."""
    command = ["ps", "-axo", "pid=,ppid=,comm="]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in listed.splitlines():
        pid, parent, name = line.split(maxsplit=2)
        yield int(pid), int(parent), name.rpartition("/")[2]


def _usage_by_ps(pid: int) -> Usage:
    command = ["ps", "-o", "time=,rss=", "-p", str(pid)]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    spent, rss = listed.split()
    seconds = 0.0
    for part in spent.split(":"):  # minutes:seconds.hundredths on macOS
        seconds = seconds * 60 + float(part)
    return Usage(seconds, int(rss) * _KB, int(rss) * _KB)
