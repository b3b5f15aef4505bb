"""A log that says a thing once: a broker that is down makes librdkafka repeat itself for hours."""

from __future__ import annotations

import logging
import re
import threading
import time

REPEAT_SECONDS = 60.0
_REMEMBERED = 256  # different texts; beyond that all are forgotten and may be said again

_VARYING = re.compile(r"\d+ms|#\w+-\d+")  # waiting times and numbers of clients


class Quiet:
    """Passes on to a logger what it has not passed on within the last minute.

    It has the one method that the Kafka client calls of a logger.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def log(self, level: int, text: str, *values: object) -> None:
        said = text % values if values else text
        key = _VARYING.sub("", said)
        now = time.monotonic()
        with self._lock:
            if now < self._next.get(key, 0.0):
                return
            if len(self._next) >= _REMEMBERED:
                self._next.clear()
            self._next[key] = now + REPEAT_SECONDS
        self._logger.log(level, "%s", said)
