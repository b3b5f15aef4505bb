from __future__ import annotations

from collections.abc import Iterator

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.reader import load_manifest
from evergrid.changelog.writer import ManifestWriter, RecordWriter, TableWriter
from evergrid.config.settings import Settings
from evergrid.orchestrator import generations
from evergrid.orchestrator.registry import Registry, without_unreadable


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def make_registry(settings: Settings) -> Registry:
    """As a pipeline that starts makes it."""
    connection, prefix = settings.kafka.internal, settings.internal_topics.prefix
    system = generations.make_system_topics(settings)
    records = RecordWriter(connection)
    return Registry(
        settings,
        without_unreadable(load_manifest(connection, prefix), print),
        ManifestWriter(records, prefix),
        TableWriter(records, system[settings.system_tables.orchestrator_status]),
    )
