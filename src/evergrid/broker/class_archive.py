"""Java's class data sharing: with an archive of its classes a broker starts in half the time.

Java writes the archive when a process ends, with the classes that it had loaded, and ignores one
that does not fit its jars. So the first broker of a user writes it, which takes two seconds when
it stops, and the next ones use it. A truncated archive would crash Java: its size is in its name.
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
_ABANDONED_SECONDS = 3600.0

# No warnings about classes that cannot be archived: the last line printed is why a broker ended.
_NO_WARNINGS = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


class ClassArchive:
    """The archive for this Java and these jars, in the folder of the jars, for one process."""

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
        """Java's options to start from the archive."""
        return (f"-XX:SharedArchiveFile={self._file}", *_NO_WARNINGS) if self._file else ()

    def writing(self) -> tuple[str, ...]:
        """Java's options to write the archive when it ends."""
        return () if self._file else (f"-XX:ArchiveClassesAtExit={self._new}", *_NO_WARNINGS)

    def keep(self, *, complete: bool) -> None:
        """Keep a complete archive under its name, unless another process was faster."""
        with contextlib.suppress(OSError):
            if complete and self._found() is None:
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
                elif file.match(f"{self._name}-*.jsa"):
                    file.unlink()
                elif file.suffix != ".jsa" and time.time() - state.st_mtime > _ABANDONED_SECONDS:
                    file.unlink()  # incomplete, and nobody writes it any more
        return found
