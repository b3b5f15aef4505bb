"""Writes the archive of Spark's classes beside the first session of a user, for the next ones.

That takes about a minute of one core at the lowest priority, once for each version of Java and
Spark. With the archive Spark needs four tenths less CPU to start.
"""

from __future__ import annotations

import time

from pyspark.sql import SparkSession

from evergrid.process.child_process import ChildProcess
from evergrid.process.class_archive import ClassArchive

# By then the queries run, and their classes are loaded.
_AFTER_SECONDS = 60.0
# Java refuses an archive that was written with another way to address its heap.
_DECIDE = ("-Xmx", "-XX:+Use", "-XX:-Use", "--add-modules")


class ClassArchiveWriter:
    """Writes the archive of a running session when its classes are loaded."""

    def __init__(
        self, archive: ClassArchive, spark: SparkSession, after: float = _AFTER_SECONDS
    ) -> None:
        self._archive = archive
        self._spark = spark
        self._due = time.monotonic() + after
        self._is_over = archive.is_there
        self._process: ChildProcess | None = None

    def turn(self) -> None:
        """Begin when it is time; keep the archive when it is written."""
        if self._is_over:
            return
        if self._process is None:
            if time.monotonic() >= self._due:
                self._begin()
        elif self._process.poll() is not None:
            self._end(complete=self._process.wait() == 0)

    def close(self) -> None:
        """Give up what is not finished; the next session begins anew."""
        if self._process is not None and not self._is_over:
            self._process.kill()
        if not self._is_over:
            self._end(complete=False)

    def _begin(self) -> None:
        java = self._spark._jvm
        assert java is not None
        class_path: str = java.java.lang.System.getProperty("java.class.path")
        given = java.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
        options = [option for option in map(str, given) if option.startswith(_DECIDE)]
        try:
            self._process = self._archive.write_listed(class_path, options)
        except OSError:  # another process writes it; or no `nice`, no room: later starts are slow
            self._end(complete=False)

    def _end(self, *, complete: bool) -> None:
        self._is_over = True
        self._archive.keep(complete=complete)
