"""The sign of life goes on, whatever happens to a beat."""

from __future__ import annotations

import itertools
import logging
import time
from pathlib import Path

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.internal_topics import manifest_spec
from evergrid.changelog.manifest import HeartbeatRecord, ManifestRecord, TablesBehind
from evergrid.changelog.reader import load_manifest
from evergrid.changelog.writer import ManifestWriter, RecordWriter
from evergrid.config import load
from evergrid.kafka import topics
from evergrid.model.errors import ConfigError, LinkError
from evergrid.orchestrator import heartbeat
from evergrid.orchestrator.heartbeat import Heartbeat
from evergrid.testing.changelog_tables import wait_for

LIMIT = 60.0


def test_no_error_of_a_beat_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.1)
    troubles: list[Exception] = [
        ConfigError("key values mismatch"),
        LinkError("the broker is away"),
        RuntimeError("changed while it was read"),
        RuntimeError("changed while it was read"),
    ]
    beats = itertools.count()

    def behind() -> TablesBehind:
        beat = next(beats)
        if beat < len(troubles):
            raise troubles[beat]
        return TablesBehind(beat, "since then")

    monkeypatch.setattr(Heartbeat, "_has_changed", lambda _: False)  # only beats ask then

    with EmbeddedBroker(tmp_path) as broker:
        settings = load(None, {"EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap})
        connection, own = settings.kafka.internal, settings.internal_topics
        topics.create(connection, [manifest_spec(own)])
        beating = Heartbeat(ManifestWriter(RecordWriter(connection), own.prefix), behind)
        with caplog.at_level(logging.ERROR):
            beating.start()
            manifest = wait_for(
                lambda: load_manifest(connection, own.prefix),
                lambda found: found.heartbeat > 0,
                LIMIT,
            )
        beating.stop()
    assert manifest.behind.why == "since then"
    assert len(caplog.records) == 2, "each is told once, a broker that is away not at all"


class Beats(ManifestWriter):
    """Takes down what the manifest would be told."""

    def __init__(self) -> None:
        self.told: list[TablesBehind] = []

    def write(self, record: ManifestRecord) -> None:
        assert isinstance(record, HeartbeatRecord)
        self.told.append(record.behind)


def test_a_table_that_becomes_old_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 3600.0)
    monkeypatch.setattr(heartbeat, "_LOOK_SECONDS", 0.01)
    states = [
        TablesBehind(),
        TablesBehind(5, "failed", ("final_ui",)),
        TablesBehind(5, "failed", ("final_ui", "users_ui")),
        TablesBehind(),
    ]
    now = [states[0]]
    writer = Beats()
    beating = Heartbeat(writer, lambda: now[0])
    beating.start()
    for state in states:
        now[0] = state
        wait_for(lambda: writer.told[-1:], [state].__eq__, LIMIT)
    now[0] = TablesBehind(7, "")  # nothing that people would see
    time.sleep(0.2)
    beating.stop()
    assert writer.told == states


def test_how_many_messages_are_left_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count changes at every look, and each record of the manifest goes to every gateway."""
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 3600.0)
    monkeypatch.setattr(heartbeat, "_LOOK_SECONDS", 0.01)
    looks = itertools.count()
    writer = Beats()
    beating = Heartbeat(
        writer, lambda: TablesBehind(5, f"{next(looks)} messages are left", ("final_ui",))
    )
    beating.start()
    wait_for(lambda: next(looks), lambda look: look > 20, LIMIT)
    beating.stop()
    assert len(writer.told) == 1


def test_what_cannot_be_asked_is_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr(heartbeat, "_LOOK_SECONDS", 0.01)
    answers = itertools.count()

    def behind() -> TablesBehind:
        if next(answers) % 3:
            raise RuntimeError("changed while it was read")
        return TablesBehind()

    writer = Beats()
    beating = Heartbeat(writer, behind)
    beating.start()
    wait_for(lambda: len(writer.told), lambda told: told > 3, LIMIT)
    beating.stop()
