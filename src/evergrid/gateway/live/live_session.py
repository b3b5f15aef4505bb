"""One client's session: its messages in, actions out. No I/O; callers pass the time in.

1. The first message is `hello`, in time and with a valid key.
2. The table's name, the key's rights and the window's size are checked before the engine is asked.
3. An error of one window is reported for that window; the others continue.
4. A violation of the protocol ends the connection with its error code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.access_key import AccessKey, KeyFinder
from evergrid.gateway.access.limits import ConnectionSlot, TokenBucket
from evergrid.gateway.access.request_checks import check_query, check_rights, check_window, shown
from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.engine.deliveries import Rejected, StateChanged, SubscriberId
from evergrid.gateway.live.session_actions import (
    Action,
    CloseWindow,
    EndConnection,
    MoveWindow,
    OpenWindow,
    SendMessage,
)
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import (
    MAX_SUB,
    PROTOCOL,
    ClientMessage,
    Close,
    Closed,
    Heart,
    Hello,
    Move,
    Open,
    ServerHeart,
    Welcome,
    decode_client,
    failed,
)
from evergrid.views.view_query import Window

HEARTBEAT_SECONDS = 5.0
SILENCE_SECONDS = 15.0  # three heartbeats: a client may miss one while it is busy, not three


class SessionContext(msgspec.Struct, frozen=True):
    """What all sessions share; `next_subscriber` returns a number that was never used before."""

    instance: str
    server: str
    limits: GatewayLimits
    keys: KeyFinder
    next_subscriber: Callable[[], SubscriberId]


class _OpenWindow(msgspec.Struct, frozen=True):
    subscriber: SubscriberId
    table: str


class _Sub(msgspec.Struct):
    """The part of an invalid message that says which window it is about."""

    sub: int


_sub_decoder = msgspec.json.Decoder(_Sub)

# The decoder's errors name the part that is wrong. People type filters and orders, so an error
# in these ends the window that asked, and not the connection.
_TYPED_BY_PEOPLE = re.compile(r"`\$\.(filter|order)\b")
_CODES = {"filter": Code.BAD_FILTER, "order": Code.BAD_ORDER}


class LiveSession:
    """`key` was proved by the handshake; `phase` (0 to 1) spreads heartbeats over time."""

    def __init__(
        self,
        context: SessionContext,
        slot: ConnectionSlot,
        key: AccessKey | None,
        now: float,
        phase: float,
    ) -> None:
        self._context = context
        self._slot = slot
        self._handshake_key = key
        self._key: AccessKey | None = None
        self._bucket = TokenBucket(context.limits.messages_per_second, now)
        self._connected_at = now
        self._active_at = now
        self._heartbeat_due = now + HEARTBEAT_SECONDS * phase
        self._windows: dict[int, _OpenWindow] = {}
        self._subs: dict[SubscriberId, int] = {}
        self._ended = False

    @property
    def subscribers(self) -> tuple[SubscriberId, ...]:
        return tuple(self._subs)

    @property
    def key_name(self) -> str:
        """The name of the key that it has logged in with; empty before."""
        return self._key.name if self._key else ""

    # From the client

    def receive(self, text: str, now: float) -> Sequence[Action]:
        """A text message."""
        self._active_at = now
        return self._until_end(self._received(text, now))

    def receive_ping(self, now: float) -> Sequence[Action]:
        """A ping or pong: it counts as a message, and as a sign of life."""
        self._active_at = now
        return () if self._bucket.take(now) else self._until_end((self._too_many_messages(),))

    def is_reading(self, now: float) -> None:
        """The client is reading a large frame: it counts as a sign of life."""
        self._active_at = now

    # From the engine

    def state_changed(self, delivery: StateChanged) -> Sequence[Action]:
        """Send a window's state, unless the client has closed it."""
        sub = self._subs.get(delivery.subscriber)
        if sub is None:
            return ()
        return self._until_end((SendMessage(delivery.state.of_window(sub)),))

    def rejected(self, delivery: Rejected) -> Sequence[Action]:
        """The engine cannot serve this window: its number is free again."""
        sub = self._subs.get(delivery.subscriber)
        if sub is None:
            return ()
        self._forget(sub)
        close = CloseWindow(sub, delivery.subscriber, by_engine=True)
        return self._until_end((close, SendMessage(failed(delivery.code, delivery.message, sub))))

    # From the connection

    def end(self, code: Code, message: str) -> Sequence[Action]:
        """End the session for a reason found outside it."""
        return self._until_end((EndConnection(code, message),))

    def check(self, now: float, time: int) -> Sequence[Action]:
        """What is due: a heartbeat (with `time` in it), or the end of the session."""
        return self._until_end(self._due(now, time))

    def _until_end(self, actions: Iterable[Action]) -> Sequence[Action]:
        """The actions up to the end of the connection, which nothing follows."""
        done: list[Action] = []
        if self._ended:
            return done
        for action in actions:
            done.append(action)
            if isinstance(action, EndConnection):
                self._ended = True
                break
        return done

    def _received(self, text: str, now: float) -> Iterator[Action]:
        if not self._bucket.take(now):
            yield self._too_many_messages()
            return
        # A text of n characters has at least n bytes, so most need not be encoded to be measured.
        most = self._context.limits.message_bytes
        if len(text) > most or len(text.encode("utf-8", "replace")) > most:
            yield EndConnection(
                Code.TOO_LARGE, f"message too large: the limit is {most} bytes. Ask for less."
            )
            return
        try:
            message = decode_client(text)
        except RecursionError:
            yield EndConnection(Code.BAD_MESSAGE, "bad message: nested too deep.")
        except (msgspec.MsgspecError, ValueError) as error:
            yield self._bad_message(text, str(error))
        else:
            yield from self._handle(message)

    def _bad_message(self, text: str, error: str) -> Action:
        if self._key is not None and (part := _TYPED_BY_PEOPLE.search(error)):
            try:
                sub = _sub_decoder.decode(text).sub
            except (msgspec.MsgspecError, RecursionError, ValueError):
                sub = -1
            if 0 <= sub <= MAX_SUB:
                return SendMessage(failed(_CODES[part[1]], f"{error}.", sub))
        return EndConnection(
            Code.BAD_MESSAGE, f"bad message: not one of protocol {PROTOCOL}: {error}."
        )

    def _too_many_messages(self) -> EndConnection:
        most = self._context.limits.messages_per_second
        return EndConnection(
            Code.TOO_MANY_MESSAGES,
            f"rate limit exceeded: more than {most} messages a second. Send fewer, then connect "
            "again.",
        )

    def _handle(self, message: ClientMessage) -> Iterator[Action]:
        if isinstance(message, Hello):
            yield from self._handle_hello(message)
        elif self._key is None:
            yield EndConnection(
                Code.NOT_LOGGED_IN,
                "authentication required: the first message must be hello, with a key.",
            )
        elif isinstance(message, Heart):
            return
        elif not 0 <= message.sub <= MAX_SUB:
            yield EndConnection(
                Code.BAD_MESSAGE,
                f"bad message: sub is {shown(message.sub)}. Number windows 0 to {MAX_SUB}.",
            )
        else:
            try:
                yield from self._handle_window(message, self._key)
            except RequestError as error:
                yield SendMessage(failed(error.code, error.sentence(), message.sub))

    def _handle_hello(self, hello: Hello) -> Iterator[Action]:
        if self._key is not None:
            yield EndConnection(Code.ALREADY_LOGGED_IN, "already logged in: send hello only once.")
        elif hello.protocol != PROTOCOL:
            yield EndConnection(
                Code.UNSUPPORTED_PROTOCOL,
                f"unsupported protocol {shown(hello.protocol)}: this gateway has {PROTOCOL}.",
            )
        else:
            yield self._log_in(hello.key)

    def _log_in(self, secret: str) -> Action:
        try:
            if secret:
                found = self._context.keys.find(secret)
            elif self._handshake_key is not None:
                found = self._context.keys.current(self._handshake_key)
            else:
                what = "authentication required: there is no key in hello."
                return EndConnection(Code.NOT_LOGGED_IN, what)
            if self._slot.key is None:
                self._slot.log_in(found.name)
        except RequestError as error:
            return EndConnection(error.code, error.sentence(), error.key)
        if self._slot.key != found.name:
            return EndConnection(
                Code.BAD_KEY, "authentication failed: hello and handshake have different keys."
            )
        self._key = found
        return SendMessage(self._welcome(found))

    def _welcome(self, key: AccessKey) -> Welcome:
        limits = self._context.limits
        return Welcome(
            protocol=PROTOCOL,
            instance=self._context.instance,
            server=self._context.server,
            key=key.name,
            control=key.control,
            heart_seconds=HEARTBEAT_SECONDS,
            max_windows=limits.windows_per_connection,
            max_rows=limits.window_rows,
            max_message_bytes=limits.message_bytes,
        )

    def _handle_window(self, message: Open | Move | Close, key: AccessKey) -> Iterator[Action]:
        if isinstance(message, Open):
            yield self._open(message, key)
            return
        open_window = self._windows.get(message.sub)
        if open_window is None:
            raise RequestError(Code.UNKNOWN_SUB, f"unknown window {message.sub}: it is not open")
        if isinstance(message, Move):
            window = Window(message.offset, message.limit)
            check_window(window, self._context.limits.window_rows)
            yield MoveWindow(open_window.subscriber, window)
        else:
            self._forget(message.sub)
            yield CloseWindow(message.sub, open_window.subscriber)
            yield SendMessage(Closed(message.sub))

    def _open(self, message: Open, key: AccessKey) -> Action:
        if message.sub in self._windows:
            raise RequestError(
                Code.SUB_IN_USE,
                f"window {message.sub} is open already",
                remedy="Close it first, or use another number.",
            )
        check_query(message.query)
        check_rights(key, message.table)
        check_window(message.window, self._context.limits.window_rows)
        most = self._context.limits.windows_per_connection
        if len(self._windows) >= most:
            raise RequestError(
                Code.TOO_MANY_WINDOWS,
                f"too many windows: {most} are open, which is the limit",
                remedy="Close one first.",
            )
        subscriber = self._context.next_subscriber()
        self._windows[message.sub] = _OpenWindow(subscriber, message.table)
        self._subs[subscriber] = message.sub
        return OpenWindow(
            sub=message.sub,
            subscriber=subscriber,
            query=message.query,
            window=message.window,
            resume=message.resume,
        )

    def _forget(self, sub: int) -> None:
        del self._subs[self._windows.pop(sub).subscriber]

    def _due(self, now: float, time: int) -> Iterator[Action]:
        if self._key is None:
            seconds = self._context.limits.login_seconds
            if now - self._connected_at > seconds:
                yield EndConnection(Code.LOGIN_LATE, f"login timeout: no hello within {seconds} s.")
            return
        if now - self._active_at > SILENCE_SECONDS:
            yield EndConnection(
                Code.SILENT,
                f"timeout: no message for {SILENCE_SECONDS:.0f} s. Answer each heart with a heart.",
            )
            return
        yield from self._check_key(self._key)
        if now >= self._heartbeat_due:
            self._heartbeat_due = max(self._heartbeat_due + HEARTBEAT_SECONDS, now)
            yield SendMessage(ServerHeart(time))

    def _check_key(self, key: AccessKey) -> Iterator[Action]:
        """A key may have lost some of its rights, or all."""
        try:
            found = self._context.keys.current(key)
        except RequestError as error:
            yield EndConnection(error.code, error.sentence(), error.key)
            return
        if found is key:
            return
        self._key = found
        for sub, window in list(self._windows.items()):
            try:
                check_rights(found, window.table)
            except RequestError as error:
                self._forget(sub)
                yield CloseWindow(sub, window.subscriber)
                yield SendMessage(failed(error.code, error.sentence(), sub))
