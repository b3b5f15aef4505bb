"""What Spark is given stays with Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from evergrid.config.settings import Connection
from evergrid.pipeline.sources import message_stream

SECRET = "canary-of-the-plans"


def test_plans_show_nothing_that_a_kafka_client_is_given(spark: SparkSession) -> None:
    connection = Connection(
        "source",
        "127.0.0.1:1",
        java={
            "sasl.jaas.config": f'a.Module required words="{SECRET}";',
            "ssl.keystore.key": SECRET,
            "a.property.of.ones.own": SECRET,
        },
    )
    frame = message_stream(spark, connection, "users", {0: 0}, "a-group")
    plans = frame._jdf.queryExecution().toString()  # the text that Spark's UI and event log have
    assert "subscribe=users" in plans
    assert "kafka.bootstrap.servers=127.0.0.1:1" in plans
    assert plans.count("(redacted)") >= 3
    assert SECRET not in plans
