"""A generation as a row of `orchestrator_status`. Pure."""

from __future__ import annotations

from evergrid.changelog.codec import Row
from evergrid.config.settings import Settings
from evergrid.model.control import topic_words, type_words
from evergrid.model.generation import Generation, Progress


def status_row(settings: Settings, generation: Generation, rows: int | None) -> Row:
    """What it is made of, how it is, and since when; `rows` None: not known yet."""
    times = generation.times
    topics = {
        word: generation.sources[name].topic if name in generation.sources else None
        for name, word in topic_words(settings.sources).items()
    }
    types = {
        word: generation.joins[name].type.value if name in generation.joins else None
        for name, word in type_words(settings.joins).items()
    }
    progress = generation.progress
    return {
        "generation": generation.number,
        "state": generation.state.value,
        **topics,
        **types,
        "rows": rows,
        "progress": sentence(progress) if progress else None,
        "lastApplied": times.current or None,
        "lastError": generation.error or None,
        "changed": max(times.created, times.ready, times.current, times.ended),
        "ts": times.created,
    }


def sentence(progress: Progress) -> str:
    """One line for a person: what, how many of how many, and the share."""
    if not progress.total:
        return f"{progress.step}: nothing there yet"
    share = 100 * progress.done // progress.total
    return f"{progress.step}: {progress.done:,} of {progress.total:,} rows ({share}%)"
