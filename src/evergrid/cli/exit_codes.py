"""How every command ends: its exit code, its last line, and how signals stop it."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from types import FrameType

from evergrid.cli.terminal import warn
from evergrid.model.errors import EvergridError, LinkError

OK = 0
FAILED = 1  # the command refused or failed; a person must change something
UNDECIDED = 3  # `evergrid control` ended before there was a verdict
INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h
TEMPORARY_FAILURE = 75  # EX_TEMPFAIL of sysexits.h: the same may work later

_MAX_STOP_SECONDS = 9.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """A signal asked us to end. Not an Exception, so that no handler on the way catches it."""


def run_with_exit_code(command: Callable[[], int]) -> int:
    """Run a command; errors become one line on standard error and an exit code."""
    handle_signals()
    try:
        return command()
    except (Stopped, KeyboardInterrupt):
        warn("Stopped.")
        return OK
    except EvergridError as error:
        warn(f"evergrid: {error.sentence()}")
        # A supervisor may restart us after a temporary failure, and should not after others.
        return TEMPORARY_FAILURE if isinstance(error, LinkError) else FAILED
    except BrokenPipeError:
        discard_output()
        return OK
    except Exception as error:
        with tempfile.NamedTemporaryFile(
            "w", prefix="evergrid-", suffix=".trace.txt", delete=False
        ) as file:
            file.write(traceback.format_exc())
        what = f"internal error ({type(error).__name__})"
        warn(f"evergrid: {what}. Please report it with {file.name}.")
        return INTERNAL_ERROR
    finally:
        force_exit_later()


def discard_output() -> None:
    """Send standard output to /dev/null, after its reader has gone, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def handle_signals() -> None:
    """Turn the first SIGINT or SIGTERM into `Stopped`, in the main thread; ignore later ones.

    Spark's Python side installs a handler of its own, so call this again after it started.
    """
    for number in _SIGNALS:
        signal.signal(number, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    force_exit_later()
    raise Stopped


def force_exit_later() -> None:
    """End the process after some seconds, even if a thread hangs; child processes end with it."""
    timer = threading.Timer(_MAX_STOP_SECONDS, lambda: os._exit(FAILED))
    timer.daemon = True
    timer.start()
