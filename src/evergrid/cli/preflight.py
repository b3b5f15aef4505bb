"""What the machine must have before the pipeline starts: Java, disk and memory."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from evergrid.config.settings import Settings
from evergrid.model.errors import ConfigError
from evergrid.process.java import java_command

_MIN_DISK = 1024**3
_BESIDE_SPARK = 512 * 1024**2  # Python, and what Java needs beyond its heap
_UNITS = {"m": 1024**2, "g": 1024**3}


def check_machine(settings: Settings) -> None:
    """ConfigError if Java is missing, or disk or memory are not enough."""
    java_command()
    check_disk(settings.data_dir)
    check_memory(settings)


def check_disk(directory: Path) -> str:
    """That there is space; ConfigError if the disk of `directory` is almost full."""
    free = shutil.disk_usage(existing(directory)).free
    remedy = "Free some space, or set data_dir to a directory on another disk."
    _check("disk space", free, _MIN_DISK, f"data_dir {directory}", remedy)
    return f"Disk: enough space for {directory}"


def check_memory(settings: Settings) -> str:
    """That there is memory; ConfigError if Spark's driver does not fit into it."""
    wanted = settings.spark.driver_memory
    needed = int(wanted[:-1]) * _UNITS[wanted[-1]] + _BESIDE_SPARK
    remedy = "End other programs, or set spark.driver_memory lower (at least 512m)."
    _check("memory", _free_memory(), needed, f"spark.driver_memory {wanted}", remedy)
    return f"Memory: enough for spark.driver_memory {wanted}"


def existing(path: Path) -> Path:
    """The path itself, or its nearest parent that exists."""
    return next((part for part in (path, *path.parents) if part.exists()), Path(path.anchor))


def _free_memory() -> int | None:
    """The memory that is available, or the total where the system does not tell."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _check(kind: str, free: int | None, needed: int, where: str, remedy: str) -> None:
    if free is not None and free < needed:
        sizes = f"{free / 1024**2:,.0f} MB free, {needed / 1024**2:,.0f} MB needed"
        raise ConfigError(f"not enough {kind}: {sizes}", where=where, remedy=remedy)
