"""Control over HTTP: what may be asked for, and handing a control message to Kafka.

The gateway looks at who asks and at what; whether it can be done the pipeline says, in the
table `control_raw`. Every attempt of a known key leaves a line, so that it can be told later
who changed what everybody sees.
"""

from __future__ import annotations

import asyncio
import datetime
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import msgspec
from aiohttp import hdrs, web

from evergrid.changelog.control_message import LARGEST_BYTES
from evergrid.changelog.manifest import Manifest
from evergrid.gateway.entry.answers import JSON, json_answer
from evergrid.gateway.entry.gate import Say, proven_key
from evergrid.gateway.entry.key import PREFIX, Key
from evergrid.gateway.entry.limits import Buckets
from evergrid.gateway.entry.refusal import Refusal
from evergrid.gateway.http.counts import SENT, Counts
from evergrid.gateway.tables.pipeline import PipelineInfo
from evergrid.kafka.sending import Sent
from evergrid.model.control import Request
from evergrid.model.errors import DataError, EvergridError
from evergrid.model.join import JoinType
from evergrid.model.printable import printable
from evergrid.protocol.codes import Code

PER_SECOND = 5.0  # of one key; twice as many at once after a pause

_BODY_SECONDS = 10.0
_ANSWER_SECONDS = 15.0
_AT_ONCE = 4
_SHOWN = 300
_SECRET = re.compile(rf"\b{PREFIX}[\w-]{{20,}}")
_AGAIN = "Send it again: what is asked for twice is done once."


class ControlTopic(Protocol):
    """Where control messages go; `send` waits, and is called in a thread."""

    def name(self, manifest: Manifest) -> str: ...
    def read(self, value: bytes, manifest: Manifest) -> Request: ...
    def send(self, value: bytes, by: str, manifest: Manifest) -> Sent: ...


class Pipeline(Protocol):
    async def pipeline(self) -> PipelineInfo: ...


class SourceChoice(msgspec.Struct, frozen=True):
    """`field` is the word that names its topic in a message; `topic` is what it reads now."""

    name: str
    field: str
    topic: str


class JoinChoice(msgspec.Struct, frozen=True):
    name: str
    field: str
    type: str


class Choices(msgspec.Struct, frozen=True):
    """`topics` may be named for every source; all is empty until a pipeline has run."""

    topic: str
    topics: Sequence[str]
    sources: Sequence[SourceChoice]
    joins: Sequence[JoinChoice]
    types: Sequence[JoinType] = tuple(JoinType)


class ChoicesAnswer(msgspec.Struct, frozen=True):
    control: Choices


class Place(msgspec.Struct, frozen=True):
    """Of the message on its topic; `control_raw` has its verdict under `partition:offset`."""

    partition: int
    offset: int


class SentAnswer(msgspec.Struct, frozen=True):
    sent: Place


