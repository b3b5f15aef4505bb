"""The client's side of the conversation with a gateway. No I/O: messages in, messages out.

Subscriptions outlive connections. A connection goes: `connected` → (Welcome) → all windows
are opened, with `resume` where the same gateway can go on from → … → `lost`.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from evergrid.client.errors import Rejected, told
from evergrid.client.live_window import Standing
from evergrid.client.send_queue import Outbox
from evergrid.client.subscription import Subscription
from evergrid.model.errors import BrokenPromise, EvergridError
from evergrid.protocol import frames, messages
from evergrid.protocol.codes import Code
from evergrid.protocol.messages import (
    MAX_SUB,
    PROTOCOL,
    Close,
    Closed,
    Failed,
    Heart,
    Hello,
    Live,
    Move,
    ServerHeart,
    State,
    Welcome,
)
from evergrid.views.query import Query, Window

# Before a window that the gateway had no room for is asked for again.
RETRY_SECONDS = 2.0


class Desk:
    """All windows of a client, and what was said about them. Times are seconds since the epoch."""

    def __init__(self) -> None:
        self.outbox = Outbox()
        self.welcome: Welcome | None = None
        self._windows: list[Subscription] = []
        self._by_sub: dict[int, Subscription] = {}
        self._later: list[tuple[float, Subscription]] = []
        self._next_sub = 0
        self._heard = 0.0
        self._outage = ""

    def __len__(self) -> int:
        return len(self._windows)

    def open(self, query: Query, window: Window, listener: Callable[[], None]) -> Subscription:
        subscription = Subscription(query, window, listener)
        self._windows.append(subscription)
        if self.welcome is not None:
            self._ask(subscription, self.welcome)
        elif self._outage:
            subscription.lost(self._outage, 0)
        return subscription

    def move(self, subscription: Subscription, window: Window) -> None:
        if subscription.over or subscription.window == window:
            return
        subscription.move(window)
        if subscription.sub is not None:
            self.outbox.put(Move(subscription.sub, window.offset, window.limit))

    def close(self, subscription: Subscription) -> None:
        self._leave(subscription)
        subscription.close()

    def fail(self, error: EvergridError) -> None:
        """Nothing more will come: every window ends with this."""
        for subscription in list(self._windows):
            self._end(subscription, error)

    def connected(self) -> None:
        """A new connection: say hello, and nothing else before the answer."""
        self.welcome = None
        self.outbox.clear()
        self.outbox.put(Hello(PROTOCOL))

    def lost(self, message: str) -> None:
        """No connection any more: say so at every window."""
        self.welcome = None
        self._outage = message
        self.outbox.clear()
        self._by_sub.clear()
        self._later.clear()
        for subscription in self._windows:
            subscription.lost(message, int(self._heard * 1_000_000))

    def text(self, text: str, now: float) -> None:
        """Take in a control message; raises what ends the connection.

        One that is unknown here is one of a newer gateway, which means nothing to this client.
        """
        try:
            message = messages.decode_server(text)
        except (msgspec.MsgspecError, ValueError):
            return
        self._heard = now
        match message:
            case Welcome():
                self._start(message)
            case State():
                self._stand(message)
            case Failed():
                self._failed(message, now)
            case ServerHeart():
                self.outbox.put(Heart())
            case Closed():
                pass  # forgotten when it was closed

    def binary(self, data: bytes, now: float) -> None:
        """Take in a frame; BrokenPromise when it is none."""
        self._heard = now
        try:
            frame = frames.decode(data)
        except (msgspec.MsgspecError, ValueError) as error:
            raise BrokenPromise(f"the gateway sent a frame that is none ({error})") from None
        subscription = self._by_sub.get(frame.sub)
        if subscription is None or self.welcome is None:
            return
        try:
            subscription.paint(frame, self.welcome.instance)
        except BrokenPromise as problem:
            self._repair(subscription, problem, self.welcome)

    def due(self, now: float) -> float | None:
        """Ask again for what is due; seconds until there is more to ask for."""
        waiting, self._later = self._later, []
        for at, subscription in waiting:
            if at > now:
                self._later.append((at, subscription))
            elif self.welcome is not None and not subscription.over:
                self._ask(subscription, self.welcome)
        return min((at - now for at, _ in self._later), default=None)

    def _start(self, welcome: Welcome) -> None:
        if welcome.protocol != PROTOCOL:
            code = Code.UNSUPPORTED_PROTOCOL.value
            what = f"the gateway speaks protocol {welcome.protocol}, this client {PROTOCOL}"
            raise told(code, what, retry=False)
        self.welcome = welcome
        self._outage = ""
        for subscription in self._windows:
            self._ask(subscription, welcome)

    def _ask(self, subscription: Subscription, welcome: Welcome) -> None:
        self._next_sub = self._next_sub % MAX_SUB + 1
        message = subscription.opening(self._next_sub, welcome.instance)
        size = len(messages.encode(message).encode())
        if size > welcome.max_message_bytes:
            self._end(
                subscription,
                Rejected(
                    f"the window's question has {size} bytes, the gateway takes "
                    f"{welcome.max_message_bytes}",
                    where=subscription.query.table,
                    remedy="Ask with a shorter filter or fewer columns.",
                    code=Code.TOO_LARGE.value,
                ),
            )
            return
        self._by_sub[self._next_sub] = subscription
        self.outbox.put(message)

    def _repair(self, subscription: Subscription, problem: BrokenPromise, welcome: Welcome) -> None:
        if subscription.sub is not None:
            del self._by_sub[subscription.sub]
            self.outbox.put(Close(subscription.sub))
        if subscription.broken(problem):
            self._ask(subscription, welcome)
        else:
            self._windows.remove(subscription)

    def _stand(self, said: State) -> None:
        if subscription := self._by_sub.get(said.sub):
            standing = Standing(said.state, said.message, said.since, said.done, said.total)
            subscription.told(standing)

    def _failed(self, said: Failed, now: float) -> None:
        subscription = None if said.sub is None else self._by_sub.get(said.sub)
        table = subscription.query.table if subscription else ""
        error = told(said.code, said.message, retry=said.retry, where=table)
        if said.fatal:
            raise error
        if subscription is None:
            return  # about a window that is closed already
        if said.retry and said.sub is not None:
            del self._by_sub[said.sub]
            subscription.sub = None
            subscription.told(Standing(Live.WAITING, error.sentence()))
            self._later.append((now + RETRY_SECONDS, subscription))
        else:
            self._end(subscription, error)

    def _end(self, subscription: Subscription, error: EvergridError) -> None:
        self._leave(subscription)
        subscription.fail(error)

    def _leave(self, subscription: Subscription) -> None:
        if subscription in self._windows:
            self._windows.remove(subscription)
        sub = subscription.sub
        if sub is not None and self._by_sub.pop(sub, None) is not None:
            self.outbox.put(Close(sub))
