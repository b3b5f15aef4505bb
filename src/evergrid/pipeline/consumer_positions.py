"""How far the live queries have read, from the metrics of their Kafka consumers.

In real-time mode Spark reports a query's progress only when its batch ends, minutes later. Its
Kafka consumers publish their distance from a topic's start (the lead) as Java management beans,
which can be read if Spark's tasks run in the driver's process.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyspark.sql import SparkSession

from evergrid.kafka.topics import Place
from evergrid.pipeline.query_failures import told_plainly


def consumer_leads(spark: SparkSession, group: str, topics: Collection[str]) -> Mapping[Place, int]:
    """Messages between a topic's start and its consumer, for groups with this prefix.

    The value is that of the consumer's last fetch, which may be long ago.
    """
    java = spark._jvm  # the only access to Evergrid's Java classes
    assert java is not None
    with told_plainly("say how far its queries are"):
        lines: str = java.evergrid.engine.ConsumerLeads.of(group)
    known = by_bean_name(topics)
    found = (line.split(" ") for line in lines.splitlines())
    return {
        (known[name], int(partition)): int(lead) for name, partition, lead in found if name in known
    }


def by_bean_name(topics: Collection[str]) -> Mapping[str, str]:
    """Topics by their name in a bean: older clients write `_` for every `.`."""
    return {name: topic for topic in topics for name in (topic, topic.replace(".", "_"))}
