"""What `evergrid check` looks at: one finding each, with the remedy when it is not well."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from evergrid.cli.surroundings import check_disk, check_memory
from evergrid.cli.trials import Finding, Trials, finding
from evergrid.config.settings import Settings
from evergrid.kafka import jars
from evergrid.kafka.java import java_command
from evergrid.model.errors import ConfigError
from evergrid.pipeline.javaclient import JavaClient


def findings(settings: Settings) -> Iterator[Finding]:
    """Everything a pipeline needs, checked one after the other; nothing is left behind."""
    java = finding(lambda: f"Java: {java_command()}")
    yield java
    libraries = _libraries()
    yield Finding(True, libraries or _to_be_fetched())
    yield finding(lambda: _writable(settings.data_dir))
    yield finding(lambda: _disk(settings.data_dir))
    yield finding(lambda: _memory(settings))
    if java.well and libraries:
        with JavaClient(jars.fetch()) as client:
            yield from Trials(settings, client).findings()
    else:
        yield from Trials(settings, None).findings()


def _libraries() -> str:
    """Looks only at names: files get theirs when they were verified, all of them at once."""
    wanted = jars.read_lock(jars.LOCK_FILE.read_text())
    for folder in sorted(jars.cache_dir().glob("jars-*")):
        if all((folder / name).is_file() for name in wanted):
            return f"Java libraries: in {folder}"
    return ""


def _to_be_fetched() -> str:
    return (
        f"Java libraries: the first start will fetch 50 MB of them to {jars.cache_dir()}; Kafka is "
        "tried with the Python client alone"
    )


def _writable(directory: Path) -> str:
    place = _nearest(directory)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        kind = "is not a directory" if not place.is_dir() else "cannot be written to"
        raise ConfigError(
            f"{place} {kind}",
            where=f"data_dir {directory}",
            remedy="Set data_dir to a directory of yours.",
        )
    return f"data_dir {directory}: " + (
        "can be written to" if place == directory else "can be made"
    )


def _disk(directory: Path) -> str:
    check_disk(_nearest(directory))
    return f"Disk: enough space for {directory}"


def _memory(settings: Settings) -> str:
    check_memory(settings)
    return f"Memory: enough for spark.driver_memory {settings.spark.driver_memory}"


def _nearest(path: Path) -> Path:
    """The path itself, or the part of it that exists."""
    return next((part for part in (path, *path.parents) if part.exists()), Path(path.anchor))
