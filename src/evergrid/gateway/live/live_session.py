"""One client's conversation: its words in, what to say and do out. No I/O, no clock.

1. The first message is `hello`, in time and with a good key.
2. Each window is checked for name, rights and size before the engine hears of it.
3. A fault of one window is said about that window; the others go on.
4. What breaks the protocol itself ends the connection, with its code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from evergrid.gateway.access.access_key import Key, KeyProblem
from evergrid.gateway.access.limits import Bucket, Visit
from evergrid.gateway.access.request_checks import check_query, check_rights, check_window, shown
from evergrid.gateway.access.request_error import Refusal
from evergrid.gateway.engine.deliveries import Refused, Ticket, Told
from evergrid.gateway.live.session_actions import (
    Action,
    CloseWindow,
    End,
    MoveWindow,
    OpenWindow,
    Say,
)
from evergrid.gateway.live.session_context import HEART_SECONDS, SILENCE_SECONDS, Place
from evergrid.protocol.codes import Code
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
    State,
    decode_client,
    failed,
)
from evergrid.views.query import Window


class _Window(msgspec.Struct, frozen=True):
    ticket: Ticket
    table: str


class _Sub(msgspec.Struct):
    """As much of a bad message as says which window it was about."""

    sub: int


_subs = msgspec.json.Decoder(_Sub)

# Where a message went wrong, as the decoder says it. These two parts are forms that people
# fill in, so their mistakes cost the window that asked and not the connection.
_FORM = re.compile(r"`\$\.(filter|order)\b")
_FORM_CODES = {"filter": Code.BAD_FILTER, "order": Code.BAD_ORDER}


class Session:
    """`key` is one that the handshake proved; `phase` (0 to 1) spreads hearts over time."""

    def __init__(
        self, place: Place, visit: Visit, key: Key | None, now: float, phase: float
    ) -> None:
        self._place = place
        self._visit = visit
        self._proved = key
        self._key: Key | None = None
        self._bucket = Bucket(place.limits.messages_per_second, now)
        self._came = now
        self._heard = now
        self._heart_due = now + HEART_SECONDS * phase
        self._windows: dict[int, _Window] = {}
        self._subs: dict[Ticket, int] = {}
        self._over = False

    @property
    def tickets(self) -> tuple[Ticket, ...]:
        return tuple(self._subs)

    def receive(self, text: str, now: float) -> Sequence[Action]:
        """What follows from one text message."""
        self._heard = now
        return self._until_end(self._answer(text, now))

    def knock(self, now: float) -> Sequence[Action]:
        """A ping: it counts as a message, and as a sign of life."""
        self._heard = now
        return () if self._bucket.take(now) else self._until_end((self._flood(),))

    def moved(self, now: float) -> None:
        """The client is still reading: busy with a large frame, it is not silent."""
        self._heard = now

    def refuse(self, code: Code, message: str) -> Sequence[Action]:
        """The end, for a reason found outside."""
        return self._until_end((End(code, message),))

    def look(self, now: float, time: int) -> Sequence[Action]:
        """What is due by now: a heart (`time` is what it says), or an end."""
        return self._until_end(self._due(now, time))

    def told(self, told: Told) -> Sequence[Action]:
        """How a window is, for its client; nothing when the client closed it meanwhile."""
        sub = self._subs.get(told.ticket)
        if sub is None:
            return ()
        _, *words = msgspec.structs.astuple(told)
        return self._until_end((Say(State(sub, *words)),))

    def refused(self, refused: Refused) -> Sequence[Action]:
        """The engine cannot open it: its number is free again."""
        sub = self._subs.get(refused.ticket)
        if sub is None:
            return ()
        self._forget(sub)
        gone = CloseWindow(sub, refused.ticket, heard=False)
        return self._until_end((gone, Say(failed(refused.code, refused.message, sub))))

    def _until_end(self, actions: Iterable[Action]) -> Sequence[Action]:
        """Nothing follows an end, whoever found a reason for it."""
        done: list[Action] = []
        if self._over:
            return done
        for action in actions:
            done.append(action)
            if isinstance(action, End):
                self._over = True
                break
        return done

    def _answer(self, text: str, now: float) -> Iterator[Action]:
        if not self._bucket.take(now):
            yield self._flood()
            return
        # A text of n characters has at least n bytes: most are seen to be too long unencoded.
        most = self._place.limits.message_bytes
        if len(text) > most or len(text.encode("utf-8", "replace")) > most:
            yield End(Code.TOO_LARGE, f"a message may have {most} bytes. Ask for less at once.")
            return
        try:
            message = decode_client(text)
        except RecursionError:
            yield End(Code.BAD_MESSAGE, "the message is nested too deep.")
        except (msgspec.MsgspecError, ValueError) as error:
            yield self._misread(text, str(error))
        else:
            yield from self._obey(message)

    def _misread(self, text: str, error: str) -> Action:
        if self._key is not None and (part := _FORM.search(error)):
            try:
                sub = _subs.decode(text).sub
            except (msgspec.MsgspecError, RecursionError, ValueError):
                sub = -1
            if 0 <= sub <= MAX_SUB:
                return Say(failed(_FORM_CODES[part[1]], f"{error}.", sub))
        return End(Code.BAD_MESSAGE, f"this is no message of protocol {PROTOCOL}: {error}.")

    def _flood(self) -> End:
        most = self._place.limits.messages_per_second
        return End(
            Code.TOO_MANY_MESSAGES,
            f"more than {most} messages a second came. Send fewer, then connect again.",
        )

    def _obey(self, message: ClientMessage) -> Iterator[Action]:
        if isinstance(message, Hello):
            yield from self._log_in(message)
        elif self._key is None:
            yield End(Code.NOT_LOGGED_IN, "the first message must be hello, with a key.")
        elif isinstance(message, Heart):
            return
        elif not 0 <= message.sub <= MAX_SUB:
            yield End(
                Code.BAD_MESSAGE, f"sub is {shown(message.sub)}. Number windows 0 to {MAX_SUB}."
            )
        else:
            try:
                yield from self._do(message, self._key)
            except Refusal as refusal:
                yield Say(failed(refusal.code, refusal.sentence(), message.sub))

    def _log_in(self, hello: Hello) -> Iterator[Action]:
        if self._key is not None:
            yield End(Code.ALREADY_LOGGED_IN, "hello was said before. Say it once.")
        elif hello.protocol != PROTOCOL:
            yield End(
                Code.UNSUPPORTED_PROTOCOL,
                f"this gateway speaks protocol {PROTOCOL}, not {shown(hello.protocol)}.",
            )
        else:
            yield self._admit(hello.key)

    def _admit(self, secret: str) -> Action:
        if secret:
            found = self._place.keys.find(secret)
        elif self._proved is not None:
            found = self._place.keys.current(self._proved)
        else:
            return End(Code.NOT_LOGGED_IN, "hello came without a key. Send one.")
        if isinstance(found, KeyProblem):
            return End(found.code, found.message)
        if self._visit.key is None:
            if refusal := self._visit.admit(found.name):
                return End(*refusal)
        elif self._visit.key != found.name:
            return End(Code.BAD_KEY, "hello came with another key than the handshake.")
        self._key = found
        return Say(self._place.welcome(found))

    def _do(self, message: Open | Move | Close, key: Key) -> Iterator[Action]:
        if isinstance(message, Open):
            yield self._open(message, key)
            return
        window = self._windows.get(message.sub)
        if window is None:
            raise Refusal(Code.UNKNOWN_SUB, f"no window {message.sub} is open here")
        if isinstance(message, Move):
            slice_ = Window(message.offset, message.limit)
            check_window(slice_, self._place.limits.window_rows)
            yield MoveWindow(window.ticket, slice_)
        else:
            self._forget(message.sub)
            yield CloseWindow(message.sub, window.ticket)
            yield Say(Closed(message.sub))

    def _open(self, message: Open, key: Key) -> Action:
        if message.sub in self._windows:
            raise Refusal(
                Code.SUB_IN_USE,
                f"window {message.sub} is open",
                remedy="Close it first, or give another number.",
            )
        check_query(message.query)
        check_rights(key, message.table)
        check_window(message.window, self._place.limits.window_rows)
        most = self._place.limits.windows_per_connection
        if len(self._windows) >= most:
            raise Refusal(
                Code.TOO_MANY_WINDOWS, f"{most} windows are open", remedy="Close one first."
            )
        ticket = self._place.tickets()
        self._windows[message.sub] = _Window(ticket, message.table)
        self._subs[ticket] = message.sub
        return OpenWindow(message.sub, ticket, message.query, message.window, message.resume)

    def _forget(self, sub: int) -> None:
        del self._subs[self._windows.pop(sub).ticket]

    def _due(self, now: float, time: int) -> Iterator[Action]:
        seconds = self._place.limits.login_seconds
        if self._key is None:
            if now - self._came > seconds:
                yield End(Code.LOGIN_LATE, f"no hello came within {seconds} s.")
            return
        if now - self._heard > SILENCE_SECONDS:
            yield End(
                Code.SILENT,
                f"nothing came for {SILENCE_SECONDS:.0f} s. Answer each heart with a heart.",
            )
            return
        yield from self._look_at_key(self._key)
        if now >= self._heart_due:
            self._heart_due = max(self._heart_due + HEART_SECONDS, now)
            yield Say(ServerHeart(time))

    def _look_at_key(self, key: Key) -> Iterator[Action]:
        """A key may have lost some of its rights, or all."""
        found = self._place.keys.current(key)
        if found is key:
            return
        if isinstance(found, KeyProblem):
            yield End(found.code, found.message)
            return
        self._key = found
        for sub, window in list(self._windows.items()):
            try:
                check_rights(found, window.table)
            except Refusal as refusal:
                self._forget(sub)
                yield CloseWindow(sub, window.ticket)
                yield Say(failed(refusal.code, refusal.sentence(), sub))
