"""What a checkpoint's folder tells: whose it is, and how far it has come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from evergrid.model.errors import DataError, LinkError
from evergrid.model.generation import Generation
from evergrid.pipeline.plan import INGEST, Plan
from evergrid.pipeline.sources import Offsets

_OWNER = "owner"  # of a generation's folder


def claim(folder: Path, generation: Generation) -> None:
    """Begin a generation's folder; LinkError when the disk does not take it."""
    try:
        folder.mkdir(parents=True)
        (folder / _OWNER).write_text(_name(generation))
    except OSError as error:
        raise LinkError(
            f"could not be made: {error.strerror}",
            where=f"directory {folder}",
            remedy="Make room on its disk, or correct its rights.",
        ) from None


def belongs(folder: Path, generation: Generation) -> bool:
    """Whether a folder is this very generation's, and not that of one with the same number on
    another cluster or under another prefix."""
    try:
        return (folder / _OWNER).read_text() == _name(generation)
    except (OSError, ValueError):
        return False


def positions(plan: Plan, query: str) -> Mapping[str, Offsets]:
    """Where a query goes on when it is started, by source; DataError when that is damaged."""
    folder = plan.checkpoint(query)
    last = max(map(int, _numbered(folder / "commits")), default=None)
    if last is None:
        if query != INGEST and _has_history(plan, query):
            raise DataError("its commits are gone", where=f"checkpoint {folder}")
        return plan.starts_of(query)
    sources = plan.sources_read_by(query)
    try:
        lines = (folder / "offsets" / str(last)).read_text().splitlines()[2:]  # version, settings
        return {
            source.name: {int(p): int(at) for p, at in json.loads(line)[source.topic].items()}
            for source, line in zip(sources, lines, strict=True)
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError("its offsets cannot be read", where=f"checkpoint {folder}") from None


def _name(generation: Generation) -> str:
    ids = sorted(topic.topic_id for topic in generation.topics.values())
    return f"{generation.times.created} {' '.join(ids)}"


def _has_history(plan: Plan, query: str) -> bool:
    """Whether preparing it left a state, which a start from the beginning would not give."""
    topics = [plan.generation.topics[source.name] for source in plan.sources_read_by(query)]
    return any(topic.live != topic.start for topic in topics)


def _numbered(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [file.name for file in folder.iterdir() if file.name.isdecimal()]
