"""What is said is said in order, and never faster than a gateway takes it."""

from __future__ import annotations

from evergrid.client.send_queue import RateLimiter, SendQueue
from evergrid.protocol.messages import Close, Heart, Move, Open, encode


def test_hearts_go_first() -> None:
    send_queue = SendQueue()
    send_queue.put(Open(1, "a"))
    send_queue.put(Heart())
    assert [send_queue.take(), send_queue.take(), send_queue.take()] == [
        encode(Heart()),
        encode(Open(1, "a")),
        None,
    ]


def test_a_close_takes_back_what_was_not_said_yet() -> None:
    send_queue = SendQueue()
    send_queue.put(Open(1, "a"))
    send_queue.put(Move(1, 5))
    send_queue.put(Close(1))
    assert len(send_queue) == 0
    send_queue.put(Move(2, 5))
    send_queue.put(Close(2))
    assert send_queue.take() == encode(Close(2))


def test_pace_lets_some_through_at_once_and_then_so_many_a_second() -> None:
    limiter = RateLimiter(rate=10, burst=5)
    now, sent = 100.0, []
    for _ in range(25):
        now += limiter.wait(now)
        sent.append(now)
    assert sent[4] == 100.0
    assert sent[5] > 100.0
    assert abs(sent[24] - 102.0) < 1e-6
