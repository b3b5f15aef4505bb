"""The endpoint /api/control: lists what a control message may ask for, and sends messages.

The gateway checks the key and the message's form; the pipeline decides about its content and
writes the verdict to the table `control_raw`. Every attempt of a valid key is logged, so that one
can find out later who changed what everybody sees.
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
from evergrid.gateway.access.access_key import PREFIX, AccessKey
from evergrid.gateway.access.audit_log import AuditEntry, AuditEvent, AuditLog
from evergrid.gateway.access.auth_middleware import Log, proven_key
from evergrid.gateway.access.connection_limiter import client_address
from evergrid.gateway.access.json_response import JSON, json_response
from evergrid.gateway.access.limits import TokenBuckets
from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.access.traffic_counters import SENT, TrafficCounters
from evergrid.gateway.engine.table_engine import TableEngine
from evergrid.kafka.message_sender import SentPosition
from evergrid.model.control_request import Request
from evergrid.model.errors import DataError, EvergridError
from evergrid.model.join import JoinType
from evergrid.model.printable import printable
from evergrid.protocol.error_codes import Code

PER_SECOND = 5.0  # of one key; twice as many at once after a pause

_BODY_SECONDS = 10.0
_KAFKA_SECONDS = 15.0
_THREADS = 4
_LOGGED_CHARACTERS = 300
_SECRET = re.compile(rf"\b{PREFIX}[\w-]{{20,}}")
_AGAIN = "Send it again: a repeated message has no further effect."


class ControlTopic(Protocol):
    """The control topic; `send` blocks, and is called in a thread."""

    def name(self, manifest: Manifest) -> str: ...
    def read(self, value: bytes, manifest: Manifest) -> Request: ...
    def send(self, value: bytes, by: str, manifest: Manifest) -> SentPosition: ...


class SourceChoice(msgspec.Struct, frozen=True):
    """`field` names the source in a message; `topic` is the topic that it reads now."""

    name: str
    field: str
    topic: str


class JoinChoice(msgspec.Struct, frozen=True):
    name: str
    field: str
    type: str


class ControlChoices(msgspec.Struct, frozen=True):
    """`topics` are allowed for every source; everything is empty until a pipeline has run."""

    topic: str
    topics: Sequence[str]
    sources: Sequence[SourceChoice]
    joins: Sequence[JoinChoice]
    types: Sequence[JoinType] = tuple(JoinType)


class ControlResponse(msgspec.Struct, frozen=True):
    control: ControlChoices


class MessagePosition(msgspec.Struct, frozen=True):
    """The message's position on its topic; `control_raw` has the verdict as `partition:offset`."""

    partition: int
    offset: int


class SentResponse(msgspec.Struct, frozen=True):
    sent: MessagePosition


