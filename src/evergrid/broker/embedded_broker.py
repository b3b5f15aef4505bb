"""A real Kafka broker for the demo and the tests: one node, on loopback.

It is Apache Kafka itself: broker and controller in one Java process, which ends with the process
that started it, however that ends.

The directory holds everything, so that a restart has the same data and address:

    data/              Kafka's own files; the cluster id is in data/meta.properties
    log/broker.log     what the broker logged, at most 4 files of 5 MB
    log/console.log    what Java itself printed at the last start
    port               the ports of the last start, used again when they are free
    lock               held while a broker runs here; names the process that started it
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # public, not in __all__
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from evergrid.broker import broker_directory
from evergrid.broker.jars import Jars, fetch
from evergrid.broker.listeners import CONTROLLER, INTERNAL, Account, Protocol, Security
from evergrid.broker.loopback_ports import HOST, choose_ports, free_port
from evergrid.config.sasl import Mechanism, login
from evergrid.config.settings import Connection
from evergrid.kafka import clients
from evergrid.model.errors import BrokenPromise, ConfigError
from evergrid.process import child_process
from evergrid.process.class_archive import ClassArchive
from evergrid.process.directory_lock import lock_directory
from evergrid.process.java import java_command
from evergrid.process.private_directory import private_files, write_secret

NODE = "1"  # the id of the one broker that there is
REQUEST_SECONDS = 20.0
_START_SECONDS = 90.0  # a few seconds on an idle laptop; a busy one must not fail
_STOP_SECONDS = 5.0
_POLL_SECONDS = 0.1
_ORDERLY = (0, 128 + signal.SIGTERM)
_SCRAM_ITERATIONS = 4096  # the least that Kafka accepts

# Without an optimising compiler it starts in half the time. For heavy loads the variable of Kafka's
# own scripts replaces these options.
_TUNING = "KAFKA_JVM_PERFORMANCE_OPTS"
_FAST_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_JAVA_OPTIONS = (
    "-Xms64m",
    "-Xmx512m",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
    f"-Dlog4j2.configurationFile={broker_directory.LOG_SETTINGS_FILE.name}",
)

_SETTINGS = Path(__file__).with_name("server.properties")
_WITHOUT_SECURITY = dict.fromkeys(("PLAINTEXT", CONTROLLER), Protocol.PLAINTEXT.value)


class EmbeddedBroker:
    """Runs while its `with` block does, and keeps its data in `directory`.

    Without `security` every user of this machine may do everything; with it clients must log in,
    and may do what the ACLs grant them.
    """

    def __init__(
        self,
        directory: Path,
        port: int | None = None,
        *,
        security: Security | None = None,
        extra: Mapping[str, str] | None = None,
        jars: Jars | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.directory = directory.absolute()
        self.log_file = self.directory / "log" / "broker.log"
        self._wanted_port = port
        self._security = security
        self._extra = dict(extra or {})
        self._jars = jars
        self._report = report
        # Listener → protocol; the controller has another port at each start.
        self._protocols = security.protocols if security else _WITHOUT_SECURITY
        self._names = [name for name in self._protocols if name != CONTROLLER]
        self._ports: dict[str, int] = {}
        self._lock: int | None = None
        self._process: child_process.ChildProcess | None = None
        self._archive: ClassArchive

    @property
    def bootstrap(self) -> str:
        """The address for clients; the same again after a restart."""
        return self.address(self._names[0])

    def address(self, listener: str) -> str:
        """The address of the listener of that name."""
        if not self._ports:
            raise BrokenPromise(
                f"the broker in {self.directory} has no address before its first start"
            )
        return f"{HOST}:{self._ports[listener]}"

    @property
    def pid(self) -> int | None:
        """The Java process, or None while none runs."""
        return self._process.pid if self._process else None

    def connection(self, name: str = "embedded") -> Connection:
        """A connection with all rights; to a secured broker it is the administrator's."""
        if self._security is None:
            return Connection(name=name, bootstrap=self.bootstrap)
        account = self._security.administrator
        return Connection(
            name=name,
            bootstrap=self.address(INTERNAL),
            properties={
                "security.protocol": Protocol.SASL_PLAINTEXT.value,
                "sasl.mechanism": Mechanism.PLAIN.value,
                "sasl.jaas.config": login(Mechanism.PLAIN, account.login),
            },
            secrets=frozenset({account.password}),
        )

    def __enter__(self) -> EmbeddedBroker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start, and return when the broker answers; ConfigError says why it does not."""
        if self._process is not None:
            raise BrokenPromise(f"the broker in {self.directory} was started twice")
        command = self._command()
        try:
            with private_files():
                broker_directory.make(self.directory, self._report)
                self._lock = lock_directory(self.directory, "broker")
                broker_directory.check_space(self.directory)
                self._start(command)
        except BaseException as error:
            self.kill()
            if not isinstance(error, OSError):
                raise
            raise ConfigError(
                f"the broker cannot keep its data in {self.directory} ({error.strerror})",
                remedy="Choose a directory that you can write to, on a disk with space.",
            ) from None

    def _start(self, command: list[str]) -> None:
        ports = choose_ports(self.directory / "port", len(self._names), self._wanted_port)
        self._ports = dict(zip(self._names, ports, strict=True))
        if not (self.directory / "data").exists():
            self._format(command)
        self._write_settings("server.properties", "data")
        (self.directory / "port").write_text("".join(f"{port}\n" for port in ports))
        log_start = self.log_file.stat().st_size if self.log_file.exists() else 0
        broker = [*command, *self._archive.writing(), "kafka.Kafka", "server.properties"]
        self._process = self._run(broker)
        self._wait_until_ready(log_start)
        if self._security is not None:
            self.put_accounts(self._security.accounts)

    def put_accounts(self, accounts: Sequence[Account]) -> None:
        """Create accounts of SCRAM or set their passwords; return when the broker uses them."""
        assert self._security is not None
        administration = self.connection()
        admin = clients.admin(administration)
        for mechanism in self._security.scram_mechanisms():  # Kafka takes one in a request
            kind = ScramMechanism[mechanism.name]
            info = ScramCredentialInfo(kind, _SCRAM_ITERATIONS)
            changes: list[UserScramCredentialAlteration] = [
                UserScramCredentialUpsertion(account.name, info, account.password.encode())
                for account in accounts
            ]
            answers = admin.alter_user_scram_credentials(changes, request_timeout=REQUEST_SECONDS)
            clients.wait_for(answers, administration, "set passwords")
            deadline = time.monotonic() + REQUEST_SECONDS
            while not _has_accounts(admin, list(answers), kind) and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Shut down within seconds, by force if needed; the data stays."""
        if self._process is not None:
            code = self._process.stop(_STOP_SECONDS + self._archive.writing_seconds)
            self._archive.keep(complete=code in _ORDERLY)
        self._release()

    def kill(self) -> None:
        """End the broker as a power failure would; `start` continues with what is on disk."""
        if self._process is not None:
            self._process.kill()
            self._archive.keep(complete=False)
        self._release()

    def _release(self) -> None:
        self._process = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _command(self) -> list[str]:
        java = java_command()
        jars = self._jars or fetch(self._report)
        classpath = os.pathsep.join(map(str, jars.broker))
        more = self._security.java_options if self._security else ()
        tuning = os.environ.get(_TUNING, _FAST_START).split()
        self._archive = ClassArchive(java, jars.broker)
        prepared = self._archive.reading()
        return [str(java), *_JAVA_OPTIONS, *tuning, *prepared, *more, "-cp", classpath]

    def _format(self, command: list[str]) -> None:
        """Create Kafka's data directory, completely or not at all."""
        shutil.rmtree(self.directory / "data.new", ignore_errors=True)
        self._write_settings("format.properties", "data.new")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        tool = [*command, "kafka.tools.StorageTool", "format"]
        # With an equals sign, because an id may begin with a minus.
        formatting = self._run([*tool, f"--cluster-id={cluster}", "--config=format.properties"])
        try:
            code = formatting.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            code = 1
        finally:
            formatting.kill()
        if code != 0:
            raise self._start_error("could not format its data directory", 0)
        (self.directory / "data.new").rename(self.directory / "data")

    def _write_settings(self, name: str, data: str) -> None:
        controller = free_port(apart_from=self._ports.values())
        addresses = [f"{name}://{self.address(name)}" for name in self._names]
        protocols = (f"{name}:{protocol}" for name, protocol in self._protocols.items())
        settings = {
            **(self._security.settings() if self._security else {}),
            "node.id": NODE,
            "controller.listener.names": CONTROLLER,
            "listeners": ",".join((*addresses, f"{CONTROLLER}://{HOST}:{controller}")),
            "advertised.listeners": ",".join(addresses),
            "listener.security.protocol.map": ",".join(protocols),
            "controller.quorum.voters": f"{NODE}@{HOST}:{controller}",
            # Relative to the directory it runs in: Kafka would split a path at its commas.
            "log.dirs": data,
            **self._extra,
        }
        lines = broker_directory.java_properties(settings)  # of two for one key the last counts
        write_secret(self.directory / name, _SETTINGS.read_text() + lines)

    def _run(self, command: list[str]) -> child_process.ChildProcess:
        assert self._lock is not None
        console = self.directory / "log" / "console.log"
        with console.open("wb") as output:
            return child_process.start(
                command, output, cwd=self.directory, grace=_STOP_SECONDS, hold=(self._lock,)
            )

    def _wait_until_ready(self, log_start: int) -> None:
        assert self._process is not None
        admin = clients.admin(self.connection(), **{"reconnect.backoff.ms": 100, "log_level": 0})
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise self._start_error("died while starting", log_start)
            with contextlib.suppress(KafkaException):
                metadata = admin.list_topics(timeout=1.0)
                # Another broker could have taken the port meanwhile.
                ours = str(metadata.cluster_id) == broker_directory.cluster_id(self.directory)
                if ours and metadata.brokers:
                    return
            time.sleep(_POLL_SECONDS)
        raise self._start_error(f"did not answer within {_START_SECONDS:.0f} s", log_start)

    def _start_error(self, how: str, log_start: int) -> ConfigError:
        reason = broker_directory.last_failure(self.directory, log_start)
        return ConfigError(
            f"the Kafka broker {how}: {reason}",
            where=str(self.directory),
            remedy=f"See {self.log_file} and console.log beside it.",
        )


def _has_accounts(admin: AdminClient, names: list[str], kind: ScramMechanism) -> bool:
    """Whether the broker, and not only its controller, has them."""
    answers = admin.describe_user_scram_credentials(names, request_timeout=REQUEST_SECONDS)
    assert isinstance(answers, dict)  # one for each name
    try:
        described = [answer.result(timeout=REQUEST_SECONDS) for answer in answers.values()]
    except KafkaException:  # not yet
        return False
    infos = (found.scram_credential_infos for found in described)
    return all(kind in {info.mechanism for info in each} for each in infos)
