"""A real Kafka broker of our own: one node, on loopback, for the demo and for tests.

It is the same broker that users run elsewhere, not an imitation: broker and controller
in one Java process, on a leash, so that it ends with us however we end.

The directory holds everything, so that a restart goes on with the same data and address:

    data/              Kafka's own files; the cluster id is in data/meta.properties
    log/broker.log     what the broker logged, at most 4 files of 5 MB
    log/console.log    what Java itself printed at the last start
    port               the port of the last start, taken again when it is free
    lock               held while a broker runs here; names the process that started it
"""

from __future__ import annotations

import base64
import contextlib
import os
import random
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from confluent_kafka import KafkaException

from evergrid.config.settings import Connection
from evergrid.kafka import clients, folder, leash
from evergrid.kafka.jars import Jars, fetch
from evergrid.kafka.java import java_command
from evergrid.model.errors import BrokenPromise, ConfigError

HOST = "127.0.0.1"

# Below the ranges that Linux and macOS take ports for outgoing connections from: a client
# that retries while the broker is down could otherwise be given the broker's own port.
_PORTS = range(20000, 32000)

_START_SECONDS = 90.0  # seconds on an idle laptop; a busy one must not fail for it
_STOP_SECONDS = 5.0
_LOOK_SECONDS = 0.1

_JAVA_OPTIONS = (
    "-Xms64m",
    "-Xmx512m",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
    f"-Dlog4j2.configurationFile={folder.LOG_SETTINGS_FILE}",
)

_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "num.partitions": "1",
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "1",
    # The default of 128 MB would take a quarter of the heap.
    "log.cleaner.dedupe.buffer.size": "16777216",
    # After a kill the controller refuses the new broker until the old one's session ends.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


