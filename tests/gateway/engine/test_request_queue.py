"""Requests of one key stay in order, and keys take turns."""

from __future__ import annotations

from functools import partial

from evergrid.gateway.engine.request_queue import RequestQueue


def test_a_key_with_many_requests_delays_another_by_one() -> None:
    requests = RequestQueue()
    done: list[str] = []
    for number in range(500):
        requests.put("many", partial(done.append, f"many {number}"))
    requests.put("few", partial(done.append, "few 0"))
    requests.put("few", partial(done.append, "few 1"))
    while job := requests.take():
        job()
    assert done[:5] == ["many 0", "few 0", "many 1", "few 1", "many 2"]
    assert [text for text in done if text.startswith("many")] == [f"many {n}" for n in range(500)]
    assert not requests


def test_a_key_that_comes_back_waits_for_its_turn() -> None:
    requests = RequestQueue()
    done: list[str] = []
    for key in ("a", "b", "a"):
        requests.put(key, partial(done.append, key))
    first = requests.take()
    assert first is not None
    first()
    requests.put("c", partial(done.append, "c"))
    while job := requests.take():
        job()
    assert done == ["a", "b", "a", "c"]
