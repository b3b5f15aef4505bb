"""The manifest: what was written is what is read, whatever else stands in the topic."""

from __future__ import annotations

import msgspec
import pytest

from evergrid.changelog.manifest import (
    Choices,
    Current,
    Gap,
    Gaps,
    HeartbeatRecord,
    LastNumber,
    Manifest,
    RequestedChanges,
    SystemTableTopics,
    TablesBehind,
    apply,
    carried_over,
    encode,
    generation_key,
)
from evergrid.changelog.unreadable_records import (
    FORMAT,
    SkipReason,
    unreadable_log_line,
    unreadable_text,
)
from evergrid.config import load
from evergrid.model.control_request import Request
from evergrid.model.generation import (
    Generation,
    Progress,
    SourceTopic,
    State,
    TableTopic,
    Times,
)
from evergrid.model.join import JoinType


def full_generation() -> Generation:
    settings = load(None, {"EVERGRID_SOURCES__USERS__START": "2026-01-31T00:00:00Z"})
    tables = (*settings.raw_tables(), *settings.joined_tables())
    return Generation(
        number=2,
        state=State.READY,
        sources=settings.sources,
        joins=settings.joins,
        topics={"users": SourceTopic("id", {0: 5}, raw=1, made=9)},
        tables={t.name: TableTopic(t, f"evergrid.g2.{t.name}", 2, {0: 3, 1: 4}) for t in tables},
        times=Times(created=1, ready=2),
        progress=Progress("writing", 1, 2),
        error="why",
    )


def test_a_generation_comes_back_whole() -> None:
    written = full_generation()
    manifest = apply(Manifest(), *encode(written))
    assert manifest.generations == {2: written}
    assert manifest.current_generation is None


def test_current_is_the_switch_and_system_tables_are_always_there() -> None:
    settings = load(None, {})
    system = {"quarantine": TableTopic(settings.quarantine(), "evergrid.quarantine", 2)}
    manifest = apply(Manifest(), *encode(SystemTableTopics(system)))
    assert set(manifest.tables()) == {"quarantine"}
    manifest = apply(manifest, *encode(full_generation()))
    assert set(manifest.tables()) == {"quarantine"}
    manifest = apply(manifest, *encode(Current(2)))
    assert set(manifest.tables()) == {"quarantine", "users_ui", "accounts_ui", "final_ui"}


def test_a_generation_that_is_gone_is_forgotten() -> None:
    manifest = apply(Manifest(), *encode(full_generation()))
    assert apply(manifest, generation_key(2), None) == Manifest()


def test_a_newer_version_s_records_harm_nobody() -> None:
    assert apply(Manifest(), b"something else", b"{}") == Manifest()


def test_what_may_be_asked_for_and_what_was_come_back_too() -> None:
    choices = Choices("c", ("users", "users_v2"), {"users": "usersTopic"}, {"final": "joinType"})
    asked = RequestedChanges("id", {0: 7}, {"users": "users_v2"}, {"final": JoinType.INNER})
    manifest = Manifest()
    for record in (choices, asked, LastNumber(9)):
        manifest = apply(manifest, *encode(record))
    assert (manifest.choices, manifest.asked, manifest.highest) == (choices, asked, 9)
    assert manifest.asked.request == Request({"users": "users_v2"}, {"final": JoinType.INNER})
    assert manifest.same_tables(Manifest()), "none of it changes what is to be read"


def test_progress_changes_nothing_that_is_to_be_read() -> None:
    ready = full_generation()
    before = apply(Manifest(), *encode(ready))
    telling = msgspec.structs.replace(ready, progress=Progress("x", 1, 2), error="so so")
    assert apply(before, *encode(telling)).same_tables(before)
    failed = msgspec.structs.replace(ready, state=State.FAILED)
    assert not apply(before, *encode(failed)).same_tables(before)


def test_a_table_that_generations_share_stays_named_when_one_of_them_is_gone() -> None:
    first = full_generation()
    later = {
        name: msgspec.structs.replace(target, ready_offsets={0: 9})
        for name, target in first.tables.items()
    }
    second = msgspec.structs.replace(first, number=3, tables=later)
    manifest = Manifest()
    for record in (first, Current(2), second):
        manifest = apply(manifest, *encode(record))
    assert manifest.tables() == first.tables, "a coming one changes nothing before the switch"
    switched = apply(manifest, *encode(Current(3)))
    assert switched.tables() == later
    assert not switched.same_tables(manifest), "its number and its ready offsets are others"
    assert apply(switched, generation_key(2), None).tables() == later


def test_gaps_come_back_whole_and_change_nothing_that_is_to_be_read() -> None:
    gaps = Gaps({"evergrid.g2.final_ui": (Gap("history", 3, ("u1", "u2"), 5),)})
    manifest = apply(Manifest(), *encode(gaps))
    assert manifest.gaps == gaps
    assert manifest.same_tables(Manifest())
    assert apply(manifest, *encode(Gaps())) == Manifest()


def test_which_tables_are_behind_comes_back_and_may_be_left_out() -> None:
    behind = TablesBehind(7, "why", ("final_ui",))
    manifest = apply(Manifest(), *encode(HeartbeatRecord(9, behind)))
    assert (manifest.heartbeat, manifest.behind) == (9, behind)
    assert behind.covers("final_ui")
    assert not behind.covers("users_ui")
    older = apply(Manifest(), b"pulse", b'{"at": 9, "behind": {"since": 7, "why": "why"}}')
    assert older.behind == TablesBehind(7, "why")
    assert older.behind.covers("users_ui"), "one that names none means all"
    assert not TablesBehind().covers("users_ui")