class Control:
    """Answers at /api/control."""

    def __init__(self, pipeline: Pipeline, topic: ControlTopic, counts: Counts, say: Say) -> None:
        self._pipeline = pipeline
        self._topic = topic
        self._counts = counts
        self._say = say
        self._buckets = Buckets(PER_SECOND)
        self._over: set[str] = set()  # keys that were told so, and not let through since
        # Kafka may take seconds to say no; nobody else's request must wait for that.
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="evergrid-control")

    def close(self) -> None:
        """Send nothing more; what Kafka has in hand ends by itself."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def choices(self, request: web.Request) -> web.StreamResponse:
        _check_right(proven_key(request))
        return json_answer(ChoicesAnswer(choices_of((await self._pipeline.pipeline()).manifest)))

    async def ask(self, request: web.Request) -> web.StreamResponse:
        key = proven_key(request)
        message = None
        try:
            self._count_in(key)
            message = await _body(request)
            _check_right(key)
            _check_type(request)
            sent = await self._send(message, key)
        except Refusal as refusal:
            self._record(key, message, refusal.code, refusal.sentence())
            raise
        self._record(key, message, None, f"sent to {sent.topic} as {sent.partition}:{sent.offset}.")
        return json_answer(SentAnswer(Place(sent.partition, sent.offset)), 202)

    def _count_in(self, key: Key) -> None:
        if not self._buckets.take(key.name, time.monotonic()):
            raise Refusal(
                Code.TOO_MANY_MESSAGES,
                f"a key may send {PER_SECOND:.0f} control messages a second",
                remedy="Wait a second, and send only the last one.",
            )
        self._over.discard(key.name)

    async def _send(self, message: bytes, key: Key) -> Sent:
        manifest = (await self._pipeline.pipeline()).manifest
        try:
            self._topic.read(message, manifest)
        except DataError as error:
            raise Refusal(
                Code.BAD_CONTROL,
                f"the message is no control message: {error.what}",
                remedy="GET /api/control says what may be asked for.",
            ) from None
        return await self._hand_over(message, f"key {key.name}", manifest)

    async def _hand_over(self, message: bytes, by: str, manifest: Manifest) -> Sent:
        loop = asyncio.get_running_loop()
        sending = loop.run_in_executor(self._pool, self._topic.send, message, by, manifest)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await sending
        except TimeoutError:
            what = f"Kafka did not take the message within {_ANSWER_SECONDS:.0f} s"
            raise Refusal(Code.NOT_SENT, what, remedy=_AGAIN) from None
        except EvergridError as error:
            what = f"Kafka did not take the message: {error.sentence()}"
            raise Refusal(Code.NOT_SENT, what, remedy=_AGAIN) from None

    def _record(self, key: Key, message: bytes | None, code: Code | None, verdict: str) -> None:
        """Count it and leave a line; of those over the limit one, or they would fill the log."""
        self._counts.control[code.value if code else SENT] += 1
        if code is Code.TOO_MANY_MESSAGES:
            if key.name in self._over:
                return
            self._over.add(key.name)
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        refused = f"{code.value}: " if code else ""
        line = f"Control: key {key.name} at {at}: {_shown(message)}: {refused}{verdict}"
        self._say(_SECRET.sub(f"{PREFIX}***", printable(line)))


def choices_of(manifest: Manifest) -> Choices:
    """What the pipeline says may be asked for, beside what runs now."""
    choices, current = manifest.choices, manifest.current_generation
    sources, joins = (current.sources, current.joins) if current else ({}, {})
    return Choices(
        topic=choices.topic,
        topics=choices.topics,
        sources=[
            SourceChoice(name, field, sources[name].topic if name in sources else "")
            for name, field in choices.sources.items()
        ],
        joins=[
            JoinChoice(name, field, joins[name].type.value if name in joins else "")
            for name, field in choices.joins.items()
        ],
    )


def _check_right(key: Key) -> None:
    if not key.control:
        raise Refusal(
            Code.NO_RIGHTS,
            "this key may not send control messages",
            remedy="Ask for one that may (evergrid key create NAME --control).",
        )


def _check_type(request: web.Request) -> None:
    """Anything else would be a form that some page sends without asking first."""
    encoding = request.headers.get(hdrs.CONTENT_ENCODING, "identity")
    if request.content_type != JSON or encoding != "identity":
        raise Refusal(
            Code.BAD_CONTENT_TYPE,
            "a control message is JSON, and says so",
            remedy=f"Send it as it is, with 'Content-Type: {JSON}'.",
        )


async def _body(request: web.Request) -> bytes:
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise Refusal(
            Code.SILENT, f"the message did not come within {_BODY_SECONDS:.0f} s"
        ) from None
    except web.HTTPRequestEntityTooLarge:
        raise Refusal(
            Code.TOO_LARGE, f"a control message has at most {LARGEST_BYTES:,} bytes"
        ) from None
    except web.RequestPayloadError:
        raise Refusal(Code.BAD_PARAMETER, "the message's bytes are no HTTP") from None


def _shown(message: bytes | None) -> str:
    """As much of the message as a line of a log should hold."""
    if not message:
        return "an empty message" if message is not None else "a message that was not read"
    text = _SECRET.sub(f"{PREFIX}***", message.decode(errors="replace"))  # not half of one
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
