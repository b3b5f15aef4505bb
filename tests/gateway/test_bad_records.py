"""A gateway goes on, whatever stands in its topics and whatever Kafka has lost of them, and tells
what it lacks."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import yaml
from confluent_kafka import OFFSET_END, TopicPartition

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.manifest import Choices, Current, encode
from evergrid.changelog.writer import RecordWriter
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.gateway.access.key_file import create_key
from evergrid.kafka import clients
from tests.gateway.caller import calling, wait_until
from tests.gateway.test_served import (
    START_SECONDS,
    TABLE,
    Stage,
    is_ready,
    metrics,
    port_of,
    start_gateway,
    user,
)
from tests.handwritten_pipeline import HandwrittenPipeline


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    with EmbeddedBroker(tmp_path / "kafka") as broker:
        config = tmp_path / "evergrid.yaml"
        config.write_text(
            yaml.safe_dump(
                {
                    "data_dir": str(tmp_path / "data"),
                    "kafka": {"bootstrap": broker.bootstrap},
                    "internal_topics": {"partitions": 1},
                    "gateway": {"port": 0, "linger": "1s"},
                }
            )
        )
        yield load(config, {})


@pytest.fixture
def stage(settings: Settings, tmp_path: Path) -> Iterator[Stage]:
    """A gateway with ten users."""
    pipeline = HandwrittenPipeline(settings)
    generation = pipeline.prepare(1)
    target = generation.tables[TABLE]
    pipeline.write_all(target, {f"0:{offset}": user(offset) for offset in range(10)})
    pipeline.switch(generation)
    pipeline.beat()
    _, secret = create_key(settings.gateway.keys, "tests", control=True)
    process = start_gateway(tmp_path / "evergrid.yaml", tmp_path)
    running = Stage(process, port_of(process), secret, pipeline, generation)
    try:
        wait_until(lambda: is_ready(running), "all tables", START_SECONDS)
        yield running
        assert running.process.is_running(), running.process.said()
        assert "Traceback" not in running.process.said()
    finally:
        running.process.stop()


def message_of(stage: Stage) -> str:
    """What the pipeline's status says."""
    with calling(stage) as caller:
        return str(json.loads(caller.ask("/api/pipeline").body)["pipeline"]["message"])


def runs(stage: Stage) -> bool:
    stage.pipeline.beat()
    return message_of(stage) == "The pipeline runs."


def table_of(stage: Stage) -> dict[str, object]:
    with calling(stage) as caller:
        listed = json.loads(caller.ask("/api/tables").body)["tables"]
        return next(one for one in listed if one["name"] == TABLE)


def rows_of(stage: Stage) -> list[str]:
    with calling(stage) as caller:
        body = caller.ask(f"/api/tables/{TABLE}/rows?format=csv&columns=age&limit=1000").body
        ids = [line.split(",")[0] for line in body.decode().splitlines()]
        return [row_id for row_id in ids if row_id.startswith("0:")]


def test_no_manifest_record_stops_a_gateway(
    settings: Settings, stage: Stage, tmp_path: Path
) -> None:
    writer, topic = RecordWriter(settings.kafka.internal), manifest_topic("evergrid")
    known = encode(stage.generation)[1]
    newer = encode(Choices())[1].replace(b'"format":1', b'"format":9')
    writer.write(
        topic,
        (b"pulse", b'{"at":"tomorrow"}'),
        (b"generation:abc", b"{}"),
        (b"generation:1", known.replace(b'"preparing"', b'"warming"')),
        (b"generation:7", known.replace(b'"number":1', b'"number":7').replace(b'"prep', b'"x')),
        encode(Current(7)),
        (b"choices", newer),
    )
    parts = ("generation:1, generation:7, generation:abc", "newer Evergrid; upgrade the gateway")
    wait_until(lambda: all(part in message_of(stage) for part in parts), "what it skipped")
    assert b'evergrid_manifest_skipped_total{reason="invalid"} 4\n' in metrics(stage)
    assert b'evergrid_manifest_skipped_total{reason="newer_format"} 1\n' in metrics(stage)
    stage.process.wait_for_words("Record choices of the manifest was skipped", START_SECONDS)
    assert stage.process.said().count("Record pulse of the manifest was skipped") == 1
    table = table_of(stage)
    assert table["state"] == "stale"
    assert "cannot be read" in str(table["message"])
    stage.write(10)
    wait_until(lambda: len(rows_of(stage)) == 11, "the next row")
    second = start_gateway(tmp_path / "evergrid.yaml", tmp_path)  # it finds all that at its start
    other = msgspec.structs.replace(stage, process=second, port=port_of(second))
    try:
        wait_until(lambda: is_ready(other) and len(rows_of(other)) == 11, "all", START_SECONDS)
        writer.write(topic, (b"generation:abc", None), (b"generation:7", None), encode(Choices()))
        stage.pipeline.switch(stage.generation)
        wait_until(lambda: runs(stage) and runs(other), "good records", START_SECONDS)
    finally:
        assert second.stop() == 0


def test_a_gateway_that_was_too_far_behind_tells_what_it_lacks(
    settings: Settings, stage: Stage
) -> None:
    with calling(stage) as caller:
        caller.log_in()
        caller.open(1, TABLE, limit=5)
        caller.watch()
        os.kill(stage.process.pid, signal.SIGSTOP)
        try:
            for offset in range(10, 60):
                stage.write(offset)
            delete_all_records(settings, stage.table.topic)
            stage.write(60)
        finally:
            os.kill(stage.process.pid, signal.SIGCONT)
        told = caller.hear()
        while "changelog records deleted before they were read" not in str(told.get("message")):
            told = caller.hear()
    wait_until(lambda: "0:60" in rows_of(stage), "the row after them")
    lacking = 61 - len(rows_of(stage))
    assert 0 < lacking <= 50
    said = "rows are missing: changelog records deleted before they were read"
    stage.process.wait_for_words(said, START_SECONDS)
    sample = f'evergrid_table_gaps_total{{table="{TABLE}",reason="retention"}} {lacking}\n'
    assert sample.encode() in metrics(stage)


def delete_all_records(settings: Settings, topic: str) -> None:
    admin = clients.admin(settings.kafka.internal)
    for answer in admin.delete_records([TopicPartition(topic, 0, OFFSET_END)]).values():
        answer.result(timeout=60)
