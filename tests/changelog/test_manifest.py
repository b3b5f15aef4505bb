"""The manifest: what was written is what is read, whatever else stands in the topic."""

from __future__ import annotations

import msgspec

from evergrid.changelog.manifest import (
    Asked,
    Choices,
    Manifest,
    apply,
    encode_asked,
    encode_choices,
    encode_current,
    encode_generation,
    encode_gone,
    encode_numbered,
    encode_system,
)
from evergrid.config import load
from evergrid.model.control import Request
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
    manifest = apply(Manifest(), *encode_generation(written))
    assert manifest.generations == {2: written}
    assert manifest.current_generation is None


def test_current_is_the_switch_and_system_tables_are_always_there() -> None:
    settings = load(None, {})
    system = {"quarantine": TableTopic(settings.quarantine(), "evergrid.quarantine", 2)}
    manifest = apply(Manifest(), *encode_system(system))
    assert set(manifest.tables()) == {"quarantine"}
    manifest = apply(manifest, *encode_generation(full_generation()))
    assert set(manifest.tables()) == {"quarantine"}
    manifest = apply(manifest, *encode_current(2))
    assert set(manifest.tables()) == {"quarantine", "users_ui", "accounts_ui", "final_ui"}


def test_a_generation_that_is_gone_is_forgotten() -> None:
    manifest = apply(Manifest(), *encode_generation(full_generation()))
    assert apply(manifest, *encode_gone(2)) == Manifest()


def test_a_newer_version_s_records_harm_nobody() -> None:
    assert apply(Manifest(), b"something else", b"{}") == Manifest()


def test_what_may_be_asked_for_and_what_was_come_back_too() -> None:
    choices = Choices("c", ("users", "users_v2"), {"users": "usersTopic"}, {"final": "joinType"})
    asked = Asked("id", {0: 7}, {"users": "users_v2"}, {"final": JoinType.INNER})
    manifest = Manifest()
    for key, value in (encode_choices(choices), encode_asked(asked), encode_numbered(9)):
        manifest = apply(manifest, key, value)
    assert (manifest.choices, manifest.asked, manifest.highest) == (choices, asked, 9)
    assert manifest.asked.request == Request({"users": "users_v2"}, {"final": JoinType.INNER})
    assert manifest.same_tables(Manifest()), "none of it changes what is to be read"


def test_progress_changes_nothing_that_is_to_be_read() -> None:
    ready = full_generation()
    before = apply(Manifest(), *encode_generation(ready))
    telling = msgspec.structs.replace(ready, progress=Progress("x", 1, 2), error="so so")
    assert apply(before, *encode_generation(telling)).same_tables(before)
    failed = msgspec.structs.replace(ready, state=State.FAILED)
    assert not apply(before, *encode_generation(failed)).same_tables(before)
