"""What control messages ask for, put together, and what becomes of each.

Messages are folded in their order over the configured start. Those whose fate is open are
remembered here and nowhere else: after a restart they are read again.
"""

from __future__ import annotations

from collections.abc import Sequence

from evergrid.changelog.codec import Row
from evergrid.changelog.control_message import read_request
from evergrid.changelog.manifest import Asked
from evergrid.config.asked import asked
from evergrid.config.settings import Settings
from evergrid.model.control import Request, Verdict
from evergrid.model.errors import DataError
from evergrid.orchestrator.control import Message
from evergrid.orchestrator.generations import now


class Docket:
    """Messages in, one wanted configuration out, and a verdict on each message.

    Verdicts are collected as rows of `control_raw`, for whoever can write them.
    """

    def __init__(self, settings: Settings, before: Asked) -> None:
        self._settings = settings
        self._asked = before
        self._rows: dict[str, Row] = {}
        self._open: list[Message] = []  # all of them ask for the same
        self._so_far = (Verdict.WAITING, "", 0)  # what became of them
        self._request = before.request  # all messages so far
        self._next = dict(before.next)
        self._topic_id = before.topic_id
        self._wanted = _wanted(settings, self._request)

    @property
    def wanted(self) -> Settings:
        """The configured start with everything that was asked for."""
        return self._wanted

    @property
    def asked(self) -> Asked:
        """What is settled, for the manifest."""
        return self._asked

    @property
    def cause(self) -> str:
        """The row id of the first message that asks for what is open; empty when none does."""
        return self._open[0].row_id if self._open else ""

    def has_settled(self, row_id: str) -> bool:
        """Whether a message is among those that are settled."""
        partition, _, offset = row_id.partition(":")
        return int(offset) < self._asked.next.get(int(partition), 0)

    def take(self, messages: Sequence[Message], topic_id: str) -> None:
        """Judge new messages; the last valid one waits, with others that ask for the same."""
        if topic_id != self._topic_id:
            self._topic_id, self._next = topic_id, {}
        for message in messages:
            if message.offset < self._next.get(message.partition, 0):
                continue  # read again after the reader was made anew
            self._next[message.partition] = message.offset + 1
            try:
                request = read_request(message.value, self._settings).over(self._request)
                wanted = asked(self._settings, request)
            except DataError as refused:
                self._judge(message, Verdict.INVALID, _capital(refused.sentence()))
                continue
            if self._open and wanted == self._wanted:
                self._open.append(message)
                self._judge(message, *self._so_far)
                continue
            for earlier in self._open:
                sender = f", sent by {message.by}," if message.by else ""
                reason = f"Message {message.row_id}{sender} came before this one was live."
                self._judge(earlier, Verdict.SUPERSEDED, reason)
            self._open = [message]
            self._request, self._wanted = request, wanted
            self._so_far = (Verdict.WAITING, "", 0)
            self._judge(message, *self._so_far)
        if not self._open:
            self._settle_all()

    def preparing(self, generation: int) -> None:
        """Say which generation is made for what is asked."""
        self._so_far = (Verdict.PREPARING, "", generation)
        for message in self._open:
            self._judge(message, *self._so_far)

    def settle(self, verdict: Verdict, reason: str, generation: int) -> None:
        """Say what became of what is asked; what failed is not asked for any more."""
        for message in self._open:
            self._judge(message, verdict, reason, generation)
        self._open = []
        if verdict is Verdict.FAILED:
            self._request = self._asked.request
            self._wanted = _wanted(self._settings, self._request)
        self._settle_all()

    def rows(self) -> dict[str, Row]:
        """Verdicts that are not written yet, by row id."""
        return dict(self._rows)

    def written(self, row_id: str, row: Row) -> None:
        """A verdict is on the broker."""
        if self._rows.get(row_id) is row:
            del self._rows[row_id]

    def _settle_all(self) -> None:
        self._asked = Asked(
            self._topic_id, dict(self._next), self._request.topics, self._request.types
        )

    def _judge(self, message: Message, verdict: Verdict, reason: str, generation: int = 0) -> None:
        shown = (message.value or b"").decode(errors="replace")
        self._rows[message.row_id] = {
            "message": shown[: self._settings.limits.quarantine_characters],
            "verdict": verdict.value,
            "reason": reason or None,
            "generation": generation or None,
            "by": message.by or None,
            "decided": now(),
            "ts": message.ts,
            "_partition": message.partition,
            "_offset": message.offset,
        }


def _wanted(settings: Settings, request: Request) -> Settings:
    """What was asked of an earlier configuration may not fit this one: then this one counts."""
    try:
        return asked(settings, request)
    except DataError:
        return settings


def _capital(sentence: str) -> str:
    text = sentence[:1].upper() + sentence[1:]
    return text if text.endswith(".") else f"{text}."
