"""What comes in is bounded: messages over time, connections by whose they are."""

from __future__ import annotations

import random

import msgspec
import pytest

from evergrid.config import load
from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.limits import Bucket, Buckets, Counter, Turnstile, Visit
from evergrid.protocol.codes import Code


def limits(**changes: int) -> GatewayLimits:
    return msgspec.structs.replace(load(None, {}).gateway.limits, **changes)


def entered(turnstile: Turnstile, key: str | None = None) -> Visit:
    visit = turnstile.enter(key)
    assert isinstance(visit, Visit)
    return visit


def refused(answer: Visit | tuple[Code, str] | None) -> str:
    assert isinstance(answer, tuple)
    code, sentence = answer
    assert code is Code.TOO_MANY_CONNECTIONS
    assert code.retry
    return sentence


def test_each_name_has_its_own_bucket_and_those_at_rest_are_forgotten() -> None:
    buckets = Buckets(5)
    assert sum(buckets.take("busy", 1000.0) for _ in range(100)) == 10
    assert all(buckets.take(f"key {number}", 1000.0) for number in range(100))
    assert not buckets.take("busy", 1000.1)
    assert buckets.take("late", 1001.0)
    assert len(buckets) == 2, "what is full is as if it had never come"
    assert sum(buckets.take("busy", 1001.0) for _ in range(100)) == 5


def test_twice_the_rate_may_come_at_once_and_then_the_rate() -> None:
    bucket = Bucket(50, now=1000.0)
    assert sum(bucket.take(1000.0) for _ in range(500)) == 100
    assert sum(bucket.take(1001.0) for _ in range(500)) == 50
    assert not bucket.take(1001.01)
    assert bucket.take(1001.021)


def test_a_long_pause_saves_up_no_more_than_one_burst() -> None:
    bucket = Bucket(5, now=0.0)
    assert sum(bucket.take(1e9) for _ in range(500)) == 10


def test_a_clock_that_steps_back_neither_gives_nor_takes() -> None:
    bucket = Bucket(1, now=100.0)
    assert [bucket.take(100.0), bucket.take(100.0), bucket.take(100.0)] == [True, True, False]
    assert not bucket.take(0.0)
    assert not bucket.take(100.5)
    assert bucket.take(101.1)


def test_whatever_the_times_never_more_than_burst_and_rate_pass() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(50):
        rate = chance.randint(1, 100)
        bucket, now, passed = Bucket(rate, 0.0), 0.0, 0
        for _ in range(500):
            now += chance.choice((0.0, 0.001, 0.01, 0.1, 3.0)) * chance.random()
            passed += bucket.take(now)
        assert passed <= rate * (2 + now) + 1e-6


def test_places_are_taken_and_given_back() -> None:
    exports = Counter(2)
    assert [exports.take(), exports.take(), exports.take()] == [True, True, False]
    assert (exports.taken, exports.full) == (2, True)
    exports.give_back()
    assert (exports.taken, exports.full) == (1, False)
    assert exports.take()


def test_a_place_that_nobody_has_cannot_be_given_back() -> None:
    with pytest.raises(ValueError, match="nobody has a place"):
        Counter(1).give_back()


def test_connections_are_bounded_in_total() -> None:
    turnstile = Turnstile(limits(connections=3))
    visits = [entered(turnstile, "anna"), entered(turnstile, "ben"), entered(turnstile)]
    assert "serves 3 connections" in refused(turnstile.enter("anna"))
    assert "serves 3 connections" in refused(turnstile.enter())
    visits[0].leave()
    entered(turnstile)


def test_strangers_are_few_and_do_not_keep_out_who_has_a_key() -> None:
    turnstile = Turnstile(limits(strangers=2))
    first, _ = entered(turnstile), entered(turnstile)
    assert "logging in right now" in refused(turnstile.enter())
    entered(turnstile, "anna")
    assert first.admit("ben") is None
    assert (turnstile.strangers, turnstile.connections) == (1, 3)
    entered(turnstile)


def test_the_connections_of_one_key_are_bounded_by_whichever_way_it_came() -> None:
    turnstile = Turnstile(limits(connections_per_key=2))
    stranger = entered(turnstile)
    first = entered(turnstile, "anna")
    assert stranger.admit("anna") is None
    assert "this key has 2 connections" in refused(turnstile.enter("anna"))
    late = entered(turnstile)
    assert "this key has 2 connections" in refused(late.admit("anna"))
    assert (late.key, turnstile.strangers) == (None, 1)
    assert late.admit("ben") is None
    first.leave()
    assert turnstile.of_key("anna") == 1
    entered(turnstile, "anna")


def test_leaving_twice_is_leaving_once() -> None:
    turnstile = Turnstile(limits())
    anna, stranger, other = entered(turnstile, "anna"), entered(turnstile), entered(turnstile)
    for visit in (anna, stranger, anna, stranger):
        visit.leave()
    assert (turnstile.connections, turnstile.strangers, turnstile.of_key("anna")) == (1, 1, 0)
    other.leave()
    assert (turnstile.connections, turnstile.strangers) == (0, 0)


def test_only_a_stranger_who_is_here_can_be_admitted() -> None:
    turnstile = Turnstile(limits())
    gone, known = entered(turnstile), entered(turnstile, "anna")
    gone.leave()
    for visit in (gone, known):
        with pytest.raises(ValueError, match="only a stranger"):
            visit.admit("ben")
    assert (turnstile.connections, turnstile.of_key("ben")) == (1, 0)


def test_after_any_coming_and_going_all_places_are_free_again() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    bounds = limits(connections=20, connections_per_key=6, strangers=5)
    turnstile = Turnstile(bounds)
    inside: list[Visit] = []
    for _ in range(5000):
        action = chance.random()
        if action < 0.5:
            visit = turnstile.enter(chance.choice((None, "anna", "ben", "cleo")))
            inside += [visit] if isinstance(visit, Visit) else []
        elif inside and action < 0.7 and (visit := chance.choice(inside)).key is None:
            visit.admit(chance.choice(("anna", "ben")))
        elif inside:
            inside.pop(chance.randrange(len(inside))).leave()
        assert turnstile.connections == len(inside) <= 20
        assert turnstile.strangers == sum(visit.key is None for visit in inside) <= 5
        for key in ("anna", "ben", "cleo"):
            assert turnstile.of_key(key) == sum(visit.key == key for visit in inside) <= 6
    for visit in inside:
        visit.leave()
    assert (turnstile.connections, turnstile.strangers, turnstile._keys) == (0, 0, {})
