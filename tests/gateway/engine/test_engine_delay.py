"""Windows are told when the engine is late, and when it has caught up."""

from __future__ import annotations

import time

import pytest

from evergrid.gateway.engine.deliveries import Rejected, StateChanged
from evergrid.gateway.engine.engine_delay import BUSY, OPENED_LATE, BusyStates, EngineDelay
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import Live, WindowState

LIVE = WindowState(Live.LIVE, "")
GAPS = WindowState(Live.LIVE, "Rows may be missing.")
OLD = WindowState(Live.STALE, "The pipeline does not run.", 7)


class Clock:
    """The time of both clocks, moved by the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.seconds)
        monkeypatch.setattr(time, "time_ns", lambda: int(self.seconds * 1e9))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def stale(state: WindowState, since: int) -> WindowState:
    return WindowState(Live.STALE, f"{BUSY} {state.message}".strip(), since)


def test_live_windows_are_stale_while_a_change_waits(clock: Clock) -> None:
    delay, said = EngineDelay(), list[str]()
    states = BusyStates(delay, said.append)
    for subscriber, state in enumerate((LIVE, GAPS, OLD)):
        states.open(subscriber)
        assert states.passed(StateChanged(subscriber, state)) == StateChanged(subscriber, state)
    delay.on_read()
    clock.seconds += 5
    delay.on_read()
    assert (delay.seconds, states.check(), said) == (5, [], [])
    clock.seconds += 1
    since = 1_000_000_000
    assert states.check() == [
        StateChanged(0, stale(LIVE, since)),
        StateChanged(1, stale(GAPS, since)),
    ]
    assert states.check() == []
    assert states.passed(StateChanged(2, LIVE)) == StateChanged(2, stale(LIVE, since))
    delay.on_applied()
    assert (delay.seconds, states.check()) == (1, [StateChanged(n, s) for n, s in LIVE_AGAIN])
    assert len(said) == 2
    states.close(0)
    assert states.passed(StateChanged(0, LIVE)) == StateChanged(0, LIVE)


LIVE_AGAIN = ((0, LIVE), (1, GAPS), (2, LIVE))


def test_changes_that_are_applied_and_not_published_wait_too(clock: Clock) -> None:
    delay = EngineDelay()
    assert delay.is_publishing
    delay.set_publishing(on_time=False)
    clock.seconds += 6
    assert delay.seconds == 6
    delay.set_publishing(on_time=True)
    assert delay.seconds == 0


def test_a_window_that_waits_for_its_turn_is_told_so_once(clock: Clock) -> None:
    states = BusyStates(EngineDelay(), list[str]().append)
    for subscriber in range(4):
        states.open(subscriber)
        clock.seconds += 1
    states.passed(StateChanged(0, LIVE))
    states.passed(Rejected(1, Code.TOO_MANY_VIEWS, "too many views"))
    clock.seconds += 3.5
    assert states.check() == [StateChanged(2, OPENED_LATE)]
    clock.seconds += 1
    assert states.check() == [StateChanged(3, OPENED_LATE)]
    assert states.passed(StateChanged(2, LIVE)) == StateChanged(2, LIVE)
