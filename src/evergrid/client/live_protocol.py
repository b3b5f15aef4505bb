"""The client's side of the live protocol. No I/O: messages in, messages out.

Subscriptions outlive connections. The life of a connection: `connected` → (Welcome) → all windows
are opened, with `resume` if the gateway can go on from an earlier state → … → `disconnected`.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from evergrid.client.client_errors import Rejected, gateway_error
from evergrid.client.subscription import Subscription
from evergrid.model.errors import BrokenPromise, EvergridError
from evergrid.protocol import frames, messages
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import PROTOCOL, Live, WindowState
from evergrid.views.view_query import Query, Window

# Before a window that the gateway rejected for now is opened again.
RETRY_SECONDS = 2.0


class SendQueue:
    """Messages in order, at most one of each kind per window: a later move replaces an earlier."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake  # called when there is a message to send
        self._messages: dict[tuple[type, int | None], messages.ClientMessage] = {}

    def put(self, message: messages.ClientMessage) -> None:
        sub: int | None = getattr(message, "sub", None)
        if isinstance(message, messages.Close):  # messages of the window need not be sent any more
            self._messages.pop((messages.Move, sub), None)
            if self._messages.pop((messages.Open, sub), None) is not None:
                return
        self._messages[type(message), sub] = message
        self._wake()

    def take(self) -> str | None:
        """The next message; heartbeats first, because a gateway waits for them."""
        heart = (messages.Heart, None)
        key = heart if heart in self._messages else next(iter(self._messages), None)
        return None if key is None else messages.encode(self._messages.pop(key))

    def clear(self) -> None:
        self._messages.clear()


class LiveProtocol:
    """All windows of a client and their states. Times are seconds since the epoch."""

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._wake = wake
        self.send_queue = SendQueue(wake)
        self.welcome: messages.Welcome | None = None
        self._windows: list[Subscription] = []
        self._by_sub: dict[int, Subscription] = {}
        self._retries: list[tuple[float, Subscription]] = []
        self._next_sub = 0
        self._received_at = 0.0
        self._disconnect_message = ""

    def open(self, query: Query, window: Window, listener: Callable[[], None]) -> Subscription:
        subscription = Subscription(query, window, listener)
        self._windows.append(subscription)
        if self.welcome is not None:
            self._open(subscription, self.welcome)
        elif self._disconnect_message:
            subscription.disconnected(self._disconnect_message, 0)
        return subscription

    def move(self, subscription: Subscription, window: Window) -> None:
        if subscription.ended or subscription.window == window:
            return
        subscription.move(window)
        if subscription.sub is not None:
            self.send_queue.put(messages.Move(subscription.sub, window.offset, window.limit))

    def close(self, subscription: Subscription) -> None:
        self._remove(subscription)
        subscription.close()

    def fail(self, error: EvergridError) -> None:
        """End every window with this error."""
        for subscription in list(self._windows):
            self._end(subscription, error)

    def connected(self) -> None:
        """There is a new connection: send hello, and nothing else before the answer."""
        self.welcome = None
        self.send_queue.clear()
        self.send_queue.put(messages.Hello(PROTOCOL))

    def disconnected(self, message: str) -> None:
        """The connection was lost: every window becomes stale."""
        self.welcome = None
        self._disconnect_message = message
        self.send_queue.clear()
        self._by_sub.clear()
        self._retries.clear()
        for subscription in self._windows:
            subscription.disconnected(message, int(self._received_at * 1_000_000))

    def receive_text(self, text: str, now: float) -> None:
        """Handle a message; raises the error that ends the connection.

        Unknown messages are ignored: a newer gateway may send some.
        """
        try:
            message = messages.decode_server(text)
        except (msgspec.MsgspecError, ValueError):
            return
        self._received_at = now
        match message:
            case messages.Welcome():
                self._start(message)
            case messages.State():
                if subscription := self._by_sub.get(message.sub):
                    status = WindowState(message.state, message.message, message.since)
                    subscription.set_status(status)
            case messages.Failed():
                self._failed(message, now)
            case messages.ServerHeart():
                self.send_queue.put(messages.Heart())
            case messages.Closed():
                pass  # already removed when it was closed

    def receive_frame(self, data: bytes, now: float) -> None:
        """Handle a frame; BrokenPromise if it cannot be decoded."""
        self._received_at = now
        try:
            frame = frames.decode(data)
        except (msgspec.MsgspecError, ValueError) as error:
            raise BrokenPromise(f"invalid frame from the gateway ({error})") from None
        subscription = self._by_sub.get(frame.sub)
        if subscription is None or self.welcome is None:
            return
        try:
            subscription.apply(frame, self.welcome.instance)
        except BrokenPromise as problem:
            self._release(subscription)
            if subscription.frame_failed(problem):
                self._open(subscription, self.welcome)
            else:
                self._windows.remove(subscription)

    def retry(self, now: float) -> float | None:
        """Open rejected windows again that are due; seconds until the next is due."""
        waiting, self._retries = self._retries, []
        for at, subscription in waiting:
            if at > now:
                self._retries.append((at, subscription))
            elif self.welcome is not None and not subscription.ended:
                self._open(subscription, self.welcome)
        return min((at - now for at, _ in self._retries), default=None)

    def _start(self, welcome: messages.Welcome) -> None:
        if welcome.protocol != PROTOCOL:
            code = Code.UNSUPPORTED_PROTOCOL.value
            what = f"unsupported protocol: gateway {welcome.protocol}, client {PROTOCOL}"
            raise gateway_error(code, what, retry=False)
        self.welcome = welcome
        self._disconnect_message = ""
        for subscription in list(self._windows):  # one that is too large is removed
            self._open(subscription, welcome)

    def _open(self, subscription: Subscription, welcome: messages.Welcome) -> None:
        self._next_sub = self._next_sub % messages.MAX_SUB + 1
        message = subscription.open_message(self._next_sub, welcome.instance)
        size = len(messages.encode(message).encode())
        if size > welcome.max_message_bytes:
            error = Rejected(
                f"message too large: {size} bytes to open the window, the gateway accepts "
                f"{welcome.max_message_bytes}",
                where=subscription.query.table,
                remedy="Use a shorter filter or fewer columns.",
                code=Code.TOO_LARGE.value,
            )
            self._end(subscription, error)
            return
        self._by_sub[self._next_sub] = subscription
        self.send_queue.put(message)

    def _failed(self, message: messages.Failed, now: float) -> None:
        subscription = None if message.sub is None else self._by_sub.get(message.sub)
        table = subscription.query.table if subscription else ""
        error = gateway_error(message.code, message.message, retry=message.retry, where=table)
        if message.fatal:
            raise error
        if subscription is None:
            return  # the window is closed already
        if message.retry and message.sub is not None:
            del self._by_sub[message.sub]
            subscription.sub = None
            subscription.set_status(WindowState(Live.WAITING, error.sentence()))
            self._retries.append((now + RETRY_SECONDS, subscription))
            self._wake()  # the sender waits for what is due
        else:
            self._end(subscription, error)

    def _end(self, subscription: Subscription, error: EvergridError) -> None:
        self._remove(subscription)
        subscription.fail(error)

    def _remove(self, subscription: Subscription) -> None:
        if subscription in self._windows:
            self._windows.remove(subscription)
        self._release(subscription)

    def _release(self, subscription: Subscription) -> None:
        """Close the window on the gateway, if it is open there."""
        sub = subscription.sub
        if sub is not None and self._by_sub.pop(sub, None) is not None:
            self.send_queue.put(messages.Close(sub))
