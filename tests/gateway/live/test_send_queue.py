from __future__ import annotations

import random

import msgspec

from evergrid.gateway.live.send_queue import MAX_WORDS, Outbox, Outlet
from evergrid.protocol.frames import addressed
from evergrid.protocol.messages import Live, State
from evergrid.views.query import Window


class Told(msgspec.Struct, frozen=True):
    """A publication whose frames say what they are."""

    sequence: int
    base: int
    difference: bytes | None
    window: Window = Window(0, 300)

    def full(self) -> bytes:
        return b"full %d" % self.sequence


def state(sequence: int, base: int = 0) -> Told:
    return Told(sequence, base, b"from %d to %d" % (base, sequence) if base else None)


def sent(data: bytes | None, sub: int = 5) -> str:
    assert data is not None
    assert data[:4] == addressed(sub, b"")
    return data[4:].decode()


def test_the_first_frame_is_a_full_window() -> None:
    outlet = Outlet(5)
    outlet.offer(state(2, base=1))
    assert sent(outlet.take()) == "full 2"


def test_a_reader_that_keeps_up_gets_differences() -> None:
    outlet = Outlet(5)
    outlet.offer(state(1))
    outlet.take()
    outlet.offer(state(4, base=1))
    assert sent(outlet.take()) == "from 1 to 4"
    outlet.offer(state(5, base=4))
    assert sent(outlet.take()) == "from 4 to 5"


def test_a_reader_that_missed_a_state_gets_the_newest_window_and_nothing_else() -> None:
    outlet = Outlet(5)
    outlet.offer(state(1))
    outlet.take()
    for sequence in range(2, 100):
        outlet.offer(state(sequence, base=sequence - 1))
    assert sent(outlet.take()) == "full 99"
    assert outlet.take() is None


def test_a_state_that_was_sent_is_not_sent_again() -> None:
    outlet = Outlet(5)
    outlet.offer(state(1))
    outlet.take()
    outlet.offer(state(1))
    assert outlet.take() is None


def test_a_resumed_reader_is_sent_only_what_it_lacks() -> None:
    same, behind = Outlet(5), Outlet(5)
    same.resume(state(8, base=7), 8)
    behind.resume(state(8, base=7), 7)
    assert same.take() is None
    assert sent(behind.take()) == "from 7 to 8"
    same.offer(state(9, base=8))
    assert sent(same.take()) == "from 8 to 9"


def test_a_move_is_answered_by_a_full_window() -> None:
    outlet = Outlet(5)
    outlet.offer(state(1))
    outlet.take()
    outlet.moved(Window(300, 300))
    outlet.offer(msgspec.structs.replace(state(2, base=1), window=Window(300, 300)))
    assert sent(outlet.take()) == "full 2"


def test_what_comes_late_for_a_window_that_was_moved_away_from_is_dropped() -> None:
    outlet = Outlet(5)
    outlet.moved(Window(300, 300))
    outlet.offer(state(2))
    assert outlet.take() is None


def test_whatever_is_offered_and_taken_the_reader_ends_with_the_newest_state() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(300):
        outlet, has, newest = Outlet(5), 0, 0
        for _ in range(chance.randrange(1, 40)):
            if chance.random() < 0.6:
                newest += 1
                outlet.offer(state(newest, base=newest - 1))
            elif (data := outlet.take()) is not None:
                words = sent(data).split()
                assert words[0] == "full" or int(words[1]) == has
                assert int(words[-1]) > has
                has = int(words[-1])
        if (data := outlet.take()) is not None:
            has = int(sent(data).split()[-1])
        assert has == newest


def test_words_come_before_states_and_states_before_frames() -> None:
    outbox = Outbox()
    outbox.open(1, 5)
    outbox.offer(1, state(1))
    outbox.tell(State(5, Live.LIVE, ""))
    outbox.say("welcome")
    assert outbox.words() == "welcome"
    assert outbox.words() == State(5, Live.LIVE, "")
    assert outbox.words() is None
    assert sent(outbox.frame()) == "full 1"


def test_only_the_newest_state_of_a_window_is_told() -> None:
    outbox = Outbox()
    outbox.tell(State(5, Live.LOADING, "1 of 2"))
    outbox.tell(State(6, Live.LIVE, ""))
    outbox.tell(State(5, Live.LIVE, ""))
    assert [outbox.words(), outbox.words(), outbox.words()] == [
        State(6, Live.LIVE, ""),
        State(5, Live.LIVE, ""),
        None,
    ]


def test_windows_take_turns() -> None:
    outbox = Outbox()
    for ticket in (1, 2, 3):
        outbox.open(ticket, ticket)
        outbox.offer(ticket, state(ticket))
    assert sent(outbox.frame(), 1) == "full 1"
    outbox.offer(1, state(10))
    assert sent(outbox.frame(), 2) == "full 2"
    assert sent(outbox.frame(), 3) == "full 3"
    assert sent(outbox.frame(), 1) == "full 10"
    assert outbox.frame() is None


def test_nothing_waits_for_a_closed_window() -> None:
    outbox = Outbox()
    outbox.open(1, 5)
    outbox.offer(1, state(1))
    outbox.tell(State(5, Live.LIVE, ""))
    outbox.close(1, 5)
    outbox.offer(1, state(2))
    outbox.resume(1, state(3), 2)
    assert outbox.words() is None
    assert outbox.frame() is None


def test_answers_that_nobody_reads_are_bounded() -> None:
    outbox = Outbox()
    assert all(outbox.say("x") for _ in range(MAX_WORDS))
    assert not outbox.say("x")
