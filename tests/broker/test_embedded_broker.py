"""The embedded broker, its clients and topic administration, against the real thing."""

from __future__ import annotations

import datetime
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NoReturn

import pytest
from confluent_kafka import OFFSET_BEGINNING, TopicPartition
from tests.disks import fill, small_disk

from evergrid.broker import broker_directory
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.reader import read_to_end
from evergrid.config.settings import Connection
from evergrid.kafka import clients, topics
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import Edges, NewTopicSpec, TopicWatch
from evergrid.model.errors import ConfigError, LinkError
from evergrid.model.source import StartTime, TopicEnd

LIMIT = 120.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    # A name with a space and a comma, which Kafka's own settings could not hold.
    directory = tmp_path_factory.mktemp("kafka") / "my broker, é"
    with EmbeddedBroker(directory, extra={"log.retention.check.interval.ms": "1000"}) as running:
        yield running


@pytest.fixture
def topic(broker: EmbeddedBroker, request: pytest.FixtureRequest) -> str:
    name: str = request.node.name.replace("[", "-").replace("]", "")
    topics.create(broker.connection(), [NewTopicSpec(name, 2, config={"retention.ms": "-1"})])
    return name


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, f"waited {LIMIT} s for {what}"
        time.sleep(0.05)


def write(connection: Connection, topic: str, *messages: tuple[int, int, bytes]) -> None:
    """Write (partition, milliseconds, value) and wait until the broker has them."""
    producer = clients.producer(connection)
    for partition, ms, value in messages:
        producer.produce(topic, value, partition=partition, timestamp=ms)
    assert producer.flush(LIMIT) == 0


def read(connection: Connection, topic: str, count: int) -> list[bytes]:
    consumer = clients.consumer(connection)
    consumer.assign([TopicPartition(topic, part, OFFSET_BEGINNING) for part in (0, 1)])
    messages = consumer.consume(count, LIMIT)
    consumer.close()
    assert all(message.error() is None for message in messages)
    return sorted(message.value() or b"" for message in messages)


def test_its_files_are_for_its_owner_alone(broker: EmbeddedBroker, topic: str) -> None:
    """Also those that Java wrote, whatever the umask of the process that started it."""
    write(broker.connection(), topic, (0, 1, b"a name and a balance"))
    paths = [broker.directory, *broker.directory.rglob("*")]
    assert any(path.suffix == ".log" and path.parent.name == f"{topic}-0" for path in paths)
    assert not [path for path in paths if path.exists() and path.stat().st_mode & 0o077]


def test_it_listens_on_loopback_alone(broker: EmbeddedBroker) -> None:
    settings = (broker.directory / "server.properties").read_text()
    listeners = next(line for line in settings.splitlines() if line.startswith("listeners="))
    assert all("//127.0.0.1:" in each for each in listeners.split(","))
    assert broker.bootstrap.startswith("127.0.0.1:")
    assert "log.retention.check.interval.ms=1000" in settings


def test_what_is_written_is_read(broker: EmbeddedBroker, topic: str) -> None:
    write(broker.connection(), topic, (0, 1, b"a"), (1, 2, b"b"))
    assert read(broker.connection(), topic, 2) == [b"a", b"b"]


def test_topics_are_described_and_missing_ones_absent(broker: EmbeddedBroker, topic: str) -> None:
    found = topics.describe(broker.connection(), [topic, "no-such-topic"])
    assert found.keys() == {topic}
    assert found[topic].partitions == 2
    assert found[topic].topic_id
    assert topics.describe(broker.connection(), []) == {}


def test_making_and_deleting_again_is_harmless(broker: EmbeddedBroker, topic: str) -> None:
    connection = broker.connection()
    before = topics.describe(connection, [topic])
    topics.create(connection, [NewTopicSpec(topic, 5), NewTopicSpec(f"{topic}-2", 1)])
    assert topics.describe(connection, [topic]) == before
    topics.delete(connection, [topic, f"{topic}-2", "never-was"])
    topics.delete(connection, [topic])
    assert topics.describe(connection, [topic, f"{topic}-2"]) == {}


def test_a_topic_made_anew_has_another_id(broker: EmbeddedBroker, topic: str) -> None:
    connection = broker.connection()
    before = topics.describe(connection, [topic])[topic]
    topics.delete(connection, [topic])
    topics.create(connection, [NewTopicSpec(topic, 2)])
    assert topics.describe(connection, [topic])[topic].topic_id != before.topic_id


