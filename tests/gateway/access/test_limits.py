"""What comes in is bounded: messages over time, connections by whose they are."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable

import msgspec
import pytest

from evergrid.config import load
from evergrid.config.settings import GatewayLimits
from evergrid.gateway.access.limits import (
    ConnectionCounter,
    ConnectionSlot,
    SlotCounter,
    TokenBucket,
    TokenBuckets,
)
from evergrid.gateway.access.request_error import RequestError
from evergrid.protocol.error_codes import Code


def limits(**changes: int) -> GatewayLimits:
    return msgspec.structs.replace(load(None, {}).gateway.limits, **changes)


def rejected(take: Callable[[], object]) -> str:
    """The sentence with which the limit rejects this."""
    with pytest.raises(RequestError) as caught:
        take()
    assert caught.value.code is Code.TOO_MANY_CONNECTIONS
    assert caught.value.code.retry
    return caught.value.sentence()


def test_each_name_has_its_own_bucket_and_those_at_rest_are_forgotten() -> None:
    buckets = TokenBuckets(5)
    assert sum(buckets.take("busy", 1000.0) for _ in range(100)) == 10
    assert all(buckets.take(f"key {number}", 1000.0) for number in range(100))
    assert not buckets.take("busy", 1000.1)
    assert buckets.take("late", 1001.0)
    assert len(buckets) == 2, "what is full is as if it had never come"
    assert sum(buckets.take("busy", 1001.0) for _ in range(100)) == 5


def test_twice_the_rate_may_come_at_once_and_then_the_rate() -> None:
    bucket = TokenBucket(50, now=1000.0)
    assert sum(bucket.take(1000.0) for _ in range(500)) == 100
    assert sum(bucket.take(1001.0) for _ in range(500)) == 50
    assert not bucket.take(1001.01)
    assert bucket.take(1001.021)


def test_a_long_pause_saves_up_no_more_than_one_burst() -> None:
    bucket = TokenBucket(5, now=0.0)
    assert sum(bucket.take(1e9) for _ in range(500)) == 10


def test_a_clock_that_steps_back_neither_gives_nor_takes() -> None:
    bucket = TokenBucket(1, now=100.0)
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
        bucket, now, passed = TokenBucket(rate, 0.0), 0.0, 0
        for _ in range(500):
            now += chance.choice((0.0, 0.001, 0.01, 0.1, 3.0)) * chance.random()
            passed += bucket.take(now)
        assert passed <= rate * (2 + now) + 1e-6


def test_slots_are_taken_and_released() -> None:
    exports = SlotCounter(2)
    assert [exports.take(), exports.take(), exports.take()] == [True, True, False]
    assert (exports.taken, exports.full) == (2, True)
    exports.release()
    assert (exports.taken, exports.full) == (1, False)
    assert exports.take()


def test_a_slot_that_is_not_taken_cannot_be_released() -> None:
    with pytest.raises(ValueError, match="no slot is taken"):
        SlotCounter(1).release()


def test_connections_are_bounded_in_total() -> None:
    counter = ConnectionCounter(limits(connections=3))
    slots = [counter.take("anna"), counter.take("ben"), counter.take()]
    assert "serves 3 connections" in rejected(lambda: counter.take("anna"))
    assert "serves 3 connections" in rejected(lambda: counter.take())
    slots[0].release()
    counter.take()


def test_connections_without_a_key_are_few_and_do_not_block_those_with_one() -> None:
    counter = ConnectionCounter(limits(strangers=2))
    first, _ = counter.take(), counter.take()
    assert "logging in right now" in rejected(lambda: counter.take())
    counter.take("anna")
    first.log_in("ben")
    assert (counter.of_key(None), counter.connections) == (1, 3)
    counter.take()


def test_the_connections_of_one_key_are_bounded_by_whichever_way_it_came() -> None:
    counter = ConnectionCounter(limits(connections_per_key=2))
    anonymous = counter.take()
    first = counter.take("anna")
    anonymous.log_in("anna")
    assert "this key has 2 connections" in rejected(lambda: counter.take("anna"))
    late = counter.take()
    assert "this key has 2 connections" in rejected(lambda: late.log_in("anna"))
    assert (late.key, counter.of_key(None)) == (None, 1)
    late.log_in("ben")
    first.release()
    assert counter.of_key("anna") == 1
    counter.take("anna")


def test_releasing_twice_is_releasing_once() -> None:
    counter = ConnectionCounter(limits())
    anna, anonymous, other = counter.take("anna"), counter.take(), counter.take()
    for slot in (anna, anonymous, anna, anonymous):
        slot.release()
    assert (counter.connections, counter.of_key(None), counter.of_key("anna")) == (1, 1, 0)
    other.release()
    assert (counter.connections, counter.of_key(None)) == (0, 0)


def test_only_an_open_connection_without_a_key_can_log_in() -> None:
    counter = ConnectionCounter(limits())
    gone, known = counter.take(), counter.take("anna")
    gone.release()
    for slot in (gone, known):
        with pytest.raises(ValueError, match="only an open connection"):
            slot.log_in("ben")
    assert (counter.connections, counter.of_key("ben")) == (1, 0)


def test_after_any_sequence_all_slots_are_free_again() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    bounds = limits(connections=20, connections_per_key=6, strangers=5)
    counter = ConnectionCounter(bounds)
    inside: list[ConnectionSlot] = []
    for _ in range(5000):
        action = chance.random()
        if action < 0.5:
            with contextlib.suppress(RequestError):
                inside.append(counter.take(chance.choice((None, "anna", "ben", "cleo"))))
        elif inside and action < 0.7 and (slot := chance.choice(inside)).key is None:
            with contextlib.suppress(RequestError):
                slot.log_in(chance.choice(("anna", "ben")))
        elif inside:
            inside.pop(chance.randrange(len(inside))).release()
        assert counter.connections == len(inside) <= 20
        assert counter.of_key(None) == sum(slot.key is None for slot in inside) <= 5
        for key in ("anna", "ben", "cleo"):
            assert counter.of_key(key) == sum(slot.key == key for slot in inside) <= 6
    for slot in inside:
        slot.release()
    assert (counter.connections, counter.of_key(None), counter._keys) == (0, 0, {})
