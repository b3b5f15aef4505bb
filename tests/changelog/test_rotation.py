"""Certificates that are replaced one file after the other, under those who read and write."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import yaml
from tests.handwritten_pipeline import HandwrittenPipeline
from tests.support.broker_changes import revoke

from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.rights import Operation, ResourceKind, Right, grant
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.changelog.feed import Feed, FeedUpdate
from evergrid.changelog.writer import RecordWriter
from evergrid.config import Settings, load
from evergrid.kafka import topics
from evergrid.kafka.client_renewal import RETRY_SECONDS
from evergrid.kafka.topics import NewTopicSpec, TopicWatch
from evergrid.process.private_directory import write_secret

LIMIT = 120.0
CERTIFIED = Listener(Protocol.SSL, client_certificates=True)
OPERATIONS = (Operation.READ, Operation.WRITE, Operation.DESCRIBE)
MISMATCH = "key values mismatch"
TABLE = "final_ui"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with SecuredBroker(tmp_path_factory.mktemp("house"), [CERTIFIED], ("unused",)) as running:
        yield running


class Files:
    """Certificate and key of somebody whose rights are for topics of one prefix."""

    def __init__(self, house: SecuredBroker, folder: Path, prefix: str) -> None:
        self._house = house
        self._rights = [
            Right(f"{prefix}.", OPERATIONS, prefixed=True),
            Right("evergrid", (Operation.DESCRIBE,), kind=ResourceKind.GROUP),
        ]
        self.ca = folder / "ca.pem"
        self._certificate, self._key = folder / "me.pem", folder / "me.key"
        self.ca.write_text(house.authority.pem)
        self._name = "anna"
        first = house.authority.client(self._name)
        self._next = house.authority.client("ben")
        self._certificate.write_text(first.pem)
        write_secret(self._key, first.key_pem)
        self._grant(self._name)
        self.document: dict[str, object] = {
            "bootstrap": house.broker.address(CERTIFIED.name),
            "security": {
                "ca": str(self.ca),
                "certificate": str(self._certificate),
                "key": str(self._key),
            },
        }

    def replace_key(self) -> None:
        """From now on no client can be made."""
        write_secret(self._key, self._next.key_pem)

    def replace_certificate(self) -> None:
        """From now on there is somebody else; and who was there before has no right any more."""
        self._grant("ben")
        self._certificate.write_text(self._next.pem)

    def forbid_the_old_one(self) -> None:
        revoke(self._house.administration(), CERTIFIED.principal(self._name), self._rights)

    def _grant(self, name: str) -> None:
        grant(self._house.administration(), CERTIFIED.principal(name), self._rights)


@pytest.fixture
def files(house: SecuredBroker, tmp_path: Path, request: pytest.FixtureRequest) -> Files:
    return Files(house, tmp_path, request.node.name)


@pytest.fixture
def settings(files: Files, tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    file = tmp_path / "evergrid.yaml"
    prefix = {"prefix": request.node.name}
    file.write_text(yaml.safe_dump({"kafka": files.document, "internal_topics": prefix}))
    return load(file, {})


def during(seconds: float, act: Callable[[], object]) -> None:
    """Do it again and again; whatever is raised fails the test."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        act()
        time.sleep(0.1)
    act()  # a pause may have taken all of that time


def until(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + LIMIT
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_feed_goes_on_with_its_old_certificate_until_the_new_one_is_whole(
    house: SecuredBroker, files: Files, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    kafka = msgspec.structs.replace(settings.kafka, internal=house.administration())
    pipeline = HandwrittenPipeline(msgspec.structs.replace(settings, kafka=kafka))
    generation = pipeline.prepare(1)
    target = generation.tables[TABLE]
    pipeline.switch(generation)
    feed = Feed(settings.kafka.internal, settings.internal_topics.prefix)
    ids: list[str] = []

    def look() -> FeedUpdate:
        news = feed.read(0.1)
        for arrivals in news.arrivals:
            ids.extend(record.key.decode() for record in arrivals.records if record.key)
        assert not news.down or "does not answer" in news.down
        return news

    until(lambda: any(one.key.topic == target.topic for one in look().followed))
    pipeline.write(target, "0:1", {})
    until(lambda: look() and "0:1" in ids)

    files.replace_key()
    until(lambda: look() and MISMATCH in caplog.text)
    pipeline.write(target, "0:2", {})
    until(lambda: look() and "0:2" in ids)
    during(2 * RETRY_SECONDS, look)
    assert caplog.text.count(MISMATCH) == 1, "it is said once"

    files.replace_certificate()
    during(3 * RETRY_SECONDS, look)
    files.forbid_the_old_one()
    pipeline.write(target, "0:3", {})
    until(lambda: look() and "0:3" in ids)
    assert ids == ["0:1", "0:2", "0:3"], "nothing is read twice"
    feed.close()


def test_a_feed_that_must_open_while_files_are_bad_says_so_and_goes_on_when_they_are_good(
    house: SecuredBroker, files: Files, settings: Settings
) -> None:
    kafka = msgspec.structs.replace(settings.kafka, internal=house.administration())
    pipeline = HandwrittenPipeline(msgspec.structs.replace(settings, kafka=kafka))
    feed = Feed(settings.kafka.internal, settings.internal_topics.prefix)
    files.ca.write_text(house.authority.pem[:200])  # as much as is written yet
    until(lambda: "refuses its settings" in feed.read(0.1).down)
    files.ca.write_text(house.authority.pem)
    generation = pipeline.prepare(1)
    pipeline.switch(generation)
    until(lambda: feed.read(0.1).manifest.current == 1)
    feed.close()


def test_a_writer_and_a_watch_go_on_until_the_new_certificate_is_whole(
    house: SecuredBroker, files: Files, settings: Settings
) -> None:
    topic = f"{settings.internal_topics.prefix}.letters"
    topics.create(house.administration(), [NewTopicSpec(topic, 1)])
    writer, watch = RecordWriter(settings.kafka.internal), TopicWatch(settings.kafka.internal)
    written = 0

    def write() -> None:
        nonlocal written
        writer.write(topic, (b"key", b"value"))
        written += 1
        assert watch.ends([topic]) == {(topic, 0): written}

    write()
    files.replace_key()
    during(2 * RETRY_SECONDS, write)
    files.replace_certificate()
    during(3 * RETRY_SECONDS, write)
    files.forbid_the_old_one()
    during(1.0, write)
