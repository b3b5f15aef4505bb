"""Combines what control messages request, and decides the verdict on each.

Messages are applied in their order to the configuration. Those without a verdict are kept in memory
only: after a restart they are read again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

from evergrid.changelog.codec import Row
from evergrid.changelog.control_message import read_request, why_not_allowed
from evergrid.changelog.manifest import Choices, RequestedChanges
from evergrid.changelog.writer import TableWriter
from evergrid.config.settings import Settings, requested_settings
from evergrid.kafka import topics
from evergrid.model.control_request import Request, Verdict, topic_words, type_words
from evergrid.model.errors import DataError, LinkError
from evergrid.orchestrator.control_reader import ControlMessage, ControlReader
from evergrid.orchestrator.generations import now
from evergrid.orchestrator.registry import Registry

_LIST_SECONDS = 30.0
_MOST_TOPICS = 1000


class ControlRequests:
    """Messages in, one wanted configuration out, and a verdict on each message.

    Verdicts are collected as `rows` of `control_raw`; the caller writes and clears them.
    """

    def __init__(self, settings: Settings, before: RequestedChanges) -> None:
        self._settings = settings
        self.asked = before  # the decided requests, for the manifest
        self.rows: dict[str, Row] = {}  # verdicts that are not written yet, by row id
        self._open: list[ControlMessage] = []  # all of them ask for the same
        self._so_far = (Verdict.WAITING, "", 0)  # what became of them
        self._request = before.request  # all messages so far
        self._next = dict(before.next)
        self._topic_id = before.topic_id
        self.wanted = _wanted(settings, self._request)  # with all requests applied

    @property
    def cause(self) -> str:
        """The row id of the first message with the open request; empty if there is none."""
        return self._open[0].row_id if self._open else ""

    def has_settled(self, row_id: str) -> bool:
        """Whether a message has been decided."""
        partition, _, offset = row_id.partition(":")
        return int(offset) < self.asked.next.get(int(partition), 0)

    def take(self, messages: Sequence[ControlMessage], topic_id: str) -> None:
        """Decide new messages; the last valid one waits, with others that request the same."""
        if topic_id != self._topic_id:
            self._topic_id, self._next = topic_id, {}
        for message in messages:
            if message.offset < self._next.get(message.partition, 0):
                continue  # read again after the reader was made anew
            self._next[message.partition] = message.offset + 1
            try:
                request = read_request(message.value, self._settings).over(self._request)
                wanted = requested_settings(self._settings, request)
            except DataError as refused:
                self._judge(message, Verdict.INVALID, _capital(refused.sentence()))
                continue
            if self._open and wanted == self.wanted:
                self._open.append(message)
                self._judge(message, *self._so_far)
                continue
            for earlier in self._open:
                sender = f", sent by {message.by}," if message.by else ""
                reason = f"Message {message.row_id}{sender} came before this one was live."
                self._judge(earlier, Verdict.SUPERSEDED, reason)
            self._open = [message]
            self._request, self.wanted = request, wanted
            self._judge_open(Verdict.WAITING)
        if not self._open:
            self._settle_all()

    def preparing(self, generation: int) -> None:
        """Record which generation is prepared for the request."""
        self._judge_open(Verdict.PREPARING, generation=generation)

    def settle(self, verdict: Verdict, reason: str, generation: int) -> None:
        """Record the outcome of the request; a failed request is dropped."""
        self._judge_open(verdict, reason, generation)
        self._open = []
        if verdict is Verdict.FAILED:
            self._request = self.asked.request
            self.wanted = _wanted(self._settings, self._request)
        self._settle_all()

    def _settle_all(self) -> None:
        self.asked = RequestedChanges(
            self._topic_id, dict(self._next), self._request.topics, self._request.types
        )

    def _judge_open(self, verdict: Verdict, reason: str = "", generation: int = 0) -> None:
        self._so_far = (verdict, reason, generation)
        for message in self._open:
            self._judge(message, *self._so_far)

    def _judge(
        self, message: ControlMessage, verdict: Verdict, reason: str, generation: int = 0
    ) -> None:
        shown = (message.value or b"").decode(errors="replace")
        self.rows[message.row_id] = {
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


class ControlInbox:
    """Reads control messages, and publishes the allowed topics and each verdict."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        verdicts: TableWriter,
        say: Callable[[str], None],
    ) -> None:
        self.requests = ControlRequests(settings, registry.manifest.asked)
        self._settings = settings
        self._registry = registry
        self._verdicts = verdicts
        self._reader = ControlReader(settings, say)
        self._list_at = 0.0

    @property
    def has_read(self) -> bool:
        """Whether all messages sent before the start have been read."""
        return self._reader.has_read

    def open(self) -> None:
        """Read the messages sent before the start."""
        self._take(self._reader.open(self.requests.asked))

    def update(self) -> None:
        """Read and answer while the pipeline waits; ignore a broker that is away."""
        with contextlib.suppress(LinkError):
            self.read()
            self.write_verdicts()

    def read(self) -> None:
        self._take(self._reader.read(self.requests.asked))

    def write_verdicts(self) -> None:
        """Write verdicts before the position in the topic: settled messages are not read again."""
        self._verdicts.put(*self.requests.rows.values())
        self.requests.rows.clear()
        self._registry.tell(self.requests.asked)
        if time.monotonic() >= self._list_at:
            self._list_at = time.monotonic() + _LIST_SECONDS
            self._list_allowed_topics()

    def _take(self, messages: Sequence[ControlMessage]) -> None:
        if messages:  # without any, the topic may not even have been found
            self.requests.take(messages, self._reader.topic_id)

    def _list_allowed_topics(self) -> None:
        """Publish the topics that exist and that control messages may name."""
        settings = self._settings
        there = topics.partitions(settings.kafka.source)
        allowed = sorted(name for name in there if not why_not_allowed(settings, name))
        self._registry.tell(
            Choices(
                topic=settings.control.topic,
                topics=tuple(allowed[:_MOST_TOPICS]),
                sources=topic_words(settings.sources),
                joins=type_words(settings.joins),
                grace_seconds=settings.control.grace_seconds,
            )
        )


def _wanted(settings: Settings, request: Request) -> Settings:
    """A request may not fit a changed configuration; then the configuration is used."""
    try:
        return requested_settings(settings, request)
    except DataError:
        return settings


def _capital(sentence: str) -> str:
    text = sentence[:1].upper() + sentence[1:]
    return text if text.endswith(".") else f"{text}."
