"""`evergrid check` says of everything whether it is well, and what to do where it is not."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from tests.certificates import self_signed
from tests.handwritten_pipeline import HandwrittenPipeline

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.config import load
from evergrid.config.settings import Tls
from evergrid.gateway.access.key_file import create_key
from evergrid.kafka import topics
from evergrid.kafka.certificates import read_certificate
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec
from evergrid.process.private_directory import write_secret

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "evergrid.yaml"
    file.write_text(text)
    return file


def marks(output: str) -> tuple[list[str], list[str]]:
    lines = output.splitlines()
    return [x for x in lines if x.startswith("✓")], [x for x in lines if x.startswith("✗")]


def test_all_checks_pass_with_a_broker_and_its_topics(
    run: Run, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    connection = broker.connection()
    topics.create(connection, [NewTopicSpec("users", 2), NewTopicSpec("accounts", 1)])
    own = ["evergrid.manifest", "evergrid.check", "evergrid-control"]
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
    assert "✓ Control topic evergrid-control: does not exist yet; it can be made" in well
    assert "✓ Evergrid's own topics evergrid.*: can be made" in well
    assert (
        "✓ Evergrid's own topics: evergrid.check was made, written to by both clients, read and "
        "deleted" in well
    )
    keys = tmp_path / ".evergrid" / "keys.yaml"
    assert f"✓ Gateway keys: none yet in {keys}; evergrid key create NAME makes one" in well
    assert done.stdout.endswith("\n\nAll checks passed: this configuration can run here.\n")
    assert topics.describe(connection, own) == before == {}
    assert not (tmp_path / ".evergrid").exists()


def test_a_control_topic_is_really_read(
    run: Run, broker: EmbeddedBroker, tmp_path: Path, environ: dict[str, str]
) -> None:
    environ["EVERGRID_CONTROL__TOPIC"] = "wishes"
    topics.create(broker.connection(), [NewTopicSpec("wishes", 1)])
    file = write(tmp_path, f"kafka: {{bootstrap: '{broker.bootstrap}'}}\n")
    for _ in ("empty", "with a message"):
        assert (
            "✓ Control topic wishes: seen (1 partition), readable"
            in run("check", "-c", file).stdout
        )
        sender = Sender(broker.connection())
        sender.send("wishes", b"{}")
        sender.flush()


def test_a_control_topic_that_cannot_be_made_is_a_problem(
    run: Run, broker: EmbeddedBroker, tmp_path: Path, environ: dict[str, str]
) -> None:
    environ["EVERGRID_CONTROL__TOPIC"] = "impossible"
    file = write(
        tmp_path,
        f"kafka: {{bootstrap: '{broker.bootstrap}'}}\ninternal_topics: {{replication: 3}}\n",
    )
    _, problems = marks(run("check", "-c", file).stdout)
    assert any("could not create topic impossible" in problem for problem in problems)


def test_for_a_gateway_only_what_it_needs_is_tried(
    run: Run, broker: EmbeddedBroker, tmp_path: Path, environ: dict[str, str]
) -> None:
    environ["PATH"] = environ["JAVA_HOME"] = str(tmp_path)  # no Java
    settings = load(None, {"EVERGRID_KAFKA__BOOTSTRAP": broker.bootstrap})
    settings = msgspec.structs.replace(
        settings,
        internal_topics=msgspec.structs.replace(settings.internal_topics, prefix="served"),
    )
    file = write(
        tmp_path,
        "spark: {driver_memory: 1024g}\ndata_dir: nowhere/to/be/found\n"
        f"kafka: {{bootstrap: '{broker.bootstrap}', source: {{bootstrap: '127.0.0.1:1'}}}}\n"
        "internal_topics: {prefix: served}\ncontrol: {topic: served-control}\n",
    )
    here = [
        "✓ Gateway: may serve at http://127.0.0.1:8080",
        f"✓ Gateway keys: none yet in {tmp_path}/nowhere/to/be/found/keys.yaml; evergrid key "
        "create NAME makes one",
        f"✓ Kafka for control, internal at {broker.bootstrap}: host reached",
        "✓ Python client: 1 broker answered",
    ]
    done = run("check", "--for", "gateway", "-c", file)
    assert marks(done.stdout) == (
        [
            *here,
            "✓ Control topic served-control: does not exist yet; the pipeline makes it",
            "✓ Evergrid's own topics served.*: none yet; the pipeline makes them",
        ],
        [],
    )
    assert done.returncode == 0

    topics.create(broker.connection(), [NewTopicSpec("served-control", 1)])
    pipeline = HandwrittenPipeline(settings)
    pipeline.switch(pipeline.prepare(1))
    well, problems = marks(run("check", "--for", "gateway", "-c", file).stdout)
    assert (well[:4], problems) == (here, [])
    assert well[4] == "✓ Control topic served-control: seen (1 partition)"
    assert re.fullmatch(r"✓ Evergrid's own topics served\.\*: \d+ topics seen, readable", well[5])


def test_for_a_pipeline_the_gateways_files_do_not_matter(run: Run, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "gateway: {tls: {certificate: none.pem, key: none.key}}\n"
        "kafka: {bootstrap: '127.0.0.1:1'}\n",
    )
    said = run("check", "--for", "pipeline", "-c", file).stdout
    assert "✓ Java: " in said
    assert not re.search("^. Gateway|✗ gateway", said, re.MULTILINE)


# The gateway's files


def gateway_findings(run: Run, file: Path) -> tuple[list[str], list[str]]:
    """What is said before Kafka, which nobody is at home at."""
    well, problems = marks(run("check", "--for", "gateway", "-c", file).stdout)
    assert "could not connect" in problems[-1]
    return well, problems[:-1]


def test_a_certificate_with_its_key_is_said_with_its_end(run: Run, tmp_path: Path) -> None:
    files = self_signed(tmp_path)
    well, problems = gateway_findings(run, with_certificate(tmp_path, files))
    assert problems == []
    certificate = read_certificate(files.certificate.read_text())
    assert certificate is not None
    ends = f"{certificate.expires:%Y-%m-%d %H:%M} UTC"
    assert f"✓ Gateway certificate {files.certificate}: with its key, valid until {ends}" in well


def test_a_certificate_that_is_missing_expired_or_anothers_is_a_problem(
    run: Run, tmp_path: Path
) -> None:
    files, other = self_signed(tmp_path), self_signed(tmp_path, "other")
    missing = Tls(tmp_path / "none.pem", files.key)
    _, (problem,) = gateway_findings(run, with_certificate(tmp_path, missing))
    assert "none.pem cannot be read (No such file or directory). Set it to PEM files" in problem

    crossed = Tls(files.certificate, other.key)
    _, (problem,) = gateway_findings(run, with_certificate(tmp_path, crossed))
    assert "invalid certificate or key in" in problem

    yesterday = datetime.now(UTC) - timedelta(days=1)
    made = CertificateAuthority().server(until=yesterday)
    files.certificate.write_text(made.pem)
    write_secret(files.key, made.key_pem)
    _, (problem,) = gateway_findings(run, with_certificate(tmp_path, files))
    assert f"expired at {yesterday:%Y-%m-%d %H:%M} UTC. Put a new one there" in problem


def with_certificate(tmp_path: Path, files: Tls) -> Path:
    return write(
        tmp_path,
        f"gateway: {{tls: {{certificate: '{files.certificate}', key: '{files.key}'}}}}\n"
        "kafka: {bootstrap: '127.0.0.1:1'}\n",
    )


def test_keys_are_counted_and_a_key_file_that_lets_others_in_is_a_problem(
    run: Run, tmp_path: Path
) -> None:
    file = write(
        tmp_path, "gateway: {keys: keys.yaml, port: 1234}\nkafka: {bootstrap: '127.0.0.1:1'}\n"
    )
    keys = tmp_path / "keys.yaml"
    for name, count in (("ann", "1 key"), ("ben", "2 keys")):
        create_key(keys, name)
        well, problems = gateway_findings(run, file)
        assert f"✓ Gateway keys: {count} in {keys}" in well
        assert problems == []
    keys.chmod(0o666)
    _, (problem,) = gateway_findings(run, file)
    assert "other users can write to the key file" in problem


def test_a_gateway_that_would_send_keys_unencrypted_is_a_problem(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path, "gateway: {host: 0.0.0.0}\nkafka: {bootstrap: '127.0.0.1:1'}\n")
    _, (problem,) = gateway_findings(run, file)
    assert "keys would travel unencrypted. Set gateway.tls" in problem


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
