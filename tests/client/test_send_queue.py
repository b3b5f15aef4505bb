"""What is said is said in order, and never faster than a gateway takes it."""

from __future__ import annotations

from evergrid.client.send_queue import Outbox, Pace
from evergrid.protocol.messages import Close, Heart, Move, Open, encode


def test_hearts_go_first() -> None:
    outbox = Outbox()
    outbox.put(Open(1, "a"))
    outbox.put(Heart())
    assert [outbox.take(), outbox.take(), outbox.take()] == [
        encode(Heart()),
        encode(Open(1, "a")),
        None,
    ]


def test_a_close_takes_back_what_was_not_said_yet() -> None:
    outbox = Outbox()
    outbox.put(Open(1, "a"))
    outbox.put(Move(1, 5))
    outbox.put(Close(1))
    assert len(outbox) == 0
    outbox.put(Move(2, 5))
    outbox.put(Close(2))
    assert outbox.take() == encode(Close(2))


def test_pace_lets_some_through_at_once_and_then_so_many_a_second() -> None:
    pace = Pace(rate=10, burst=5)
    now, sent = 100.0, []
    for _ in range(25):
        now += pace.wait(now)
        sent.append(now)
    assert sent[4] == 100.0
    assert sent[5] > 100.0
    assert abs(sent[24] - 102.0) < 1e-6
