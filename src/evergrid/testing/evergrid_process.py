"""`evergrid` commands as child processes, which a test can kill."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from evergrid.process import child_process

_LOOK_SECONDS = 0.1
_STOP_SECONDS = 9.0  # a process that takes longer to end, on a busy machine, ends without a word


class EvergridProcess:
    """One `evergrid …` command as a child process, with its output in a file."""

    def __init__(
        self,
        arguments: Sequence[str],
        screen: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.screen = screen
        with screen.open("ab") as output:
            self._from = output.tell()  # before it can have said anything
            self._child = child_process.start(
                [sys.executable, "-m", "evergrid", *arguments], stdout=output, env=env, cwd=cwd
            )

    @property
    def pid(self) -> int:
        return self._child.pid

    def said(self) -> str:
        """Its output so far."""
        with self.screen.open("rb") as file:
            file.seek(self._from)
            return file.read().decode(errors="replace")

    def wait_for_words(self, words: str, seconds: float) -> None:
        """Return when `words` are in the output; else AssertionError with the output."""
        deadline = time.monotonic() + seconds
        while words not in self.said():
            code = self._child.poll()
            if words in self.said():
                return
            if code is not None:
                raise AssertionError(f"it ended with {code} before {words!r}:\n{self.said()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"no {words!r} in {seconds:.0f} s:\n{self.said()}")
            time.sleep(_LOOK_SECONDS)

    def is_running(self) -> bool:
        return self._child.poll() is None

    def kill(self) -> None:
        """`kill -9` of it and of every process it started, Spark's Java among them."""
        self._child.kill()

    def stop(self, seconds: float = 10.0) -> int:
        """SIGTERM, as an operator would; its exit code."""
        return self._child.stop(seconds)

    def stop_in_order(self) -> None:
        """SIGTERM: it ends with a last line and code 0, if it had the time for both."""
        began = time.monotonic()
        code = self.stop()
        if time.monotonic() - began < _STOP_SECONDS:
            assert code == 0, self.said()
            assert self.said().rstrip().endswith("Stopped."), self.said()

    def wait(self, seconds: float) -> int:
        """Its exit code once it ended by itself."""
        return self._child.wait(seconds)

    def __enter__(self) -> EvergridProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
