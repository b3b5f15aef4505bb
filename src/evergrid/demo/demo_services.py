"""The services of the demo: broker, sample events, gateway and pipeline."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from evergrid.broker import jars
from evergrid.broker.loopback_ports import free_port, is_free
from evergrid.client import Client, ClientError, Timeouts, connect
from evergrid.config.settings import Gateway
from evergrid.demo.board import Board
from evergrid.demo.demo_broker import EVERGRID, SENDER, DemoBroker
from evergrid.demo.demo_settings import DemoSettings
from evergrid.demo.sample_producer import SampleProducer
from evergrid.gateway.access.key_file import create_key, remove_key
from evergrid.model.errors import ConfigError
from evergrid.process import child_process
from evergrid.process.directory_lock import lock_directory
from evergrid.process.private_directory import make_private, write_secret
from evergrid.process.supervised_child import SupervisedChild, stop_all

_KEY_NAME = "demo"
_SECOND_SUFFIX = "_v2"  # of the topics to switch to
_SECOND_SHARE = 0.2  # of the rate
_STOP_SECONDS = 3.5  # unfinished work is done again at the next start
_KEPT_VARIABLES = ("EVERGRID_CACHE", "EVERGRID_IVY_SETTINGS")
_TAIL_BYTES = 4096
_TIME = re.compile(r"^\d\d:\d\d:\d\d ")
_POLL_SECONDS = 1.0
_TIMEOUTS = Timeouts(connect=2.0, answer=5.0)


class DemoServices:
    """Starts the services in order, keeps them running, and stops them in reverse order."""

    _lock: int
    _broker: DemoBroker
    _gateway: DemoProcess
    _pipeline: DemoProcess
    _poller: GatewayPoller

    def __init__(self, demo: DemoSettings, board: Board) -> None:
        self._demo = demo
        self._board = board
        self._started = contextlib.ExitStack()

    def claim_directory(self) -> None:
        """Lock the directory; ConfigError if another demo uses it."""
        directory = self._demo.directory
        try:
            make_private(directory, self._board.step)
            self._lock = lock_directory(directory, "demo")
        except OSError as error:
            raise ConfigError(
                f"the directory cannot be used ({error.strerror})",
                where=str(directory),
                remedy="Choose a directory of yours with --data-dir.",
            ) from None
        self._started.callback(os.close, self._lock)

    def start(self) -> None:
        """Start everything; returns when the pipeline's process runs."""
        demo, board, options = self._demo, self._board, self._demo.options
        self._prepare_directory()
        self._broker = broker = DemoBroker(
            demo.directory,
            options.kafka_security,
            options.port,
            jars=jars.fetch(board.step),
            report=board.step,
        )
        self._started.callback(broker.stop)
        topics = {name: source.topic for name, source in demo.settings.sources.items()}
        second = {name: f"{topic}{_SECOND_SUFFIX}" for name, topic in topics.items()}
        broker.start((*topics.values(), *second.values()), demo.settings)
        board.broker = broker.bootstrap
        wanted = demo.settings.gateway.port
        port = wanted if wanted and is_free(wanted) else free_port()
        settings = demo.with_addresses(broker.connection(EVERGRID), port)
        demo.write(settings, broker.config_section())
        board.step(f"Sending {options.rate:g} sample events a second.")
        self._send(topics, options.rate, options.seed)
        # Other people on second topics, to switch to with `evergrid control`.
        self._send(second, options.rate * _SECOND_SHARE, options.seed + 1)
        self._start_gateway(settings.gateway)
        self._pipeline = self._process("pipeline", board.pipeline_started)
        self._started.callback(stop_all, (self._gateway, self._pipeline))
        self._pipeline.start()

    def _send(self, topics: Mapping[str, str], rate: float, seed: int) -> None:
        producer = SampleProducer(self._broker.connection(SENDER), topics, rate, seed)
        producer.start()
        self._started.callback(producer.stop)

    def _start_gateway(self, gateway: Gateway) -> None:
        """Serve the tables, with a key that is new at each start and shown on the board."""
        with contextlib.suppress(ConfigError):  # there is none from an earlier run
            remove_key(gateway.keys, _KEY_NAME)
        _, key = create_key(gateway.keys, _KEY_NAME, control=True)
        # For `evergrid tail`: other users could read a key on its command line.
        write_secret(self._demo.key_file, f"{key}\n")
        self._gateway = self._process("gateway", lambda: self._board.step("Starting the gateway."))
        self._started.callback(self._gateway.stop)
        self._gateway.start()
        url = f"http://{gateway.host}:{gateway.port}"
        self._poller = GatewayPoller(url, key, self._board)
        self._started.callback(self._poller.close)

    def _process(self, name: str, on_start: Callable[[], None]) -> DemoProcess:
        demo = self._demo
        return DemoProcess(name, demo.config_file, demo.log_file(name), self._lock, on_start)

    def check(self) -> None:
        """Start again what has ended, and put what is new on the board."""
        if problem := self._pipeline.problem():
            self._board.pipeline_ended(problem)
        elif line := self._pipeline.new_line():
            self._board.step(line)
        if problem := self._gateway.problem():
            self._board.gateway_lost(problem)
        self._poller.poll()
        if not self._broker.is_running:
            self._board.step("The broker ended; starting it again.")
            self._broker.restart()

    def stop(self) -> None:
        """End everything within seconds; the data stays."""
        self._started.close()

    def _prepare_directory(self) -> None:
        demo = self._demo
        broker = demo.directory / "broker"
        if demo.options.fresh:
            if broker.exists():
                # The broker of a demo that was killed may still be ending.
                os.close(lock_directory(broker, "broker"))
            for name in ("broker", "security", "pipeline", "log"):
                shutil.rmtree(demo.directory / name, ignore_errors=True)
        elif (broker / "data").exists():
            self._board.step("Going on with the data of the last run; --fresh starts over.")
        for part in ("pipeline", "gateway"):
            log = demo.log_file(part)
            log.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                log.replace(log.with_suffix(".log.1"))


