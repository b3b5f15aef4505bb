"""The demo's events hold each difficulty in its share; the oracle tells which is which."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from itertools import islice, pairwise

import pytest
import yaml

from evergrid.demo.sample_events import (
    ACCOUNT_TYPES,
    ACCOUNTS,
    BAD,
    MAX_PEOPLE,
    USERS,
    Event,
    events,
)
from evergrid.testing import oracle

START_MS = 1_767_225_600_000
COUNT = 40_000
SPEC = oracle.from_config(
    yaml.safe_load(files("evergrid.config").joinpath("default.yaml").read_text(encoding="utf-8"))
)


@pytest.fixture(scope="module")
def day() -> list[Event]:
    return list(islice(events(5, START_MS, rate=20), COUNT))


def message(event: Event) -> oracle.Message:
    return oracle.Message(event.source, 0, 0, event.timestamp_ms, event.key, event.value)


def reading(event: Event) -> oracle.Row | oracle.Bad:
    return oracle.read(message(event), SPEC.sources[event.source], SPEC.limits)


def test_the_same_seed_tells_the_same_story(day: list[Event]) -> None:
    assert list(islice(events(5, START_MS, rate=20), 500)) == day[:500]
    assert list(islice(events(6, START_MS, rate=20), 500)) != day[:500]


def test_rate_changes_the_times_and_nothing_else(day: list[Event]) -> None:
    slow = list(islice(events(5, START_MS), 500))
    assert [(e.source, e.key, e.value) for e in slow] == [
        (e.source, e.key, e.value) for e in day[:500]
    ]
    assert slow[-1].due == pytest.approx(day[499].due * 20)


def test_events_are_due_in_order_and_at_the_rate(day: list[Event]) -> None:
    assert all(one.due < two.due for one, two in pairwise(day))
    assert COUNT / 20 * 0.95 < day[-1].due < COUNT / 20 * 1.05


def test_mostly_accounts(day: list[Event]) -> None:
    share = sum(event.source == ACCOUNTS for event in day) / COUNT
    assert 0.8 < share < 0.95


def test_one_in_five_hundred_is_bad_in_varied_ways(day: list[Event]) -> None:
    reasons = [one.reason for one in map(reading, day) if isinstance(one, oracle.Bad)]
    assert BAD / 2 < len(reasons) / COUNT < BAD * 2
    assert {reason.split(":")[0] for reason in reasons} == {
        "not valid JSON",
        "age",
        "balance",
        "tombstone",
    }


def test_rows_are_whole_and_keyed_by_their_user(day: list[Event]) -> None:
    types = {account.name for account in ACCOUNT_TYPES}
    for event in day:
        row = reading(event)
        if isinstance(row, oracle.Bad):
            continue
        assert None not in row.values.values()
        assert row.unknown_fields == 0
        assert str(row.values["userId"]).encode() == event.key
        if event.source == ACCOUNTS:
            assert row.values["accountType"] in types
            assert abs(float(str(row.values["balance"]))) < 1_000_000


def test_times_are_near_due_with_ties_and_late_ones(day: list[Event]) -> None:
    lags = [START_MS + event.due * 1000 - event.timestamp_ms for event in day]
    assert min(lags) >= 0
    assert max(lags) < 30_000
    assert 0.02 < sum(lag > 1000 for lag in lags) / COUNT < 0.06
    ties = Counter(event.timestamp_ms for event in day)
    assert sum(count - 1 for count in ties.values()) / COUNT > 0.03


def test_users_arrive_late_change_and_stay_unknown(day: list[Event]) -> None:
    first_user: dict[bytes, int] = {}
    first_account: dict[bytes, int] = {}
    for place, event in enumerate(day):
        (first_user if event.source == USERS else first_account).setdefault(event.key, place)
    late = [key for key, place in first_account.items() if place < first_user.get(key, -1)]
    unknown = first_account.keys() - first_user.keys()
    assert len(first_user) == MAX_PEOPLE
    assert len(late) > 50
    assert 10 < len(unknown) <= 50
    for key in late:
        assert day[first_user[key]].timestamp_ms <= day[first_account[key]].timestamp_ms
    unknown_share = sum(event.key in unknown for event in day) / COUNT
    assert 0.005 < unknown_share < 0.02
    updates = sum(event.source == USERS for event in day) - len(first_user)
    assert updates > MAX_PEOPLE


def test_late_users_do_not_end_when_the_town_is_full(day: list[Event]) -> None:
    tail = [e for e in day[-5000:] if e.source == USERS and e.value]
    late = [e for e in tail if START_MS + e.due * 1000 - e.timestamp_ms > 100]
    assert len(late) > 20


def test_balances_walk(day: list[Event]) -> None:
    walks: dict[tuple[object, object], list[float]] = {}
    for event in day:
        row = reading(event)
        if event.source == ACCOUNTS and isinstance(row, oracle.Row):
            who = (row.values["userId"], row.values["accountType"])
            walks.setdefault(who, []).append(float(str(row.values["balance"])))
    longest = max(walks.values(), key=len)
    steps = [abs(two - one) for one, two in pairwise(longest)]
    assert len(set(longest)) > 10
    assert max(steps) < abs(max(longest, key=abs))
