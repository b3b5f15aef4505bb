"""A log without repetitions: librdkafka reports a broker that is down again and again for hours."""

from __future__ import annotations

import logging
import re
import threading
import time

REPEAT_SECONDS = 60.0
_MOST_TEXTS = 256  # beyond that all are forgotten and may be logged again

_VARYING = re.compile(r"\d+ms|#\w+-\d+")  # waiting times and numbers of clients


class LogDedup:
    """Passes a text on to a logger at most once a minute.

    It has the one method of a logger that the Kafka client calls.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def log(self, level: int, text: str, *values: object) -> None:
        message = text % values if values else text
        key = _VARYING.sub("", message)
        now = time.monotonic()
        with self._lock:
            if now < self._next.get(key, 0.0):
                return
            if len(self._next) >= _MOST_TEXTS:
                self._next.clear()
            self._next[key] = now + REPEAT_SECONDS
        self._logger.log(level, "%s", message)
