"""Raises this process's limit of open files, which bounds its connections."""

from __future__ import annotations

import resource
from collections.abc import Callable

RESERVE = 256  # libraries, Kafka connections, logs


def raise_open_files(connections: int, warn: Callable[[str], None]) -> None:
    """Raise the limit to the hard limit; `warn` if that is too low for so many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError):  # some systems allow less than they tell
            pass
    needed = connections + RESERVE
    if soft != resource.RLIM_INFINITY and soft < needed:
        warn(
            f"Open files: the limit is {soft}, and {connections} connections need {needed}. "
            "Raise it (LimitNOFILE= of a systemd unit, ulimit -Hn), or lower "
            "gateway.limits.connections."
        )
