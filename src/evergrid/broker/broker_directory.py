"""The directory of an embedded broker: its log settings, free space, settings file and errors."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from evergrid.model.errors import ConfigError
from evergrid.process.private_directory import make_private

LOG_SETTINGS_FILE = Path(__file__).with_name("log4j2.properties")
LEAST_FREE_BYTES = 512 * 1024 * 1024

_ERROR = re.compile(r"^\S+ (?:ERROR|FATAL) (.+)$", re.MULTILINE)
_CAUSE = re.compile(r"^(?:Caused by: )?([\w.$]+(?:Exception|Error): .+)$", re.MULTILINE)


def make(directory: Path, report: Callable[[str], None]) -> None:
    """Create the directory and the settings of its log; an existing one is fine."""
    make_private(directory, report)
    (directory / "log").mkdir(exist_ok=True)
    shutil.copyfile(LOG_SETTINGS_FILE, directory / LOG_SETTINGS_FILE.name)


def check_space(directory: Path) -> None:
    """ConfigError when the disk is nearly full: a broker that runs out of space fails."""
    free = shutil.disk_usage(directory).free
    if free < LEAST_FREE_BYTES:
        raise ConfigError(
            f"the broker's disk has {free // 2**20} MB free, and it needs "
            f"{LEAST_FREE_BYTES // 2**20} MB",
            where=str(directory),
            remedy="Free some space, or choose a directory on another disk.",
        )


def java_properties(settings: Mapping[str, str]) -> str:
    """The content of a `.properties` file, in ASCII; its escapes are those of JSON."""
    return "".join(f"{key}={json.dumps(value)[1:-1]}\n" for key, value in settings.items())


def cluster_id(directory: Path) -> str:
    """The id that the data was formatted with, which tells our broker from another."""
    text = (directory / "data" / "meta.properties").read_text()
    found = re.search(r"^cluster\.id=(.+)$", text, re.MULTILINE)
    return found[1].strip().replace("\\", "") if found else ""


def last_failure(directory: Path, log_start: int) -> str:
    """Why the broker ended: its last error since `log_start`, or else what Java printed."""
    logged = _read_from(directory / "log" / "broker.log", log_start)
    if errors := list(_ERROR.finditer(logged)):
        return _with_cause(errors[-1][1], logged[errors[-1].end() :])
    printed = _read_from(directory / "log" / "console.log", 0)
    lines = [line for line in printed.splitlines() if line and not line[0].isspace()]
    return _with_cause(lines[-1], printed) if lines else "no error was logged"


def _with_cause(error: str, trace: str) -> str:
    """The error and its innermost cause, which Java prints last."""
    causes = [cause for cause in _CAUSE.findall(trace) if cause not in error]
    return f"{error} ({causes[-1]})" if causes else error


def _read_from(path: Path, position: int) -> str:
    try:
        with path.open("rb") as file:
            # A file shorter than before was rotated: all of it is new.
            file.seek(position if path.stat().st_size >= position else 0)
            return file.read().decode(errors="replace")
    except OSError:
        return ""