class EmbeddedBroker:
    """A broker that runs while the `with` block does, and keeps its data in `directory`."""

    def __init__(
        self,
        directory: Path,
        port: int | None = None,
        *,
        extra: Mapping[str, str] | None = None,
        java: Path | None = None,
        jars: Jars | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.directory = directory.absolute()
        self.log_file = self.directory / "log" / "broker.log"
        self._wanted_port = port
        self._extra = dict(extra or {})
        self._java = java
        self._jars = jars
        self._report = report
        self._port: int | None = None
        self._lock: int | None = None
        self._process: leash.Leashed | None = None

    @property
    def bootstrap(self) -> str:
        """The address clients connect to; the same again after a restart."""
        if self._port is None:
            raise BrokenPromise(f"the broker in {self.directory} was asked before its first start")
        return f"{HOST}:{self._port}"

    @property
    def pid(self) -> int | None:
        """The Java process, or None while none runs."""
        return self._process.pid if self._process else None

    def connection(self, name: str = "embedded") -> Connection:
        return Connection(name=name, bootstrap=self.bootstrap)

    def __enter__(self) -> EmbeddedBroker:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start, and return when the broker answers; ConfigError says why it cannot."""
        if self._process is not None:
            raise BrokenPromise(f"the broker in {self.directory} was started twice")
        command = self._command()
        try:
            folder.make(self.directory)
            self._lock = folder.take_lock(self.directory)
            folder.check_space(self.directory)
            self._start(command)
        except OSError as error:
            self.kill()
            raise ConfigError(
                f"the broker cannot keep its data in {self.directory} ({error.strerror})",
                remedy="Choose a folder that you can write to, on a disk with space.",
            ) from None
        except BaseException:
            self.kill()
            raise

    def _start(self, command: list[str]) -> None:
        self._port = self._choose_port()
        if not (self.directory / "data").exists():
            self._format(command)
        self._write_settings("server.properties", "data")
        (self.directory / "port").write_text(f"{self._port}\n")
        log_start = self.log_file.stat().st_size if self.log_file.exists() else 0
        self._process = self._run([*command, "kafka.Kafka", "server.properties"])
        self._wait_until_ready(log_start)

    def stop(self) -> None:
        """Shut down in order within seconds, or else by force; data stays."""
        if self._process is not None:
            self._process.stop(_STOP_SECONDS)
        self._forget()

    def kill(self) -> None:
        """End the broker as a power cut would; `start` goes on with what was on disk."""
        if self._process is not None:
            self._process.kill()
        self._forget()

    def _forget(self) -> None:
        self._process = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _command(self) -> list[str]:
        java = self._java or java_command()
        jars = self._jars or fetch(self._report)
        classpath = os.pathsep.join(map(str, jars.broker))
        return [str(java), *_JAVA_OPTIONS, "-cp", classpath]

    def _choose_port(self) -> int:
        if self._wanted_port is not None:
            if not _is_free(self._wanted_port):
                raise ConfigError(
                    f"port {self._wanted_port} on {HOST} is in use by another program",
                    remedy="End that program, or choose another port for the broker.",
                )
            return self._wanted_port
        try:
            last = int((self.directory / "port").read_text())
        except (OSError, ValueError):
            last = 0
        return last if 0 < last < 65536 and _is_free(last) else _free_port()

    def _format(self, command: list[str]) -> None:
        """Make Kafka's data folder, whole or not at all."""
        shutil.rmtree(self.directory / "data.new", ignore_errors=True)
        self._write_settings("format.properties", "data.new")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        tool = [*command, "kafka.tools.StorageTool", "format"]
        # With an equals sign, for an id may begin with a minus.
        formatting = self._run([*tool, f"--cluster-id={cluster}", "--config=format.properties"])
        try:
            code = formatting.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            code = 1
        finally:
            formatting.kill()
        if code != 0:
            raise self._died("could not prepare its data folder", 0)
        (self.directory / "data.new").rename(self.directory / "data")

    def _write_settings(self, name: str, data: str) -> None:
        broker = self._port
        controller = _free_port(apart_from=broker)
        settings = _SETTINGS | {
            "listeners": f"PLAINTEXT://{HOST}:{broker},CONTROLLER://{HOST}:{controller}",
            "advertised.listeners": f"PLAINTEXT://{HOST}:{broker}",
            "controller.quorum.voters": f"1@{HOST}:{controller}",
            # Relative to the directory it runs in: Kafka would split a path at its commas.
            "log.dirs": data,
            **self._extra,
        }
        lines = (f"{key}={value}\n" for key, value in settings.items())
        (self.directory / name).write_text("".join(lines))

    def _run(self, command: list[str]) -> leash.Leashed:
        assert self._lock is not None
        console = self.directory / "log" / "console.log"
        with console.open("wb") as output:
            return leash.start(
                command, output, cwd=self.directory, grace=_STOP_SECONDS, hold=(self._lock,)
            )

    def _wait_until_ready(self, log_start: int) -> None:
        assert self._process is not None
        admin = clients.admin(self.connection(), **{"reconnect.backoff.ms": 100, "log_level": 0})
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise self._died("died while starting", log_start)
            with contextlib.suppress(KafkaException):
                metadata = admin.list_topics(timeout=1.0)
                # Another's broker could have taken the port meanwhile.
                ours = str(metadata.cluster_id) == folder.cluster_id(self.directory)
                if ours and metadata.brokers:
                    return
            time.sleep(_LOOK_SECONDS)
        raise self._died(f"did not answer within {_START_SECONDS:.0f} s", log_start)

    def _died(self, how: str, log_start: int) -> ConfigError:
        said = folder.last_words(self.directory, log_start)
        return ConfigError(
            f"the Kafka broker {how}: {said}",
            where=str(self.directory),
            remedy=f"The whole story is in {self.log_file} and console.log beside it.",
        )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _free_port(apart_from: int | None = None) -> int:
    for port in random.sample(_PORTS, 200):
        if port != apart_from and _is_free(port):
            return port
    raise ConfigError(
        f"no port is free on {HOST} between {_PORTS.start} and {_PORTS.stop}",
        remedy="End programs that hold many ports, or choose a port for the broker.",
    )
