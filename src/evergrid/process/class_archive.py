"""Java's class data sharing: with an archive of its classes, Java starts in half the time.

Java ignores an archive that does not fit its jars. There are two ways to write one:

- When a process ends, it writes the classes that it had loaded: two seconds for a broker.
- A process lists the classes that it loads, and another one writes the archive from the list, at
  the lowest priority: for Spark, whose end would take half a minute longer otherwise.

A truncated archive would crash Java: its size is in its name.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import subprocess
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from evergrid.process import child_process

_WRITING_SECONDS = 60.0  # two on an idle machine
_ABANDONED_SECONDS = 3600.0
_UNUSED_SECONDS = 30 * 86_400.0
_LOWEST = "19"  # priority

# No warnings about classes that cannot be archived: the last line printed is why a broker ended.
_NO_WARNINGS = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


class ClassArchive:
    """The archive for this Java and these jars, in the folder of the first jar, for one process."""

    def __init__(self, java: Path, jars: Sequence[Path]) -> None:
        self._java = java
        self._name = f"classes-{_fingerprint((java.resolve(), *jars))}"
        self._folder = jars[0].parent
        self._new = self._folder / f"{self._name}.{uuid.uuid4().hex[:8]}"
        self._list = self._new.with_suffix(f"{self._new.suffix}-list")
        self._file = self._found()
        self._lock: int | None = None  # held while the archive is written from a list

    @property
    def is_there(self) -> bool:
        return self._file is not None

    @property
    def writing_seconds(self) -> float:
        """How much longer a process that writes it may take to end."""
        return 0.0 if self._file else _WRITING_SECONDS

    def reading(self) -> tuple[str, ...]:
        """Java's options to start from the archive."""
        return (f"-XX:SharedArchiveFile={self._file}", *_NO_WARNINGS) if self._file else ()

    def writing(self) -> tuple[str, ...]:
        """Java's options to write the archive when it ends."""
        return () if self._file else (f"-XX:ArchiveClassesAtExit={self._new}", *_NO_WARNINGS)

    def listing(self) -> tuple[str, ...]:
        """Java's options to list the classes that it loads, for `write_listed`."""
        return () if self._file else (f"-XX:DumpLoadedClassList={self._list}", *_NO_WARNINGS)

    def write_listed(self, class_path: str, options: Sequence[str]) -> child_process.ChildProcess:
        """Start to write the archive from the list of a process that still runs.

        `class_path` is that of the process, `options` are those of its Java that decide whether
        an archive fits. Call `keep` when the process that is returned has ended. OSError if
        another process writes the archive, or has written it.
        """
        self._lock = os.open(self._folder / f"{self._name}.lock", os.O_WRONLY | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if self._found() is not None:
            raise FileExistsError(f"{self._name} is there already")
        complete_lines = self._list.read_bytes().rpartition(b"\n")[0] + b"\n"
        copy = self._list.with_suffix(f"{self._list.suffix}-copy")
        copy.write_bytes(complete_lines)
        files = (f"-XX:SharedClassListFile={copy}", f"-XX:SharedArchiveFile={self._new}")
        java = (str(self._java), "-Xshare:dump", *files, *_NO_WARNINGS, *options)
        command = ("nice", "-n", _LOWEST, *java, "-cp", class_path)
        process = child_process.start(command, subprocess.DEVNULL)
        with contextlib.suppress(OSError):
            # Linux weighs sessions before processes, so that `nice` alone would mean little.
            Path(f"/proc/{process.pid}/autogroup").write_text(_LOWEST)
        return process

    def keep(self, *, complete: bool) -> None:
        """Keep a complete archive under its name, unless another process was faster."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        for left in self._folder.glob(f"{self._list.name}*"):
            left.unlink(missing_ok=True)
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
                idle = time.time() - state.st_mtime
                if file.name == f"{self._name}-{state.st_size}.jsa":
                    os.utime(file)  # in use
                    found = file
                elif file.match(f"{self._name}-*.jsa"):
                    file.unlink()
                elif idle > (_UNUSED_SECONDS if file.suffix == ".jsa" else _ABANDONED_SECONDS):
                    file.unlink()  # for other jars, or incomplete and nobody writes it any more
        return found


def _fingerprint(files: Sequence[Path]) -> str:
    """Java takes an archive for jars with the same paths, sizes and times only."""
    states = ((file, file.stat()) for file in files)
    known = "\n".join(f"{file} {state.st_size} {state.st_mtime_ns}" for file, state in states)
    return hashlib.sha256(known.encode()).hexdigest()[:16]
