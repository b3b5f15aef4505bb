"""The manifest: what was written is what is read, whatever else stands in the topic."""

from __future__ import annotations

import msgspec

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
    encode,
    generation_key,
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
