"""Asking Kafka again for a while, for whoever has more to lose than time."""

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


class Patience:
    """`check` is called before each question and may end it; `say` is told once what is waited
    for. `waited` is how many seconds that has taken so far."""

    def __init__(self, check: Callable[[], None], say: Callable[[str], None]) -> None:
        self.waited = 0.0
        self._check = check
        self._say = say

    def ask(self, question: Callable[[], _Answer]) -> _Answer:
        """The answer; LinkError when there is none for minutes, and at once for what does not pass
        by itself: a topic or a right that is missing."""
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
