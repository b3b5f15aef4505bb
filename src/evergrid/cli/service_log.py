"""The log of a service on standard output: a line of text or a JSON object for each entry."""

from __future__ import annotations

import datetime
import logging
import time

import msgspec

from evergrid.config.settings import Log, LogFormat, LogLevel

_LOG = logging.getLogger("evergrid.log")
_LOG.propagate = False


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%H:%M:%S", time.localtime(record.created))
        ids = "".join(f" {name}={_shown(value)}" for name, value in _ids(record).items())
        return f"{at} {record.getMessage()}{ids}"


class _Json(logging.Formatter):
    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.datetime.fromtimestamp(record.created, datetime.UTC)
        entry = {
            "at": at.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "part": self._part,
            "message": record.getMessage(),
            **_ids(record),
        }
        return msgspec.json.encode(entry).decode()


class _StandardOutput(logging.Handler):
    """Writes lines at once. A reader that is gone is the caller's affair, as with `print`."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), flush=True)


def _ids(record: logging.LogRecord) -> dict[str, object]:
    found: dict[str, object] = getattr(record, "ids", {})
    return found


def _shown(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def start_log(settings: Log, part: str) -> None:
    """Log as the settings say, from now on; `part` is the command that logs."""
    handler = _StandardOutput()
    handler.setFormatter(_Json(part) if settings.format is LogFormat.JSON else _Text())
    _LOG.handlers[:] = [handler]
    _LOG.setLevel(logging.DEBUG if settings.level is LogLevel.DEBUG else logging.INFO)


def say(text: str) -> None:
    """A line of the log."""
    if not any(isinstance(handler, _StandardOutput) for handler in _LOG.handlers):
        start_log(Log(LogFormat.TEXT, LogLevel.INFO), "")
    _LOG.info("%s", text)
