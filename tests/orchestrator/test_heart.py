"""The sign of life goes on, whatever happens to a beat."""

from __future__ import annotations

import itertools
import logging
from pathlib import Path

import pytest

from evergrid.changelog.manifest import Behind
from evergrid.changelog.names import manifest_spec
from evergrid.changelog.reader import load_manifest
from evergrid.changelog.writer import ManifestWriter, RecordWriter
from evergrid.config import load
from evergrid.kafka import topics
from evergrid.kafka.broker import EmbeddedBroker
from evergrid.model.errors import ConfigError, LinkError
from evergrid.orchestrator import heart
from evergrid.orchestrator.heart import Heart
from evergrid.testing.tables import wait_for

LIMIT = 60.0


def test_no_error_of_a_beat_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(heart, "BEAT_SECONDS", 0.1)
    troubles: list[Exception] = [
        ConfigError("key values mismatch"),
        LinkError("the broker is away"),
        RuntimeError("changed while it was read"),
        RuntimeError("changed while it was read"),
    ]
    beats = itertools.count()

    def behind() -> Behind:
        beat = next(beats)
        if beat < len(troubles):
            raise troubles[beat]
        return Behind(beat, "since then")

    with EmbeddedBroker(tmp_path) as broker:
        settings = load(None, {"EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap})
        connection, own = settings.kafka.internal, settings.internal_topics
        topics.create(connection, [manifest_spec(own)])
        beating = Heart(ManifestWriter(RecordWriter(connection), own.prefix), behind)
        with caplog.at_level(logging.ERROR):
            beating.start()
            manifest = wait_for(
                lambda: load_manifest(connection, own.prefix), lambda found: found.pulse > 0, LIMIT
            )
        beating.stop()
    assert manifest.behind.why == "since then"
    assert len(caplog.records) == 2, "each is told once, a broker that is away not at all"
