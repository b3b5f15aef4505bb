"""What Evergrid's own topics are called and how they are made."""

from __future__ import annotations

import re

from evergrid.config.settings import InternalTopics, Limits
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.table import Retention

# JSON can write one byte of a message as six, a joined row holds two messages, and
# names and traces come on top.
_LARGEST_CHANGE_PER_MESSAGE_BYTE = 14
_SMALLEST_LIMIT = 1_048_576
_SIGNAL_MS = 600_000
_MANIFEST_SEGMENT_MS = 600_000  # only whole segments are compacted, and every pulse is a record


def manifest_topic(prefix: str) -> str:
    return f"{prefix}.manifest"


def table_topic(prefix: str, generation: int, table: str) -> str:
    return f"{prefix}.g{generation}.{table}"


def generation_of(prefix: str, topic: str) -> int | None:
    """The number of the generation that has this changelog, if it is one."""
    found = re.fullmatch(rf"{re.escape(prefix)}\.g(\d+)\..+", topic)
    return int(found[1]) if found else None


def system_topic(prefix: str, table: str) -> str:
    """The topic of a table that belongs to no generation."""
    return f"{prefix}.{table}"


def ticks_topic(prefix: str) -> str:
    """The topic of small messages that make the joins look at their clocks."""
    return f"{prefix}.ticks"


def reports_topic(prefix: str) -> str:
    """The topic in which the joins report how far they are, and what they left out."""
    return f"{prefix}.reports"


def largest_change(limits: Limits) -> int:
    """Bytes that a change can have when every source message stays within the limits."""
    return max(_SMALLEST_LIMIT, _LARGEST_CHANGE_PER_MESSAGE_BYTE * limits.message_bytes)


def manifest_spec(topics: InternalTopics) -> NewTopicSpec:
    """One partition, so that records keep their order; compacted, so that it stays small."""
    return NewTopicSpec(
        manifest_topic(topics.prefix),
        partitions=1,
        replication=topics.replication,
        config={
            "cleanup.policy": "compact",
            "retention.ms": "-1",
            "segment.ms": str(_MANIFEST_SEGMENT_MS),
        },
    )


def signal_specs(topics: InternalTopics) -> list[NewTopicSpec]:
    """Ticks and reports: of use for seconds, so they are kept for minutes."""
    config = {
        "cleanup.policy": "delete",
        "retention.ms": str(_SIGNAL_MS),
        "segment.ms": str(_SIGNAL_MS),
    }
    return [
        NewTopicSpec(name, partitions=1, replication=topics.replication, config=config)
        for name in (ticks_topic(topics.prefix), reports_topic(topics.prefix))
    ]


def control_spec(topic: str, topics: InternalTopics) -> NewTopicSpec:
    """One partition, since control messages count in their order, and nothing is ever cut."""
    return NewTopicSpec(
        topic,
        partitions=1,
        replication=topics.replication,
        config={"cleanup.policy": "delete", "retention.ms": "-1"},
    )


def changelog_spec(
    name: str, topics: InternalTopics, retention: Retention, limits: Limits
) -> NewTopicSpec:
    """Compacted by row id, and cut by the table's age when it has one."""
    config = {
        "cleanup.policy": "compact",
        "max.message.bytes": str(largest_change(limits)),
        "retention.ms": "-1",
    }
    if retention.age_seconds is not None:
        config["cleanup.policy"] = "compact,delete"
        config["retention.ms"] = str(retention.age_seconds * 1000)
    return NewTopicSpec(
        name, partitions=topics.partitions, replication=topics.replication, config=config
    )
