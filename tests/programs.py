"""Starting Python programs as a person does at a terminal, whatever started the tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence


def started(arguments: Sequence[str], **variables: str) -> subprocess.Popen[str]:
    """A program that can be interrupted: one started by a background job would ignore Ctrl-C."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", *arguments],
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_interrupts,
    )


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
