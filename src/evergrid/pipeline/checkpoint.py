"""Checkpoint directories: the generation each belongs to, and the offsets it has reached."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from evergrid.config.settings import Settings
from evergrid.model.errors import DataError, LinkError
from evergrid.model.generation import Generation
from evergrid.pipeline.kafka_frames import Offsets
from evergrid.pipeline.plan import Plan, QueryId, batches, checkpoint_folder, generations_folder

_OWNER = ".owner"  # beside each checkpoint


def claim(settings: Settings, generation: Generation, query: QueryId) -> None:
    """Create an empty checkpoint for a generation; LinkError if it cannot be written."""
    folder = checkpoint_folder(settings, query)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _owner_file(folder).write_text(_owner(generation, query))
    except OSError as error:
        raise LinkError(
            f"could not be made: {error.strerror}",
            where=f"directory {folder}",
            remedy="Make room on its disk, or correct its rights.",
        ) from None


def belongs(settings: Settings, generation: Generation, query: QueryId) -> bool:
    """Whether this generation's checkpoint exists, and not that of a generation with the same
    number on another cluster or with another prefix."""
    folder = checkpoint_folder(settings, query)
    try:
        return folder.is_dir() and _owner_file(folder).read_text() == _owner(generation, query)
    except (OSError, ValueError):
        return False


def all_checkpoints(settings: Settings) -> list[QueryId]:
    """All checkpoints on disk."""
    found = generations_folder(settings).glob("g[0-9]*/*/")
    return [
        QueryId(int(folder.parent.name[1:]), folder.name)
        for folder in found
        if folder.parent.name[1:].isdecimal()
    ]


def remove(settings: Settings, query: QueryId) -> None:
    """Remove a checkpoint, and its generation's directory if that is empty then."""
    folder = checkpoint_folder(settings, query)
    shutil.rmtree(folder, ignore_errors=True)
    _owner_file(folder).unlink(missing_ok=True)
    is_there = folder.parent.is_dir()
    if is_there and not any(other.is_dir() for other in folder.parent.iterdir()):
        shutil.rmtree(folder.parent, ignore_errors=True)


def positions(plan: Plan, query: QueryId) -> Mapping[str, Offsets]:
    """The offsets from which a query continues, by topic; DataError if they are damaged."""
    folder = plan.checkpoint(query)
    starts = plan.starts_of(query)
    last = max(batches(folder / "commits"), default=None)
    if last is None:
        if max(batches(folder / "offsets"), default=0) > 0:
            raise DataError("its commits are gone", where=f"checkpoint {folder}")
        return starts
    try:
        lines = (folder / "offsets" / str(last)).read_text().splitlines()[2:]  # version, settings
        found: dict[str, Mapping[str, int]] = {}
        for line in lines:
            found |= json.loads(line) if line.startswith("{") else {}
        return {
            topic: {int(partition): int(at) for partition, at in found[topic].items()}
            for topic in starts
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DataError("its offsets cannot be read", where=f"checkpoint {folder}") from None


def _owner(generation: Generation, query: QueryId) -> str:
    """A raw table outlives the generation that made it, so its topic's own record names it."""
    topics = generation.topics
    if query.is_join:
        ids = sorted(topic.topic_id for topic in topics.values())
        return f"{generation.times.created} {' '.join(ids)}"
    topic = topics[query.name.partition("-")[2]]
    return f"{topic.made} {topic.topic_id}"


def _owner_file(folder: Path) -> Path:
    return folder.with_name(folder.name + _OWNER)
