"""Ids are remembered as long as memory is allowed to grow."""

from __future__ import annotations

from evergrid.changelog.recent import RecentIds


def test_an_id_is_new_once() -> None:
    ids = RecentIds()
    assert ids.is_new("0:1")
    assert not ids.is_new("0:1")


def test_a_deleted_id_may_come_as_new() -> None:
    ids = RecentIds()
    ids.is_new("0:1")
    assert ids.forget("0:1")
    assert not ids.forget("0:1")
    assert ids.is_new("0:1")


def test_the_id_that_was_untouched_longest_is_forgotten_first() -> None:
    ids = RecentIds(most=2)
    ids.is_new("a")
    ids.is_new("b")
    ids.is_new("a")
    ids.is_new("c")
    assert not ids.is_new("a")
    assert ids.is_new("b")
