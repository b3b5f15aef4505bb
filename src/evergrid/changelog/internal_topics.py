"""Names and settings of Evergrid's own topics."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evergrid.config.settings import InternalTopics, Limits
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.table import Retention

# JSON can take six bytes for one byte of a message, a joined row has two messages, and the names
# and trace columns come on top.
_LARGEST_CHANGE_PER_MESSAGE_BYTE = 14
_SMALLEST_LIMIT = 1_048_576
_SIGNAL_MS = 600_000
# Only closed segments are compacted, and every heartbeat is a record.
_MANIFEST_SEGMENT_MS = 600_000
_MAJORITY_FROM = 3  # copies; with two, the topic could not be written while one is away


def manifest_topic(prefix: str) -> str:
    return f"{prefix}.manifest"


def owner_id(prefix: str) -> str:
    """The transactional id of the pipeline that owns these topics."""
    return f"{prefix}.owner"


def table_topic(prefix: str, generation: int, table: str) -> str:
    return f"{prefix}.g{generation}.{table}"


def generation_of(prefix: str, topic: str) -> int | None:
    """The generation whose changelog this topic is; None for other topics."""
    found = re.fullmatch(rf"{re.escape(prefix)}\.g(\d+)\..+", topic)
    return int(found[1]) if found else None


def system_topic(prefix: str, table: str) -> str:
    """The topic of a table that belongs to no generation."""
    return f"{prefix}.{table}"


def ticks_topic(prefix: str) -> str:
    """The topic of the messages that make the joins check their timers."""
    return f"{prefix}.ticks"


def reports_topic(prefix: str) -> str:
    """The topic in which the joins report their progress and the messages they left out."""
    return f"{prefix}.reports"


def largest_change(limits: Limits) -> int:
    """The largest change, in bytes, for source messages within the limits."""
    return max(_SMALLEST_LIMIT, _LARGEST_CHANGE_PER_MESSAGE_BYTE * limits.message_bytes)


def manifest_spec(topics: InternalTopics) -> NewTopicSpec:
    """One partition keeps the records in order; compaction keeps the topic small."""
    segment = str(_MANIFEST_SEGMENT_MS)
    config = {"cleanup.policy": "compact", "retention.ms": "-1", "segment.ms": segment}
    return _spec(manifest_topic(topics.prefix), 1, topics, config)


def signal_specs(topics: InternalTopics) -> list[NewTopicSpec]:
    """Ticks and reports, which are kept for minutes."""
    kept = str(_SIGNAL_MS)
    config = {"cleanup.policy": "delete", "retention.ms": kept, "segment.ms": kept}
    return [
        _spec(name, 1, topics, config)
        for name in (ticks_topic(topics.prefix), reports_topic(topics.prefix))
    ]


def control_spec(topic: str, topics: InternalTopics) -> NewTopicSpec:
    """One partition keeps control messages in order; they are kept for ever."""
    config = {"cleanup.policy": "delete", "retention.ms": "-1"}
    return _spec(topic, 1, topics, config)


def changelog_spec(
    name: str, topics: InternalTopics, retention: Retention, limits: Limits
) -> NewTopicSpec:
    """Compacted by row id; with a maximum age, older changes are deleted."""
    config = {
        "cleanup.policy": "compact",
        "max.message.bytes": str(largest_change(limits)),
        "retention.ms": "-1",
    }
    if retention.age_seconds is not None:
        config["cleanup.policy"] = "compact,delete"
        config["retention.ms"] = str(retention.age_seconds * 1000)
    return _spec(name, topics.partitions, topics, config)


def _spec(
    name: str, partitions: int, topics: InternalTopics, config: Mapping[str, str]
) -> NewTopicSpec:
    """A topic that loses no acknowledged record while `min_insync` of its copies are left, and
    none because it grows: only its own age limits it, not a size that the broker is set to."""
    safer = {"unclean.leader.election.enable": "false", "retention.bytes": "-1"}
    if topics.min_insync > 0:
        safer["min.insync.replicas"] = str(topics.min_insync)
    elif topics.replication >= _MAJORITY_FROM:
        safer["min.insync.replicas"] = str(topics.replication // 2 + 1)
    return NewTopicSpec(name, partitions, topics.replication, config, safer)