def unknown_state(one: Generation) -> tuple[bytes, bytes]:
    """Its record with a state that only a later version knows."""
    key, value = encode(one)
    return key, value.replace(b'"ready"', b'"warming"')


def changed(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """A generation's record with other bytes in it."""
    key, value = encode(full_generation())
    assert before in value
    return key, value.replace(before, after)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"pulse", b'{"at":"tomorrow"}'),
        (b"pulse", b'{"at":1' + b"0" * 400 + b"}"),
        (b"pulse", b""),
        (b"pulse", b"\xff"),
        (b"pulse", b"[" * 100_000),
        (b"current", b'{"generation":null}'),
        (b"system", b'{"tables":[]}'),
        (b"asked", b'{"types":{"final":"sideways"}}'),
        (b"generation:abc", b"{}"),
        (b"generation:abc", encode(full_generation())[1]),
        (b"generation:02", encode(full_generation())[1]),
        (b"generation:9", encode(full_generation())[1]),
        (b"generation:2", b"{}"),
        changed(b'"created":1', b'"created":1' + b"0" * 400),
        unknown_state(full_generation()),
        changed(b'"row_id":["', b'"row_id":["x'),
        changed(b'"order":["ts"', b'"order":["_partition"'),
        changed(b'"name":"email"', b'"name":"age"'),
        changed(b'"precision":18', b'"precision":99'),
        changed(b'"age_seconds":', b'"age_seconds":-'),
        changed(b'"topic":"evergrid.', b'"topic":"/'),
        changed(b'"partitions":2', b'"partitions":0'),
    ],
)
def test_a_record_that_cannot_be_read_is_skipped_and_counted(key: bytes, value: bytes) -> None:
    settings = load(None, {})
    good = Manifest()
    system = {"quarantine": TableTopic(settings.quarantine(), "evergrid.quarantine", 2)}
    asked = RequestedChanges(types={"final": JoinType.LEFT})
    for record in (SystemTableTopics(system), full_generation(), Current(2), asked):
        good = apply(good, *encode(record))
    good = apply(good, *encode(HeartbeatRecord(7)))
    bad = apply(good, key, value)
    assert bad.unreadable.keys() == {key}
    assert bad.unreadable[key].reason is SkipReason.INVALID
    assert bad.skipped == {"invalid": 1}
    assert msgspec.structs.replace(bad, unreadable={}, skipped={}) == good
    assert "the last valid values hold" in unreadable_text(bad.unreadable)
    again = apply(bad, key, value)
    assert (again.skipped, len(again.unreadable)) == ({"invalid": 2}, 1)
    gone = apply(again, key, None)
    assert (gone.unreadable, gone.skipped) == ({}, {"invalid": 2}), "a tombstone removes it"


def test_a_valid_record_ends_what_an_unreadable_one_began() -> None:
    manifest = apply(Manifest(), *unknown_state(full_generation()))
    assert manifest.generations == {}
    assert manifest.last_unreadable == 2
    manifest = apply(manifest, *encode(full_generation()))
    assert (manifest.unreadable, manifest.last_unreadable) == ({}, 0)
    assert manifest.generations == {2: full_generation()}


def test_a_record_of_a_newer_format_says_what_to_upgrade() -> None:
    key, value = encode(HeartbeatRecord(7))
    assert msgspec.json.decode(value)["format"] == FORMAT
    manifest = apply(Manifest(heartbeat=5), key, value.replace(b'"format":1', b'"format":2'))
    assert manifest.heartbeat == 5
    assert manifest.skipped == {"newer_format": 1}
    assert unreadable_text(manifest.unreadable) == (
        "Records of the manifest (pulse) were written by a newer Evergrid; upgrade the gateway."
    )
    line = unreadable_log_line(key, manifest.unreadable[key], "pipeline")
    assert line == (
        "Record pulse of the manifest was skipped: it has format 2, and this version reads formats "
        "up to 1. The last valid value holds. It was written by a newer Evergrid; upgrade the "
        "pipeline."
    )


def test_a_switch_to_a_generation_that_cannot_be_read_waits_for_its_record() -> None:
    first = msgspec.structs.replace(full_generation(), number=1)
    manifest = Manifest()
    for record in (first, Current(1)):
        manifest = apply(manifest, *encode(record))
    manifest = apply(manifest, *unknown_state(full_generation()))
    manifest = apply(manifest, *encode(Current(2)))
    assert (manifest.current, manifest.unknown_current) == (1, 2)
    assert manifest.tables() == first.tables
    manifest = apply(manifest, *encode(full_generation()))
    assert (manifest.current, manifest.unknown_current) == (2, None)


def test_the_last_valid_values_outlive_a_topic_that_was_compacted() -> None:
    before = Manifest()
    for record in (full_generation(), Current(2), HeartbeatRecord(7)):
        before = apply(before, *encode(record))
    records = {
        b"generation:2": unknown_state(full_generation())[1],
        b"current": encode(Current(2))[1],
        b"pulse": b"{}",
    }
    known = before
    for key, value in records.items():
        known = apply(known, key, value)
    fresh = Manifest()
    for key, value in records.items():  # what is left in the topic, read anew
        fresh = apply(fresh, key, value)
    assert (fresh.current, fresh.generations, fresh.heartbeat) == (None, {}, 0)
    assert carried_over(fresh, known) == known
    assert carried_over(before, known).generations == before.generations
    fresh = apply(Manifest(), b"pulse", b"{}")
    assert carried_over(fresh, known).generations == {}, "what is gone from the topic is gone"
