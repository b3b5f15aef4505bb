from __future__ import annotations

import random

from evergrid.gateway.engine.publication import WindowPublication
from evergrid.gateway.live.outbound_queue import MAX_MESSAGES, OutboundQueue, PendingFrame
from evergrid.protocol.frames import addressed
from evergrid.protocol.messages import Live, State
from evergrid.views.view_query import Window


class FakePublication(WindowPublication):
    """A publication whose frames say what they are."""

    def __init__(self, sequence: int, base: int, difference: bytes | None, window: Window) -> None:
        self.sequence = sequence
        self.base = base
        self.difference = difference
        self.window = window
        self.most_bytes = 100

    def full(self) -> bytes:
        return b"full %d" % self.sequence


TOP = Window(0, 300)


def state(sequence: int, base: int = 0, window: Window = TOP) -> FakePublication:
    difference = b"from %d to %d" % (base, sequence) if base else None
    return FakePublication(sequence, base, difference, window)


def sent(data: bytes | None, sub: int = 5) -> str:
    assert data is not None
    assert data[:4] == addressed(sub, b"")
    return data[4:].decode()


def test_the_first_frame_is_a_full_window() -> None:
    pending = PendingFrame(5)
    pending.offer(state(2, base=1))
    assert sent(pending.take()) == "full 2"


def test_a_reader_that_keeps_up_gets_differences() -> None:
    pending = PendingFrame(5)
    pending.offer(state(1))
    pending.take()
    pending.offer(state(4, base=1))
    assert sent(pending.take()) == "from 1 to 4"
    pending.offer(state(5, base=4))
    assert sent(pending.take()) == "from 4 to 5"


def test_a_reader_that_missed_a_state_gets_the_newest_window_and_nothing_else() -> None:
    pending = PendingFrame(5)
    pending.offer(state(1))
    pending.take()
    for sequence in range(2, 100):
        pending.offer(state(sequence, base=sequence - 1))
    assert sent(pending.take()) == "full 99"
    assert pending.take() is None


def test_a_state_that_was_sent_is_not_sent_again() -> None:
    pending = PendingFrame(5)
    pending.offer(state(1))
    pending.take()
    pending.offer(state(1))
    assert pending.take() is None


def test_a_resumed_reader_is_sent_only_what_it_lacks() -> None:
    same, behind = PendingFrame(5), PendingFrame(5)
    same.resume(state(8, base=7), 8)
    behind.resume(state(8, base=7), 7)
    assert same.take() is None
    assert sent(behind.take()) == "from 7 to 8"
    same.offer(state(9, base=8))
    assert sent(same.take()) == "from 8 to 9"


def test_a_move_is_answered_by_a_full_window() -> None:
    pending = PendingFrame(5)
    pending.offer(state(1))
    pending.take()
    pending.move(Window(300, 300))
    pending.offer(state(2, base=1, window=Window(300, 300)))
    assert sent(pending.take()) == "full 2"


def test_what_comes_late_for_a_window_that_was_moved_away_from_is_dropped() -> None:
    pending = PendingFrame(5)
    pending.move(Window(300, 300))
    pending.offer(state(2))
    assert pending.take() is None


def test_whatever_is_offered_and_taken_the_reader_ends_with_the_newest_state() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(300):
        pending, has, newest = PendingFrame(5), 0, 0
        for _ in range(chance.randrange(1, 40)):
            if chance.random() < 0.6:
                newest += 1
                pending.offer(state(newest, base=newest - 1))
            elif (data := pending.take()) is not None:
                words = sent(data).split()
                assert words[0] == "full" or int(words[1]) == has
                assert int(words[-1]) > has
                has = int(words[-1])
        if (data := pending.take()) is not None:
            has = int(sent(data).split()[-1])
        assert has == newest


def test_words_come_before_states_and_states_before_frames() -> None:
    queue = OutboundQueue()
    queue.open(1, 5)
    queue.offer(1, state(1))
    queue.add_state(State(Live.LIVE, "", sub=5))
    queue.add_message("welcome")
    assert queue.next_message() == "welcome"
    assert queue.next_message() == State(Live.LIVE, "", sub=5)
    assert queue.next_message() is None
    assert sent(queue.next_frame()) == "full 1"


def test_only_the_newest_state_of_a_window_is_told() -> None:
    queue = OutboundQueue()
    queue.add_state(State(Live.LOADING, "1 of 2", sub=5))
    queue.add_state(State(Live.LIVE, "", sub=6))
    queue.add_state(State(Live.LIVE, "", sub=5))
    assert [queue.next_message(), queue.next_message(), queue.next_message()] == [
        State(Live.LIVE, "", sub=6),
        State(Live.LIVE, "", sub=5),
        None,
    ]


def test_windows_take_turns() -> None:
    queue = OutboundQueue()
    for subscriber in (1, 2, 3):
        queue.open(subscriber, subscriber)
        queue.offer(subscriber, state(subscriber))
    assert sent(queue.next_frame(), 1) == "full 1"
    queue.offer(1, state(10))
    assert sent(queue.next_frame(), 2) == "full 2"
    assert sent(queue.next_frame(), 3) == "full 3"
    assert sent(queue.next_frame(), 1) == "full 10"
    assert queue.next_frame() is None


def test_nothing_waits_for_a_closed_window() -> None:
    queue = OutboundQueue()
    queue.open(1, 5)
    queue.offer(1, state(1))
    queue.add_state(State(Live.LIVE, "", sub=5))
    queue.close(1, 5)
    queue.offer(1, state(2))
    queue.resume(1, state(3), 2)
    assert queue.next_message() is None
    assert queue.next_frame() is None


def test_answers_that_nobody_reads_are_bounded() -> None:
    queue = OutboundQueue()
    assert all(queue.add_message("x") for _ in range(MAX_MESSAGES))
    assert not queue.add_message("x")
