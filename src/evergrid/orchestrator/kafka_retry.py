"""Repeats requests to Kafka for a while, where giving up would lose finished work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from evergrid.kafka.diagnosis import AccessError, Step
from evergrid.kafka.topics import MissingTopic
from evergrid.model.errors import LinkError

_ENOUGH_SECONDS = 180.0
_AGAIN_SECONDS = 0.3
_Answer = TypeVar("_Answer")


class KafkaRetry:
    """Repeats a request until Kafka answers it.

    `check` is called before each request and may raise; `say` gets the reason for waiting, once.
    `waited` is the time that has taken so far, in seconds.
    """

    def __init__(self, check: Callable[[], None], say: Callable[[str], None]) -> None:
        self.waited = 0.0
        self._check = check
        self._say = say

    def ask(self, question: Callable[[], _Answer]) -> _Answer:
        """Return the answer. LinkError after minutes without one, or at once if a topic or a
        permission is missing."""
        began = time.monotonic()
        told = ""
        while True:
            self._check()
            asked_at = time.monotonic()
            try:
                return question()
            except LinkError as error:
                if not _passes(error) or time.monotonic() - began > _ENOUGH_SECONDS:
                    raise
                if error.sentence() != told:
                    told = error.sentence()
                    self._say(f"{told} Going on when that is over.")
            time.sleep(_AGAIN_SECONDS)
            self.waited += time.monotonic() - asked_at


def _passes(error: LinkError) -> bool:
    if isinstance(error, AccessError):
        return error.step is not Step.RIGHT
    return not isinstance(error, MissingTopic)