def test_a_topic_that_cannot_be_made_is_named(broker: EmbeddedBroker) -> None:
    with pytest.raises(LinkError, match=r"Kafka connection embedded .*create topic bad/name"):
        topics.create(broker.connection(), [NewTopicSpec("bad/name", 1)])
    with pytest.raises(LinkError, match=r"create topic much.*internal_topics\.replication"):
        topics.create(broker.connection(), [NewTopicSpec("much", 1, replication=3)])


def test_topics_are_not_made_by_asking_for_them(broker: EmbeddedBroker) -> None:
    with pytest.raises(LinkError, match="topic ghost does not exist"):
        topics.offsets(broker.connection(), "ghost", TopicEnd.LATEST)
    assert topics.describe(broker.connection(), ["ghost"]) == {}


def test_offsets_at_both_ends_and_at_a_time(broker: EmbeddedBroker, topic: str) -> None:
    def at(seconds: float) -> dict[int, int]:
        when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        return topics.offsets(broker.connection(), topic, StartTime(when))

    write(broker.connection(), topic, *((0, ms, b"x") for ms in (1000, 2000, 3000)))
    assert topics.offsets(broker.connection(), topic, TopicEnd.EARLIEST) == {0: 0, 1: 0}
    assert topics.offsets(broker.connection(), topic, TopicEnd.LATEST) == {0: 3, 1: 0}
    assert at(0.5) == {0: 0, 1: 0}
    assert at(2.0) == {0: 1, 1: 0}  # at it
    assert at(2.0001) == {0: 2, 1: 0}  # after it, by less than Kafka can count
    assert at(3.5) == {0: 3, 1: 0}  # none so late: the end


def test_stop_and_start_keep_address_and_data(broker: EmbeddedBroker, topic: str) -> None:
    bootstrap, pid = broker.bootstrap, broker.pid
    write(broker.connection(), topic, (0, 1, b"kept"))
    broker.stop()
    assert broker.pid is None
    broker.start()
    assert broker.bootstrap == bootstrap
    assert broker.pid != pid
    assert read(broker.connection(), topic, 1) == [b"kept"]


def test_kill_9_and_start_keep_address_and_data(broker: EmbeddedBroker, topic: str) -> None:
    bootstrap = broker.bootstrap
    before = topics.describe(broker.connection(), [topic])
    write(broker.connection(), topic, (0, 1, b"kept"), (1, 2, b"too"))
    broker.kill()
    broker.start()
    assert broker.bootstrap == bootstrap
    assert topics.describe(broker.connection(), [topic]) == before
    assert read(broker.connection(), topic, 2) == [b"kept", b"too"]
    write(broker.connection(), topic, (0, 3, b"more"))
    assert topics.offsets(broker.connection(), topic, TopicEnd.LATEST) == {0: 2, 1: 1}


def test_a_watch_says_that_the_broker_is_away_and_goes_on(
    broker: EmbeddedBroker, topic: str
) -> None:
    watch = TopicWatch(broker.connection())
    before = watch.describe([topic, "missing"])
    assert before.keys() == {topic}
    write(broker.connection(), topic, (0, 1, b"one"), (0, 2, b"two"))
    both = Edges({(topic, 0): 0, (topic, 1): 0}, {(topic, 0): 2, (topic, 1): 0})
    assert watch.edges([topic]) == both
    with pytest.raises(LinkError, match="topic missing does not exist"):
        watch.edges([topic, "missing"])
    broker.kill()
    try:
        with pytest.raises(LinkError, match=re.escape(broker.bootstrap)):
            watch.describe([topic])
    finally:
        broker.start()
    assert watch.describe([topic]) == before
    assert watch.edges([topic]) == both


def test_a_client_goes_on_after_the_broker_was_killed(broker: EmbeddedBroker, topic: str) -> None:
    producer = clients.producer(broker.connection())
    producer.produce(topic, b"before", partition=0)
    assert producer.flush(LIMIT) == 0
    broker.kill()
    producer.produce(topic, b"meanwhile", partition=0)
    broker.start()
    assert producer.flush(LIMIT) == 0
    assert read(broker.connection(), topic, 2) == [b"before", b"meanwhile"]


