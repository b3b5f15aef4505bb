"""Clients' requests to the engine, by access key: keys take turns, one request each."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]


class RequestQueue:
    """Requests of one key stay in order; those of different keys take turns. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: dict[str, deque[Job]] = {}  # the first key is the next to be served

    def __bool__(self) -> bool:
        return bool(self._keys)

    def put(self, key: str, job: Job) -> None:
        with self._lock:
            self._keys.setdefault(key, deque()).append(job)

    def take(self) -> Job | None:
        """The next request; its key goes to the end of the line."""
        with self._lock:
            if not self._keys:
                return None
            key = next(iter(self._keys))
            jobs = self._keys.pop(key)
            job = jobs.popleft()
            if jobs:
                self._keys[key] = jobs
            return job
