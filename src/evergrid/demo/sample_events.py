"""Sample events of a small bank: users and their accounts, without an end.

They contain every case that a join must handle, each in a known share: users that come after
their accounts, accounts without a user, equal times, messages out of order, and messages that
cannot be parsed.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator

import msgspec

from evergrid.demo.sample_people import Person, moved, person, user_id

USERS = "users"
ACCOUNTS = "accounts"

PEOPLE_AT_START = 8
MAX_PEOPLE = 500  # bounds the state of the generator

BAD = 1 / 500
NEW_USER = 0.05
CHANGED_USER = 0.06
LATE_USER = 0.015
UNKNOWN_USER = 0.01
OUT_OF_ORDER = 0.03
TIE = 0.04

_MAX_DELAY_MS = 20_000

_encode = msgspec.json.encode


class Event(msgspec.Struct, frozen=True, gc=False):
    """A message and when to send it; `due` is in seconds after the start."""

    source: str
    key: bytes
    value: bytes | None
    timestamp_ms: int
    due: float


class AccountType(msgspec.Struct, frozen=True):
    """An account's usual balance and how far one booking moves it, in cents."""

    name: str
    usual: int
    step: int


ACCOUNT_TYPES = (
    AccountType("checking", 2_400_00, 90_00),
    AccountType("savings", 18_000_00, 250_00),
    AccountType("credit", -900_00, 60_00),
    AccountType("brokerage", 64_000_00, 1_300_00),
)


def events(seed: int, start_ms: int, rate: float = 1.0) -> Iterator[Event]:
    """Endless events, `rate` a second on average; the same seed gives the same events."""
    return _Generator(random.Random(seed), start_ms, rate).events()


def account_value(key: str, account: str, balance: str) -> bytes:
    """An account message; the balance is text, so that it is not rounded."""
    return f'{{"userId":"{key}","accountType":"{account}","balance":{balance}}}'.encode()


def cents(amount: int) -> str:
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02d}"


class _Generator:
    def __init__(self, rng: random.Random, start_ms: int, rate: float) -> None:
        self._rng = rng
        self._start_ms = start_ms
        self._rate = rate
        self._steps = 0.0
        self._last_ms = start_ms
        self._numbers = 0
        self._people: list[Person] = []
        self._places: dict[str, int] = {}
        self._balances: dict[tuple[str, str], int] = {}
        # Users whose first account was sent already: (number of the event, person, user's time).
        self._late: deque[tuple[int, Person, int]] = deque()

    def events(self) -> Iterator[Event]:
        count = 0
        while True:
            count += 1
            self._steps += self._rng.expovariate(1.0)
            yield self._next(count)

    def _next(self, count: int) -> Event:
        if len(self._people) < PEOPLE_AT_START:
            return self._user(self._someone())
        if self._late and self._late[0][0] <= count:
            _, someone, timestamp_ms = self._late.popleft()
            return self._user(someone, timestamp_ms)
        chance = self._rng.random()
        for share, action in (
            (BAD, self._bad),
            (NEW_USER, lambda: self._user(self._someone())),
            (CHANGED_USER, lambda: self._user(self._changed())),
            (LATE_USER, lambda: self._account_first(count)),
            (UNKNOWN_USER, self._unknown),
        ):
            if chance < share:
                return action()
            chance -= share
        return self._account(self._rng.choice(self._people).user_id)

    def _someone(self) -> Person:
        """A new person, or once there are enough, a changed one."""
        if self._numbers >= MAX_PEOPLE:
            return self._changed()
        self._numbers += 1
        return person(self._rng, self._numbers)

    def _changed(self) -> Person:
        return moved(self._rng, self._rng.choice(self._people))

    def _user(self, someone: Person, timestamp_ms: int | None = None) -> Event:
        place = self._places.setdefault(someone.user_id, len(self._people))
        self._people[place : place + 1] = [someone]
        return self._event(USERS, someone.user_id, _encode(someone), timestamp_ms)

    def _account_first(self, count: int) -> Event:
        """The account now, and its user some events later, with a time that is not later."""
        someone = self._someone()
        event = self._account(someone.user_id)
        user_ms = event.timestamp_ms - self._rng.choice((0, 1, 250, 3_000))
        # In the order of their numbers, so that the first in the queue is the first due.
        wait = max(count + self._rng.randint(3, 30), self._late[-1][0] if self._late else 0)
        self._late.append((wait, someone, user_ms))
        return event

    def _unknown(self) -> Event:
        return self._account(user_id(900_000 + self._rng.randrange(50)))

    def _account(self, key: str) -> Event:
        account = self._rng.choices(ACCOUNT_TYPES, (6, 3, 3, 1))[0]
        held = self._balances.get((key, account.name))
        if held is None:
            balance = round(account.usual * self._rng.uniform(0.4, 1.8))
        else:
            # A random walk that returns to the usual balance, so that it stays plausible.
            home = (account.usual - held) // 200
            balance = held + home + round(self._rng.gauss(0, account.step))
        self._balances[key, account.name] = balance
        return self._event(ACCOUNTS, key, account_value(key, account.name, cents(balance)))

    def _bad(self) -> Event:
        someone = self._rng.choice(self._people)
        key = someone.user_id
        source, value = self._rng.choice(
            (
                (ACCOUNTS, b"balance of " + key.encode() + b": unknown"),
                (USERS, _encode(someone).replace(b'"age":%d' % someone.age, b'"age":"abc"')),
                (ACCOUNTS, account_value(key, "checking", "12.345")),
                (ACCOUNTS, None),
                (USERS, _encode(someone)[:-1] + b",}"),
            )
        )
        return self._event(source, key, value)

    def _event(
        self, source: str, key: str, value: bytes | None, timestamp_ms: int | None = None
    ) -> Event:
        due = self._steps / self._rate
        if timestamp_ms is None:
            timestamp_ms = self._time(self._start_ms + int(due * 1000))
        return Event(source, key.encode(), value, timestamp_ms, due)

    def _time(self, now_ms: int) -> int:
        chance = self._rng.random()
        if chance < TIE:
            return self._last_ms
        if chance < TIE + OUT_OF_ORDER:
            return now_ms - self._rng.randint(1, _MAX_DELAY_MS)
        self._last_ms = now_ms
        return now_ms
