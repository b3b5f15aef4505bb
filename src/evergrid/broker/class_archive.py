"""A broker's Java classes, prepared in one file: with them it starts in half the time.

Java itself writes the file when a process ends, of the classes that it had loaded, and checks by
itself whether it fits: other jars than those take no notice of it. So the first broker of a user
writes it, at the cost of two seconds when it stops, and the next ones find it. A file that was
cut short would crash Java: its size is in its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

_WRITING_SECONDS = 60.0  # two on an idle machine
_LEFT_SECONDS = 3600.0

# Not a word about classes that cannot be in it: what a broker prints last is why it died.
_QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


class ClassArchive:
    """The file for this Java and these jars, beside the jars, as one process meets it."""

    def __init__(self, java: Path, jars: Sequence[Path]) -> None:
        command = java.resolve()
        known = f"{command} {command.stat().st_mtime_ns} {os.pathsep.join(map(str, jars))}"
        self._name = f"classes-{hashlib.sha256(known.encode()).hexdigest()[:16]}"
        self._folder = jars[0].parent
        self._new = self._folder / f"{self._name}.{uuid.uuid4().hex[:8]}"
        self._file = self._found()

    @property
    def writing_seconds(self) -> float:
        """How much longer the process may take to end."""
        return 0.0 if self._file else _WRITING_SECONDS

    def reading(self) -> tuple[str, ...]:
        """What tells Java to start from the file."""
        return (f"-XX:SharedArchiveFile={self._file}", *_QUIET) if self._file else ()

    def writing(self) -> tuple[str, ...]:
        """What tells Java to write the file when it ends."""
        return () if self._file else (f"-XX:ArchiveClassesAtExit={self._new}", *_QUIET)

    def keep(self, *, whole: bool) -> None:
        """Put what was written in its place; remove what was broken off, or another was quicker."""
        with contextlib.suppress(OSError):
            if whole and self._found() is None:
                size = self._new.stat().st_size
                self._new.rename(self._folder / f"{self._name}-{size}.jsa")
            else:
                self._new.unlink()

    def _found(self) -> Path | None:
        found = None
        for file in self._folder.glob("classes-*"):
            with contextlib.suppress(OSError):  # another process has just removed it
                state = file.stat()
                if file.name == f"{self._name}-{state.st_size}.jsa":
                    found = file
                elif file.match(f"{self._name}-*.jsa") or _is_left_over(file, state.st_mtime):
                    file.unlink()
        return found


def _is_left_over(file: Path, written: float) -> bool:
    """Whether it was broken off, with the process that wrote it and the one that started that."""
    return file.suffix != ".jsa" and time.time() - written > _LEFT_SECONDS
