"""What was asked for before is remembered, whatever keeps messages from being read."""

from __future__ import annotations

from tests.orchestrator.conftest import make_registry

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.manifest import RequestedChanges
from evergrid.changelog.reader import load_manifest
from evergrid.changelog.writer import RecordWriter, TableWriter
from evergrid.config import load
from evergrid.orchestrator import generations
from evergrid.orchestrator.control_requests import ControlInbox

PREFIX = "inbox"
NOBODY = "127.0.0.1:1"


def test_a_start_without_the_control_topic_forgets_nothing(broker: EmbeddedBroker) -> None:
    settings = load(
        None,
        {
            "EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap,
            "EVERGRID_KAFKA__CONTROL__BOOTSTRAP": NOBODY,
            "EVERGRID_INTERNAL_TOPICS__PREFIX": PREFIX,
        },
    )
    before = RequestedChanges("its id", {0: 3}, {"users": "users_v2"})
    make_registry(settings).tell(before)
    registry = make_registry(settings)
    assert registry.manifest.asked == before
    control_raw = generations.make_system_topics(settings)[settings.system_tables.control_raw]
    said: list[str] = []
    verdicts = TableWriter(RecordWriter(settings.kafka.internal), control_raw)
    inbox = ControlInbox(settings, registry, verdicts, said.append)
    inbox.open()
    inbox.write_verdicts()
    assert NOBODY in said[0]
    assert not inbox.has_read
    assert load_manifest(settings.kafka.internal, PREFIX).asked == before
