"""One step from version to version: each reads what the other has written.

`recorded/` has topics as an earlier version left them (docs/testing.md says how they are recorded),
and the shapes by which it reads.
"""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec
import pytest
import yaml
from tests.changelog.recorded import without_format
from tests.changelog.test_feed import Seen
from tests.changelog.test_manifest import full_generation
from tests.orchestrator.conftest import make_registry

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.codec import Row, decode, is_older
from evergrid.changelog.manifest import (
    Choices,
    Current,
    Gap,
    Gaps,
    HeartbeatRecord,
    LastNumber,
    Manifest,
    ManifestRecord,
    Owner,
    RequestedChanges,
    SystemTableTopics,
    TablesBehind,
    apply,
    encode,
)
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.gateway.access.key_file import create_key
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.generation import State
from evergrid.model.join import JoinType
from evergrid.orchestrator.retirement import Retirement
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess

FOLDER = Path(__file__).parent / "recorded"
PREFIX = "recorded"
MANIFEST = f"{PREFIX}.manifest"
LIMIT = 300.0


class Line(msgspec.Struct, frozen=True):
    """A record of a recorded topic."""

    topic: str
    partition: int
    key: str
    value: str | None


LINES = [
    msgspec.json.decode(line, type=Line)
    for line in (FOLDER / "without_format.jsonl").read_text().splitlines()
]


def is_part_of(part: object, whole: object) -> bool:
    """Whether `whole` has all of `part`, and perhaps more members."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            name in whole and is_part_of(value, whole[name]) for name, value in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(whole, list)
            and len(part) == len(whole)
            and all(map(is_part_of, part, whole))
        )
    return type(part) is type(whole) and part == whole


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """A broker with the recorded topics, as they were."""
    folder = tmp_path_factory.mktemp("upgrade")
    with EmbeddedBroker(folder / "kafka") as broker:
        names = sorted({line.topic for line in LINES})
        made = [NewTopicSpec(name, 1 if name == MANIFEST else 2, 1) for name in names]
        topics.create(broker.connection(), made)
        sender = Sender(broker.connection())
        for line in LINES:
            value = None if line.value is None else line.value.encode()
            sender.send(line.topic, value, line.key.encode(), partition=line.partition)
        sender.flush()
        config = folder / "evergrid.yaml"
        config.write_text(
            yaml.safe_dump(
                {
                    "data_dir": str(folder / "data"),
                    "kafka": {"bootstrap": broker.bootstrap},
                    "internal_topics": {"prefix": PREFIX},
                    "gateway": {"port": 0},
                }
            )
        )
        yield load(config, {})


def recorded_rows(name: str) -> dict[str, Row]:
    """The rows of a table of the current generation, by the rules of the changelog's page."""
    manifest = Manifest()
    for line in LINES:
        if line.topic == MANIFEST and line.value is not None:
            manifest = apply(manifest, line.key.encode(), line.value.encode())
    target = manifest.tables()[name]
    rows: dict[str, Row] = {}
    for line in LINES:
        if line.topic == target.topic and line.value is not None:
            row = decode(line.key.encode(), line.value.encode()).row
            assert row is not None
            if line.key not in rows or not is_older(row, rows[line.key], target.table):
                rows[line.key] = row
    return rows


def test_a_feed_reads_what_the_version_before_wrote(settings: Settings) -> None:
    seen = Seen(settings)
    seen.until(lambda: bool(seen.news.followed))
    seen.until(lambda: all(it.complete for it in seen.news.reached.values()))
    manifest = seen.news.manifest
    assert (manifest.current, manifest.unreadable, manifest.skipped) == (2, {}, {})
    assert {number: one.state for number, one in manifest.generations.items()} == {
        1: State.RETIRING,
        2: State.CURRENT,
    }
    assert manifest.asked.types == {"final": JoinType.ASOF}
    final = manifest.tables()["final_ui"].topic
    assert set(seen.ids[final]) == set(recorded_rows("final_ui"))
    seen.feed.close()