class DemoProcess(SupervisedChild):
    """Runs `evergrid NAME` with a log file; `lock` stays held as long as the process runs."""

    def __init__(
        self, name: str, config: Path, log: Path, lock: int, on_start: Callable[[], None]
    ) -> None:
        super().__init__(self._launch, _STOP_SECONDS)
        self._name = name
        self._command = [sys.executable, "-m", "evergrid", name, "-c", str(config)]
        self._log = log
        self._lock = lock
        self._on_start = on_start
        self._log_start = 0
        self._seen_line = ""

    def problem(self) -> str:
        """Why it ended, once after each end; starts it again when that is due."""
        ended = self.check()
        if ended is None:
            return ""
        reason = self._last_line().removeprefix("evergrid: ") or f"exit code {ended.code}"
        return f"The {self._name} ended ({reason}); again in {ended.wait:.0f} s."

    def new_line(self) -> str:
        """The last line of its log while it runs, if that is another one than at the last call."""
        if not self.is_running:
            return ""
        before, self._seen_line = self._seen_line, self._last_line()
        return "" if before == self._seen_line else self._seen_line

    def _last_line(self) -> str:
        with self._log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._log_start, end - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").rstrip().splitlines()
        return _TIME.sub("", lines[-1]).strip() if lines else ""

    def _launch(self) -> child_process.ChildProcess:
        # The configuration file is complete; variables must not override it.
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith("EVERGRID_") or name in _KEPT_VARIABLES
        }
        self._on_start()
        with self._log.open("ab") as output:
            self._log_start = output.tell()
            return child_process.start(self._command, output, env, hold=(self._lock,))


class GatewayPoller:
    """Asks the gateway for its tables, at most once a second, and updates the board."""

    def __init__(self, url: str, key: str, board: Board) -> None:
        self._url = url
        self._key = key
        self._board = board
        self._client: Client | None = None
        self._due = 0.0

    def poll(self) -> None:
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + _POLL_SECONDS
        try:
            if self._client is None:
                self._client = connect(self._url, self._key, timeouts=_TIMEOUTS)
            self._board.gateway_answered(f"{self._url}/#key={self._key}", self._client.tables())
        except ClientError:
            self.close()
            self._board.gateway_lost()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
