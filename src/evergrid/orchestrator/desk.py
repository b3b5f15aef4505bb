"""Where control messages come in, and get their verdicts in `control_raw`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from evergrid.changelog.writer import TableWriter
from evergrid.config.settings import Settings
from evergrid.model.errors import LinkError
from evergrid.orchestrator.control import ControlReader, Message
from evergrid.orchestrator.docket import Docket
from evergrid.orchestrator.offer import Offer
from evergrid.orchestrator.registry import Registry


class Desk:
    """Hears what is asked for, and says what may be asked for and what became of it."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        verdicts: TableWriter,
        say: Callable[[str], None],
    ) -> None:
        self.docket = Docket(settings, registry.manifest.asked)
        self._registry = registry
        self._verdicts = verdicts
        self._control = ControlReader(settings, say)
        self._offer = Offer(settings, registry)

    @property
    def has_read(self) -> bool:
        """Whether what was sent before the start is known."""
        return self._control.has_read

    def open(self) -> None:
        """Take what was sent before the start."""
        self._take(self._control.open(self.docket.asked))

    def turn(self) -> None:
        """For a pipeline that has nothing else to do; a broker that is away is no error then."""
        with contextlib.suppress(LinkError):
            self.hear()
            self.answer()

    def hear(self) -> None:
        self._take(self._control.hear(self.docket.asked))

    def answer(self) -> None:
        """Write verdicts down first: what is settled is not read again."""
        rows = self.docket.rows()
        self._verdicts.put(*rows.values())
        for row_id, row in rows.items():
            self.docket.written(row_id, row)
        self._registry.remember(self.docket.asked)
        self._offer.turn()

    def _take(self, messages: Sequence[Message]) -> None:
        if messages:  # without any, the topic may not even have been found
            self.docket.take(messages, self._control.topic_id)
