"""`evergrid check` says of everything whether it is well, and what to do where it is not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from evergrid.kafka import topics
from evergrid.kafka.broker import EmbeddedBroker
from evergrid.kafka.topics import NewTopicSpec

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "evergrid.yaml"
    file.write_text(text)
    return file


def marks(output: str) -> tuple[list[str], list[str]]:
    lines = output.splitlines()
    return [x for x in lines if x.startswith("✓")], [x for x in lines if x.startswith("✗")]


def test_all_is_well_with_a_broker_and_its_topics(
    run: Run, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    connection = broker.connection()
    topics.create(connection, [NewTopicSpec("users", 2), NewTopicSpec("accounts", 1)])
    own = ["evergrid.manifest", "evergrid.check"]
    before = topics.describe(connection, own)
    done = run("check", "-c", write(tmp_path, f"kafka: {{bootstrap: '{broker.bootstrap}'}}\n"))
    well, problems = marks(done.stdout)
    assert (problems, done.returncode) == ([], 0)
    assert f"bootstrap: {broker.bootstrap}" in done.stdout
    assert f"✓ Kafka for source, control, internal at {broker.bootstrap}: host reached" in well
    assert "✓ Python client: 1 broker answered" in well
    assert "✓ Java client: 1 broker answered" in well
    assert "✓ Source users: topic users seen (2 partitions), readable" in well
    assert "✓ Source accounts: topic accounts seen (1 partition), readable" in well
    assert "✓ Evergrid's own topics evergrid.*: can be made" in well
    assert (
        "✓ Evergrid's own topics: evergrid.check was made, written to by both clients, read and "
        "deleted" in well
    )
    assert topics.describe(connection, own) == before == {}
    assert not (tmp_path / ".evergrid").exists()


def test_a_missing_topic_and_an_impossible_own_topic_are_told_with_remedies(
    run: Run, broker: EmbeddedBroker, tmp_path: Path, environ: dict[str, str]
) -> None:
    environ["EVERGRID_SOURCES__USERS__TOPIC"] = "nobody_made_it"
    file = write(
        tmp_path,
        f"kafka: {{bootstrap: '{broker.bootstrap}'}}\ninternal_topics: {{replication: 3}}\n",
    )
    done = run("check", "-c", file)
    _, problems = marks(done.stdout)
    assert done.returncode == 1
    assert "topic nobody_made_it of source users does not exist" in problems[0]
    assert "sources.users.topic" in problems[0]
    assert "Set internal_topics.replication" in problems[-1]
    assert "problems to solve first" in done.stdout


def test_a_topic_that_is_waited_for_is_no_problem(
    run: Run, broker: EmbeddedBroker, tmp_path: Path, environ: dict[str, str]
) -> None:
    environ["EVERGRID_SOURCES__USERS__TOPIC"] = "later"
    file = write(tmp_path, f"kafka: {{bootstrap: '{broker.bootstrap}'}}\nmissing_topics: wait\n")
    done = run("check", "-c", file)
    assert "topic later does not exist; it is waited for" in done.stdout


def test_a_broker_that_is_not_there_is_named_with_the_reason(run: Run, tmp_path: Path) -> None:
    done = run("check", "-c", write(tmp_path, "kafka: {bootstrap: '127.0.0.1:1'}\n"))
    _, problems = marks(done.stdout)
    assert done.returncode == 1
    assert len(problems) == 1
    assert "Kafka connection source (127.0.0.1:1): could not connect" in problems[0]
    assert "kafka.bootstrap" in problems[0]


def test_each_cluster_is_asked_once(run: Run, broker: EmbeddedBroker, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        f"kafka: {{bootstrap: '{broker.bootstrap}', internal: {{bootstrap: '127.0.0.1:1'}}}}\n",
    )
    done = run("check", "-c", file)
    assert f"✓ Kafka for source, control at {broker.bootstrap}" in done.stdout
    assert "✗ Kafka connection internal (127.0.0.1:1)" in done.stdout


def test_an_unusable_data_dir_and_too_little_memory_are_both_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    file = write(
        tmp_path,
        "data_dir: file/data\nspark: {driver_memory: 1024g}\nkafka: {bootstrap: '127.0.0.1:1'}\n",
    )
    _, problems = marks(run("check", "-c", file).stdout)
    assert "is not a directory" in problems[0]
    assert "Set data_dir to a directory of yours." in problems[0]
    assert "spark.driver_memory" in problems[1]


def test_secrets_are_not_shown(run: Run, tmp_path: Path, environ: dict[str, str]) -> None:
    environ["KAFKA_PASSWORD"] = "correct-horse-battery"
    file = write(
        tmp_path,
        "kafka:\n  bootstrap: 127.0.0.1:1\n  properties:\n"
        "    security.protocol: SASL_PLAINTEXT\n    sasl.mechanism: PLAIN\n"
        "    sasl.jaas.config: 'org.apache.kafka.common.security.plain.PlainLoginModule required"
        ' username="ann" password="${env:KAFKA_PASSWORD}";\'\n',
    )
    done = run("check", "-c", file)
    assert done.returncode == 1
    assert "correct-horse-battery" not in done.stdout + done.stderr


def test_all_errors_of_a_configuration_are_told(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path, "dta_dir: x\nmissing_topics: perhaps\nspark: {batch: soon}\n")
    done = run("check", "-c", file)
    assert done.returncode == 1
    for word in ("dta_dir", "missing_topics", "spark.batch"):
        assert word in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["check", "tail", "demo"])
def test_help_is_there(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert "--config" in done.stdout
    assert "--screenshot" not in done.stdout
