"""A command that runs while the test goes on, its output and its words in files."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

LIMIT = 120.0


class Running:
    """`evergrid …`, started in a folder."""

    def __init__(self, folder: Path, environ: dict[str, str], *arguments: str) -> None:
        self._out, self._err = folder / "out", folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "evergrid", *arguments],
                stdout=out,
                stderr=err,
                env=environ,
                cwd=folder,
            )

    @property
    def out(self) -> str:
        return self._out.read_text()

    @property
    def err(self) -> str:
        return self._err.read_text()

    def until(self, condition: Callable[[str, str], bool]) -> None:
        deadline = time.monotonic() + LIMIT
        while not condition(self.out, self.err):
            assert time.monotonic() < deadline, self.out + self.err
            assert self.process.poll() is None, self.out + self.err
            time.sleep(0.05)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
