"""What Spark is given stays with Spark."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from evergrid.config.secrets import names_secret
from evergrid.config.settings import Connection
from evergrid.pipeline import session
from evergrid.pipeline.engine import engine_jar
from evergrid.pipeline.kafka_frames import message_stream
from evergrid.process.java import java_command
from tests.listening import is_loopback, listening_addresses

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
    frame = message_stream(spark, connection, {"users": {0: 0}}, "a-group", None)
    plans = frame._jdf.queryExecution().toString()  # the text that Spark's UI and event log have
    assert "subscribe=users" in plans
    assert "kafka.bootstrap.servers=127.0.0.1:1" in plans
    assert plans.count("(redacted)") >= 3
    assert SECRET not in plans


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("spark.hadoop.fs.azure.account.key.mine.dfs.core.windows.net", True),
        ("fs.azure.account.key.mine.dfs.core.windows.net", True),
        ("spark.hadoop.fs.s3a.encryption.key", True),
        ("spark.hadoop.fs.s3a.access.key", True),
        ("spark.ssl.keyPassword", True),
        ("spark.ssl.keyStore", True),
        ("spark.authenticate.secret", True),
        ("spark.hadoop.fs.gs.auth.service.account.private.key.id", True),
        ("spark.x.user.info", True),
        ("spark.ssl.keyStoreType", False),
        ("spark.x.keystore.location", False),
        ("spark.app.name", False),
        *((name, False) for name in (*session._FIXED, *session._DEFAULTS)),
    ],
)
def test_settings_that_are_secret_to_us_are_so_to_spark(name: str, hidden: bool) -> None:
    pattern = session._hidden({})["spark.redaction.regex"]
    assert names_secret(name) is bool(re.search(pattern, name)) is hidden


@pytest.mark.parametrize("value", ["monkeys", "users_by_key", "/opt/keys/a.jar:/opt/b.jar"])
def test_values_are_shown_in_which_a_key_is_a_word_like_others(value: str) -> None:
    assert not re.search(session._hidden({})["spark.redaction.regex"], value)


def test_java_leaves_its_files_in_the_data_directory(spark: SparkSession) -> None:
    """Whatever a killed Spark leaves behind is removed at the next start."""
    java = spark._jvm
    assert java is not None
    folder = Path(java.java.lang.System.getProperty("java.io.tmpdir"))
    assert folder == Path(str(spark.conf.get("spark.local.dir")))
    assert (folder.parent / "log" / "spark-log4j2.properties").is_file()


def test_a_server_without_an_address_listens_on_loopback_alone(spark: SparkSession) -> None:
    """The real-time shuffle makes such servers, with each batch."""
    java = spark._jvm
    process = session._process(spark)
    assert java is not None
    assert process is not None
    network = java.org.apache.spark.network
    conf = network.util.TransportConf("shuffle", network.util.MapConfigProvider.EMPTY)
    context = network.TransportContext(conf, network.server.NoOpRpcHandler())
    server = context.createServer()
    try:
        listening = listening_addresses(process.pid)
        assert is_loopback(listening[server.getPort()])
        assert all(map(is_loopback, listening.values())), listening
    finally:
        server.close()
        context.close()


def test_java_does_not_start_where_the_agent_finds_another_spark(tmp_path: Path) -> None:
    """Its class path has no server to bind: it says so, and nothing runs unbound."""
    command = [str(java_command()), f"-javaagent:{engine_jar()}=127.0.0.1", "-version"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode != 0
    assert "premain call failed" in done.stderr