class ControlEndpoint:
    """The handlers of /api/control."""

    def __init__(
        self,
        engine: TableEngine,
        topic: ControlTopic,
        counters: TrafficCounters,
        audit: AuditLog,
        log: Log,
    ) -> None:
        self._engine = engine
        self._topic = topic
        self._counters = counters
        self._audit = audit
        self._log = log
        self._buckets = TokenBuckets(PER_SECOND)
        self._over_limit: set[str] = set()  # keys whose excess was logged, until one is allowed
        # Kafka may take seconds to fail; other requests must not wait for that.
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="evergrid-control")

    def close(self) -> None:
        """Send nothing more; messages that the Kafka client has taken end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def choices(self, request: web.Request) -> web.StreamResponse:
        _check_control_right(proven_key(request))
        manifest = (await self._engine.pipeline()).manifest
        return json_response(ControlResponse(choices_of(manifest)))

    async def send(self, request: web.Request) -> web.StreamResponse:
        key = proven_key(request)
        message = None
        entry = AuditEntry(
            AuditEvent.CONTROL, key=key.name, address=client_address(request.transport)
        )
        try:
            self._check_rate(key)
            message = await _body(request)
            _check_control_right(key)
            _check_content_type(request)
            wanted, sent = await self._send(message, key)
        except RequestError as error:
            self._record(key, message, error.code, error.sentence())
            # Not its text: what is no control message may be anything, even a secret.
            refused = msgspec.structs.replace(entry, reason=error.code.value)
            self._audit.add_repeated(refused)
            raise
        position = f"{sent.partition}:{sent.offset}"
        self._record(key, message, None, f"sent to {sent.topic} as {position}.")
        self._audit.add(msgspec.structs.replace(entry, request=wanted, message=position))
        return json_response(SentResponse(MessagePosition(sent.partition, sent.offset)), 202)

    def _check_rate(self, key: AccessKey) -> None:
        if not self._buckets.take(key.name, time.monotonic()):
            raise RequestError(
                Code.TOO_MANY_MESSAGES,
                f"rate limit exceeded: a key may send {PER_SECOND:.0f} control messages a second",
                remedy="Wait a second, and send only the last one.",
            )
        self._over_limit.discard(key.name)

    async def _send(self, message: bytes, key: AccessKey) -> tuple[Request, SentPosition]:
        manifest = (await self._engine.pipeline()).manifest
        try:
            wanted = self._topic.read(message, manifest)
        except DataError as error:
            raise RequestError(
                Code.BAD_CONTROL,
                f"bad control message: {error.what}",
                remedy="GET /api/control lists what it may ask for.",
            ) from None
        loop, by = asyncio.get_running_loop(), f"key {key.name}"
        sending = loop.run_in_executor(self._pool, self._topic.send, message, by, manifest)
        try:
            async with asyncio.timeout(_KAFKA_SECONDS):
                return wanted, await sending
        except TimeoutError:
            what = f"timeout: Kafka did not take the message within {_KAFKA_SECONDS:.0f} s"
            raise RequestError(Code.NOT_SENT, what, remedy=_AGAIN) from None
        except EvergridError as error:
            what = f"Kafka did not take the message: {error.sentence()}"
            raise RequestError(Code.NOT_SENT, what, remedy=_AGAIN) from None

    def _record(
        self, key: AccessKey, message: bytes | None, code: Code | None, verdict: str
    ) -> None:
        """Count and log an attempt; a series over the rate limit gets one line only."""
        self._counters.control[code.value if code else SENT] += 1
        if code is Code.TOO_MANY_MESSAGES:
            if key.name in self._over_limit:
                return
            self._over_limit.add(key.name)
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        refused = f"{code.value}: " if code else ""
        line = f"Control: key {key.name} at {at}: {_shown(message)}: {refused}{verdict}"
        self._log(_SECRET.sub(f"{PREFIX}***", printable(line)))


def choices_of(manifest: Manifest) -> ControlChoices:
    """What the pipeline allows, and what runs now."""
    choices, current = manifest.choices, manifest.current_generation
    sources, joins = (current.sources, current.joins) if current else ({}, {})
    return ControlChoices(
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


def _check_control_right(key: AccessKey) -> None:
    if not key.control:
        raise RequestError(
            Code.NO_RIGHTS,
            "permission denied: this key may not send control messages",
            remedy="Ask for a key that may (evergrid key create NAME --control).",
        )


def _check_content_type(request: web.Request) -> None:
    """Browsers send other types, such as forms, to any site without a preflight."""
    encoding = request.headers.get(hdrs.CONTENT_ENCODING, "identity")
    if request.content_type != JSON or encoding != "identity":
        raise RequestError(
            Code.BAD_CONTENT_TYPE,
            "unsupported content type: a control message is JSON",
            remedy=f"Send it unencoded, with 'Content-Type: {JSON}'.",
        )


async def _body(request: web.Request) -> bytes:
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise RequestError(
            Code.SILENT, f"timeout: the message did not arrive within {_BODY_SECONDS:.0f} s"
        ) from None
    except web.HTTPRequestEntityTooLarge:
        raise RequestError(
            Code.TOO_LARGE, f"message too large: the limit is {LARGEST_BYTES:,} bytes"
        ) from None
    except web.RequestPayloadError:
        raise RequestError(Code.BAD_PARAMETER, "malformed HTTP request body") from None


def _shown(message: bytes | None) -> str:
    """The message, shortened for a line of the log."""
    if not message:
        return "an empty message" if message is not None else "a message that was not read"
    text = _SECRET.sub(f"{PREFIX}***", message.decode(errors="replace"))  # before it is cut
    return text if len(text) <= _LOGGED_CHARACTERS else f"{text[:_LOGGED_CHARACTERS]}…"
