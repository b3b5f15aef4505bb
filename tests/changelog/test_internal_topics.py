"""Evergrid's own topics are made so that acknowledged records are not lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    ConfigResource,
    ResourceType,
)

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.internal_topics import changelog_spec, manifest_spec
from evergrid.config.settings import InternalTopics, Limits
from evergrid.kafka import clients, topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.table import Retention


@pytest.mark.parametrize(
    ("replication", "min_insync", "expected"),
    [(-1, -1, None), (1, -1, None), (2, -1, None), (3, -1, "2"), (5, -1, "3"), (2, 2, "2")],
)
def test_most_copies_must_have_a_record(
    replication: int, min_insync: int, expected: str | None
) -> None:
    own = InternalTopics("evergrid", 2, replication, min_insync)
    for spec in (manifest_spec(own), changelog_spec("t", own, Retention(), Limits(1, 1, 1))):
        assert spec.optional.get("min.insync.replicas") == expected
        assert spec.optional["unclean.leader.election.enable"] == "false"


def test_a_cluster_has_these_settings_or_refuses_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedBroker(tmp_path) as broker:
        connection = broker.connection()
        made = manifest_spec(InternalTopics("evergrid", 2, -1, 1))
        refused = NewTopicSpec("plain", 1, config=made.config, optional={"no.such.setting": "1"})
        topics.create(connection, [made, refused])
        found = settings_of(broker, "evergrid.manifest")
        assert {name: found[name] for name in made.optional} == made.optional
        assert found["min.insync.replicas"] == "1"
        assert settings_of(broker, "plain")["cleanup.policy"] == "compact"
        assert "refuses settings of Evergrid's own topics (no.such.setting=1)" in caplog.text
        topics.create(connection, [made, refused])  # one that exists stays as it is


def settings_of(broker: EmbeddedBroker, topic: str) -> dict[str, str]:
    admin = clients.admin(broker.connection())
    asked = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)])
    (answer,) = asked.values()
    return {name: entry.value for name, entry in answer.result(timeout=60).items()}
