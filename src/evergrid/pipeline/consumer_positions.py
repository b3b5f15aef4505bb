"""How far the live queries have read, from the metrics of their Kafka consumers.

In real-time mode Spark reports a query's progress only when its batch ends, minutes later. Its
Kafka consumers publish their distance from a topic's start (the lead) as Java management beans,
which can be read if Spark's tasks run in the driver's process.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from py4j.java_gateway import JavaGateway, JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from evergrid.kafka.topics import Place
from evergrid.pipeline.query_failures import told_plainly

_BEANS = "kafka.consumer:type=consumer-fetch-manager-metrics,client-id=*,topic=*,partition=*"


class ConsumerPositions:
    """Reads the leads of one session's consumers."""

    def __init__(self, spark: SparkSession) -> None:
        gateway: JavaGateway | None = spark.sparkContext._gateway
        assert gateway is not None, "a session has its Java"
        self._gateway = gateway
        self._jvm = gateway.jvm
        # The bean server's class is closed to reflection; its interface is not.
        server = self._class("javax.management.MBeanServer")
        name = self._class("javax.management.ObjectName")
        self._names = self._method(
            server, "queryNames", name, self._class("javax.management.QueryExp")
        )
        self._attribute = self._method(
            server, "getAttribute", name, self._class("java.lang.String")
        )

    def of(self, group: str, topics: Collection[str]) -> Mapping[Place, int]:
        """Messages between a topic's start and its consumer, for groups with this prefix.

        The value is that of the consumer's last fetch, which may be long ago.
        """
        with told_plainly("say how far its queries are"):
            server = self._jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer()
            pattern = self._jvm.javax.management.ObjectName(_BEANS)
            names = self._names.invoke(server, self._objects([pattern, None]))
            mine = [n for n in names.toArray() if f"-{group}-" in n.getKeyProperty("client-id")]
            known = by_bean_name(topics)
            leads: dict[Place, int] = {}
            for name in mine:
                topic = known.get(_plain(name.getKeyProperty("topic")))
                lead = self._lead(server, name)
                if topic is not None and lead is not None:
                    leads[topic, int(_plain(name.getKeyProperty("partition")))] = lead
            return leads

    def _lead(self, server: JavaObject, name: JavaObject) -> int | None:
        """None before the first fetch, or if the consumer has just been closed."""
        try:
            value = float(self._attribute.invoke(server, self._objects([name, "records-lead"])))
        except Py4JJavaError:
            return None
        return None if math.isnan(value) else int(value)

    def _class(self, name: str) -> JavaObject:
        return self._jvm.java.lang.Class.forName(name)

    def _method(self, owner: JavaObject, name: str, *parameters: JavaObject) -> JavaObject:
        kinds = self._gateway.new_array(self._jvm.java.lang.Class, len(parameters))
        for index, parameter in enumerate(parameters):
            kinds[index] = parameter
        return owner.getMethod(name, kinds)

    def _objects(self, values: Sequence[object]) -> JavaObject:
        array = self._gateway.new_array(self._jvm.java.lang.Object, len(values))
        for index, value in enumerate(values):
            array[index] = value
        return array


def by_bean_name(topics: Collection[str]) -> Mapping[str, str]:
    """Topics by their name in a bean: older clients write `_` for every `.`."""
    return {name: topic for topic in topics for name in (topic, topic.replace(".", "_"))}


def _plain(property_: str) -> str:
    """A bean's property without the quotes around names with special characters."""
    return property_.strip('"')
