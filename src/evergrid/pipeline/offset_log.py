"""Spark's record of each batch in a checkpoint: its number, its settings and its end offsets."""

from __future__ import annotations

import json
from pathlib import Path

_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"


def batches(folder: Path) -> list[int]:
    """The batches in a checkpoint's `offsets` or `commits` directory."""
    if not folder.is_dir():
        return []
    return [int(file.name) for file in folder.iterdir() if file.name.isdecimal()]


def shuffle_partitions(checkpoint: Path, configured: int) -> int:
    """The number of a query's reducers. Spark takes it from the checkpoint, whatever is configured
    now, because the state is divided among them."""
    last = max(batches(checkpoint / "offsets"), default=None)
    if last is None:
        return configured
    try:
        settings = (checkpoint / "offsets" / str(last)).read_text().splitlines()[1]
        return int(json.loads(settings)["conf"][_SHUFFLE_PARTITIONS])
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return configured  # a damaged one is told when its positions are read