def test_a_directory_in_use_is_refused_with_its_holder(broker: EmbeddedBroker) -> None:
    sentence = f"is in use by another broker, started by process {os.getpid()}.*End that one"
    with pytest.raises(ConfigError, match=sentence):
        EmbeddedBroker(broker.directory).start()
    assert topics.describe(broker.connection(), []) == {}  # the first one runs on


def test_a_port_in_use_is_refused(broker: EmbeddedBroker, tmp_path: Path) -> None:
    port = int(broker.bootstrap.rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"port {port} on 127.0.0.1 is in use.*another port"):
        EmbeddedBroker(tmp_path / "other", port).start()


def test_the_log_goes_to_its_file(broker: EmbeddedBroker) -> None:
    assert "Kafka Server started" in broker.log_file.read_text()


@pytest.mark.parametrize(
    ("setting", "value"), [("log.retention.ms", "soon"), ("authorizer.class.name", "no.Such")]
)
def test_a_broker_that_dies_while_starting_says_why(
    tmp_path: Path, setting: str, value: str
) -> None:
    bad = EmbeddedBroker(tmp_path, extra={setting: value})
    with pytest.raises(ConfigError, match=rf"the Kafka broker .*{value}.*log/broker\.log"):
        bad.start()
    assert bad.pid is None


def test_a_full_disk_is_said_before_the_broker_meets_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(broker_directory, "LEAST_FREE_BYTES", usage.free * 2)
    with pytest.raises(ConfigError, match=r"disk has \d+ MB free, and it needs \d+ MB.*Free some"):
        EmbeddedBroker(tmp_path).start()


def test_a_disk_that_fills_up_ends_the_broker_and_nothing_is_lost(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with small_disk(disk, megabytes=700):
        broker = EmbeddedBroker(disk)
        broker.start()
        topics.create(broker.connection(), [NewTopicSpec("full", 1)])
        patient = Sender(broker.connection())
        patient.send("full", b"before")
        patient.flush()
        ballast = fill(disk)
        hasty = Sender(broker.connection(), **{"delivery.timeout.ms": 5000})
        with pytest.raises(LinkError):
            send_for_ever(hasty, "full")
        broker.kill()
        with pytest.raises(ConfigError, match=r"disk has 0 MB free.*Free some"):
            broker.start()
        ballast.unlink()
        broker.start()
        (first,) = islice(chain.from_iterable(read_to_end(broker.connection(), "full")), 1)
        assert first.value == b"before"
        broker.stop()


def send_for_ever(sender: Sender, topic: str) -> NoReturn:
    while True:
        sender.send(topic, b"x" * 65536)
        sender.flush()


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"cannot keep its data in .*file/broker"):
        EmbeddedBroker(tmp_path / "file" / "broker").start()


def test_a_killed_starter_leaves_no_broker_and_the_next_takes_over(tmp_path: Path) -> None:
    code = f"""
        import time
        from pathlib import Path
        from evergrid.broker.embedded_broker import EmbeddedBroker
        broker = EmbeddedBroker(Path({str(tmp_path / "broker")!r}))
        broker.start()
        print(broker.pid, broker.bootstrap, flush=True)
        time.sleep(600)
    """
    starter = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert starter.stdout is not None
        pid, bootstrap = starter.stdout.readline().split()
    finally:
        starter.kill()
        starter.communicate()
    with EmbeddedBroker(tmp_path / "broker") as successor:  # waits for the old one to end
        assert successor.bootstrap == bootstrap
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_clients_log_to_the_logger_they_are_given(
    broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = Connection("source", f"127.0.0.1:{closed.getsockname()[1]}")
        producer = clients.producer(nobody, logger=clients.LogDedup(logging.getLogger("mine")))
        wait_for(lambda: producer.poll(0.1) is not None and "refused" in caplog.text, "the log")
    assert {record.name for record in caplog.records} == {"mine"}
    assert len([record for record in caplog.records if "refused" in record.message]) == 1
    assert capfd.readouterr() == ("", "")


def test_one_that_stands_still_for_seconds_is_reached_all_the_same(broker: EmbeddedBroker) -> None:
    assert broker.pid is not None
    os.kill(broker.pid, signal.SIGSTOP)
    going_on = threading.Timer(8.0, os.kill, (broker.pid, signal.SIGCONT))
    going_on.start()
    assert reach(broker.connection()).brokers == 1
    going_on.join()