def test_a_gateway_shows_what_the_version_before_wrote(settings: Settings) -> None:
    _, secret = create_key(settings.gateway.keys, "tests")
    folder = settings.gateway.keys.parent
    config = str(settings.file)
    with EvergridProcess(["gateway", "-c", config], folder / "screen.txt") as process:
        process.wait_for_words("Serving at", LIMIT)
        found = re.search(r"Serving at http://127\.0\.0\.1:(\d+)", process.said())
        assert found is not None
        gateway = Gateway(int(found[1]), secret)
        for name in ("users_ui", "accounts_ui", "final_ui", "quarantine"):
            expected = recorded_rows(name)
            shown = wait_for(partial(gateway.rows, name), bool, LIMIT)
            assert {str(row.pop("_id")): row for row in shown}.keys() == expected.keys(), name
        final = {str(row["_id"]): row for row in gateway.rows("final_ui")}
        for row_id, row in recorded_rows("final_ui").items():
            assert {n: final[row_id][n] for n in ("name", "balance", "rate", "open")} == {
                n: row[n] for n in ("name", "balance", "rate", "open")
            }
        assert "skipped" not in process.said()


class Gateway(msgspec.Struct):
    """Where a gateway listens, and a key to it."""

    port: int
    secret: str

    def rows(self, table: str) -> list[dict[str, object]]:
        """Empty while the table is loaded."""
        address = f"http://127.0.0.1:{self.port}/api/tables/{table}/rows?format=json"
        headers = {"Authorization": f"Bearer {self.secret}"}
        request = urllib.request.Request(address, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                found: list[dict[str, object]] = json.load(answer)["rows"]
        except urllib.error.HTTPError as error:
            error.close()
            return []
        return found


def test_a_pipeline_goes_on_from_what_the_version_before_wrote(settings: Settings) -> None:
    before = set(topics.partitions(settings.kafka.internal))
    registry = make_registry(settings)
    assert registry.manifest.unreadable == {}
    current = registry.manifest.current_generation
    assert current is not None
    assert current.number == 2
    retirement = Retirement(settings, registry, print)
    retirement.clean_up_after_a_crash()
    assert {topic for topic in before if ".g2." in topic or ".g1." in topic} <= set(
        topics.partitions(settings.kafka.internal)
    )
    assert registry.take_number() == 3


@pytest.mark.parametrize(
    "line", [line for line in LINES if line.topic == MANIFEST], ids=lambda line: str(line.key)
)
def test_nothing_that_the_version_before_wrote_is_left_out_now(line: Line) -> None:
    assert line.value is not None
    key = line.key.encode()
    manifest = apply(Manifest(), key, line.value.encode())
    records: Mapping[bytes, ManifestRecord] = {
        b"system": SystemTableTopics(manifest.system),
        b"pulse": HeartbeatRecord(manifest.heartbeat, manifest.behind),
        b"choices": manifest.choices,
        b"asked": manifest.asked,
        b"numbered": LastNumber(manifest.highest),
        b"current": Current(manifest.unknown_current or 0),
    }
    record = records.get(key) or next(iter(manifest.generations.values()))
    written = encode(record)
    assert written[0] == key
    assert is_part_of(json.loads(line.value), json.loads(written[1]))


FULL: list[ManifestRecord] = [
    *(msgspec.structs.replace(full_generation(), state=state) for state in State),
    *(RequestedChanges("id", {0: 7}, {"users": "v2"}, {"final": kind}) for kind in JoinType),
    Current(2),
    SystemTableTopics(full_generation().tables),
    HeartbeatRecord(9, TablesBehind(7, "why", ("final_ui",))),
    Choices("c", ("users",), {"users": "usersTopic"}, {"final": "joinType"}, 60),
    LastNumber(9),
    Gaps({"evergrid.g2.final_ui": (Gap("history", 3, ("u1",), 5),)}),
    Owner(3, "host", 4711, "1:2", 5, released=True),
]
NEWER = {Owner}  # that version ignores their keys


@pytest.mark.parametrize("record", FULL, ids=lambda record: type(record).__name__)
def test_the_version_before_reads_what_this_one_writes(record: ManifestRecord) -> None:
    """If this fails, gateways of that version stop: write what it reads, under the same key."""
    key, value = encode(record)
    understood = without_format.decode(key, value)
    assert (understood is None) == (type(record) in NEWER)
    if understood is not None:
        assert is_part_of(json.loads(msgspec.json.encode(understood)), json.loads(value))


def test_every_kind_of_record_is_tried() -> None:
    assert {type(record) for record in FULL} == set(ManifestRecord.__args__)
