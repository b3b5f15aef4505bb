"""How every command behaves: one line when asked to stop, one sentence when it cannot go on."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from evergrid.model.errors import EvergridError, LinkError

_LONGEST_STOP_SECONDS = 9.0
PASSING = 75  # exit code for what may be over soon; the one that sendmail gave this meaning
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(BaseException):
    """Someone asked us to end. No Exception, so that nothing on the way swallows it."""


def politely(command: Callable[[], int]) -> int:
    """Run a command so that no one ever sees a stack trace or waits for its end."""
    heed_signals()
    try:
        return command()
    except (Stopped, KeyboardInterrupt):
        _say("Stopped.")
        return 0
    except EvergridError as error:
        _say(f"evergrid: {error.sentence()}")
        # Whoever looks after us may start us again after the one, and should not after the other.
        return PASSING if isinstance(error, LinkError) else 1
    except BrokenPipeError:
        leave_output()
        return 0
    except Exception as error:
        path = _keep_trace(traceback.format_exc())
        _say(
            f"evergrid: something went wrong that we did not foresee ({type(error).__name__}). "
            f"Please report it with {path}."
        )
        return 70
    finally:
        end_soon()


def leave_output() -> None:
    """Whoever read our output has gone, as `head` does. Nothing is left to say to it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def heed_signals() -> None:
    """Turn the first signal to end into `Stopped`, in the main thread.

    Spark's Python side installs a handler of its own, so this is called again after it
    started. Later signals change nothing: the first one is being carried out.
    """
    for number in _SIGNALS:
        signal.signal(number, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    end_soon()
    raise Stopped


def end_soon() -> None:
    """Leave after a while whatever still hangs; children on a leash end with us."""

    def leave() -> None:
        os._exit(1)

    timer = threading.Timer(_LONGEST_STOP_SECONDS, leave)
    timer.daemon = True
    timer.start()


def _keep_trace(text: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="evergrid-", suffix=".trace.txt")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return Path(name)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
