"""Preparation told twice: on the screen for who waits, in the manifest for everyone else."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from evergrid.changelog.writer import ManifestWriter
from evergrid.model.generation import Generation, Progress

_SAY_SECONDS = 2.0


class ProgressTeller:
    """Says a step's progress when it begins, ends, and now and then in between."""

    def __init__(
        self, generation: Generation, writer: ManifestWriter, say: Callable[[str], None]
    ) -> None:
        self._generation = generation
        self._writer = writer
        self._say = say
        self._last: Progress | None = None
        self._said_at = 0.0

    def tell(self, progress: Progress) -> None:
        new_step = self._last is None or self._last.step != progress.step
        if progress == self._last or not (
            new_step
            or progress.done == progress.total
            or time.monotonic() - self._said_at >= _SAY_SECONDS
        ):
            return
        self._last, self._said_at = progress, time.monotonic()
        self._say(f"  {sentence(progress)}")
        self._writer.generation(msgspec.structs.replace(self._generation, progress=progress))


def sentence(progress: Progress) -> str:
    """One line for a person: what, how many of how many, and the share."""
    if not progress.total:
        return f"{progress.step}: nothing there yet"
    share = 100 * progress.done // progress.total
    return f"{progress.step}: {progress.done:,} of {progress.total:,} rows ({share}%)"
