"""When to try again what could not be done, and when to give it up."""

from __future__ import annotations

from evergrid.config.settings import Settings
from evergrid.process.backoff import Backoff

_FIRST_WAIT_SECONDS = 2.0
_LONGEST_WAIT_SECONDS = 30.0
_MOST = 5


class Attempts:
    """Tries in vain at what is wanted; with something else they begin anew.

    `number` is that of a generation that could not even begin: the next try takes it again.
    """

    def __init__(self) -> None:
        self._of: Settings | None = None
        self._backoff = Backoff(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS)
        self.forget()

    def forget(self) -> None:
        """It was done, or given up."""
        self.number: int | None = None
        self._backoff.reset()

    def are_due(self, wanted: Settings) -> bool:
        """Whether to try now."""
        if wanted != self._of:
            self._of = wanted
            self.forget()
        return self._backoff.is_due()

    def failed(self) -> float:
        """Seconds until the next try."""
        return self._backoff.failed()

    @property
    def are_enough(self) -> bool:
        """Whether one more would be too many, for something that somebody waits for."""
        return self._backoff.failures >= _MOST
