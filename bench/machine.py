"""Where a figure was measured, without which it means nothing."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import msgspec

from evergrid.broker import jars
from evergrid.process.java import java_command
from evergrid.version import __version__

ROOT = Path(__file__).resolve().parent.parent


class Machine(msgspec.Struct, frozen=True):
    """The machine and the versions of everything that took part."""

    system: str
    cores: int
    memory_gib: float
    python: str
    java: str
    spark: str
    kafka_broker: str
    kafka_client: str
    evergrid: str
    commit: str
    load_before: tuple[float, float, float]
    gateway: str = ""  # what it is made of; reports from before it have none


def look() -> Machine:
    """The facts as they are now; the load is that of the last 1, 5 and 15 minutes."""
    libraries = jars.fetch()
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=os.cpu_count() or 0,
        memory_gib=round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1024**3, 1),
        python=platform.python_version(),
        java=_java(),
        spark=version("pyspark"),
        kafka_broker=_jar_version(libraries.broker, "kafka-server"),
        kafka_client=_jar_version(libraries.spark, "kafka-clients"),
        evergrid=__version__,
        commit=commit(),
        load_before=os.getloadavg(),
        gateway=", ".join(f"{name} {version(name)}" for name in ("pyarrow", "numpy", "aiohttp")),
    )


def commit() -> str:
    """The commit that is measured, with a mark when the files differ from it."""
    revision = _git("rev-parse", "--short", "HEAD")
    if not revision:
        return "unknown"
    return f"{revision}-changed" if _git("status", "--porcelain") else revision


def _git(*arguments: str) -> str:
    try:
        ran = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return ran.stdout.strip()


def _java() -> str:
    ran = subprocess.run([java_command(), "-version"], capture_output=True, text=True, check=True)
    found = re.search(r'version "([^"]+)"', ran.stderr)
    return found[1] if found else "unknown"


def _jar_version(paths: Iterable[Path], name: str) -> str:
    for path in paths:
        if found := re.fullmatch(rf"{re.escape(name)}-(\d[\w.]*)\.jar", path.name):
            return found[1]
    return "unknown"
