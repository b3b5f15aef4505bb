"""The manifest as this pipeline writes it: on the broker first, then in memory.

Before each generation's record goes its row of `orchestrator_status`: what fails or is killed
between the two is done again by the record, and the row with it. The main thread and one that
prepares a generation both write here.
"""

from __future__ import annotations

import threading

import msgspec

from evergrid.changelog.manifest import Asked, Choices, Gaps, Manifest
from evergrid.changelog.writer import ManifestWriter, TableWriter
from evergrid.config.settings import Settings
from evergrid.model.generation import Generation, State
from evergrid.orchestrator import generations
from evergrid.orchestrator.status import status_row


class Registry:
    """Knows every generation that is not gone."""

    def __init__(
        self, settings: Settings, manifest: Manifest, writer: ManifestWriter, status: TableWriter
    ) -> None:
        self._settings = settings
        self._manifest = manifest
        self._writer = writer
        self._status = status
        self._rows: dict[int, int] = {}
        self._lock = threading.RLock()
        # Held while a generation begins, which may share tables of another, and while tables are
        # removed: so no table is removed that somebody has just begun to share.
        self.sharing = threading.Lock()

    @property
    def manifest(self) -> Manifest:
        return self._manifest

    def take_number(self) -> int:
        """The number of a new generation, never used before."""
        with self._lock:
            known = self._manifest
            number = max(*known.generations, known.current or 0, known.highest) + 1
            self._writer.numbered(number)
            self._manifest = msgspec.structs.replace(known, highest=number)
            return number

    def put(self, generation: Generation) -> None:
        """Say how a generation is."""
        with self._lock:
            self._show(generation)
            self._writer.generation(generation)
            known = {**self._manifest.generations, generation.number: generation}
            self._manifest = msgspec.structs.replace(self._manifest, generations=known)

    def make_current(self, generation: Generation) -> None:
        """The one record that is the switch."""
        with self._lock:
            self._writer.current(generation.number)
            self._manifest = msgspec.structs.replace(self._manifest, current=generation.number)

    def forget(self, generation: Generation) -> None:
        """Say that nothing is left of a generation; a failed one's error stays to be read."""
        gone = generation
        if generation.state is not State.FAILED:
            gone = generations.ended(generation, State.GONE, generation.error)
        with self._lock:
            self._show(gone)
            self._writer.forget(generation.number)
            left = {n: g for n, g in self._manifest.generations.items() if n != generation.number}
            self._manifest = msgspec.structs.replace(self._manifest, generations=left)
            self._rows.pop(generation.number, None)

    def count(self, generation: Generation, rows: int) -> None:
        """Say how many rows its joined tables have got."""
        with self._lock:
            if self._rows.get(generation.number) != rows:
                self._status.put(status_row(self._settings, generation, rows))
                self._rows[generation.number] = rows

    def offer(self, choices: Choices) -> None:
        """Say what control messages may ask for."""
        with self._lock:
            if choices != self._manifest.choices:
                self._writer.choices(choices)
                self._manifest = msgspec.structs.replace(self._manifest, choices=choices)

    def remember(self, asked: Asked) -> None:
        """Say what control messages have changed so far."""
        with self._lock:
            if asked != self._manifest.asked:
                self._writer.asked(asked)
                self._manifest = msgspec.structs.replace(self._manifest, asked=asked)

    def tell_gaps(self, gaps: Gaps) -> None:
        """Say what joined tables may lack."""
        with self._lock:
            if gaps != self._manifest.gaps:
                self._writer.gaps(gaps)
                self._manifest = msgspec.structs.replace(self._manifest, gaps=gaps)

    def _show(self, generation: Generation) -> None:
        rows = self._rows.get(generation.number)
        self._status.put(status_row(self._settings, generation, rows))
