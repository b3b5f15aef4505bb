"""The services of the demo: broker, sample events, gateway and pipeline."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

from evergrid.broker import jars
from evergrid.broker.secret_files import write_secret
from evergrid.config.settings import Gateway, Settings
from evergrid.demo.board import Board
from evergrid.demo.demo_broker import DemoBroker
from evergrid.demo.demo_process import DemoProcess
from evergrid.demo.demo_settings import DemoSettings
from evergrid.demo.gateway_poller import GatewayPoller
from evergrid.demo.sample_producer import SampleProducer
from evergrid.gateway.access.key_file import create_key, remove_key
from evergrid.model.errors import ConfigError
from evergrid.process.directory_lock import lock_directory
from evergrid.process.supervised_child import stop_all

_KEY_NAME = "demo"
_SECOND_SUFFIX = "_v2"  # of the topics to switch to
_SECOND_SHARE = 0.2  # of the rate


class DemoServices:
    """Starts the services in order, keeps them running, and stops them in reverse order."""

    def __init__(self, demo: DemoSettings, board: Board) -> None:
        self._demo = demo
        self._board = board
        self._lock: int | None = None
        self._broker: DemoBroker | None = None
        self._producers: list[SampleProducer] = []
        self._gateway: DemoProcess | None = None
        self._pipeline: DemoProcess | None = None
        self._poller: GatewayPoller | None = None

    def claim_directory(self) -> None:
        """Lock the directory; ConfigError if another demo uses it."""
        directory = self._demo.directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = lock_directory(directory, "demo")
        except OSError as error:
            raise ConfigError(
                f"the directory cannot be used ({error.strerror})",
                where=str(directory),
                remedy="Choose a directory of yours with --data-dir.",
            ) from None

    def start(self) -> None:
        """Start everything; returns when the pipeline's process runs."""
        demo, board = self._demo, self._board
        self._prepare_directory()
        libraries = jars.fetch(board.step)
        options = demo.options
        broker = DemoBroker(
            demo.directory, options.security, options.port, jars=libraries, report=board.step
        )
        self._broker = broker
        topics = {name: source.topic for name, source in demo.settings.sources.items()}
        second = {name: f"{topic}{_SECOND_SUFFIX}" for name, topic in topics.items()}
        broker.start(
            (*topics.values(), *second.values()),
            demo.settings.internal_topics.prefix,
            demo.settings.control.topic,
        )
        board.broker(broker.bootstrap)
        settings = demo.with_addresses(
            broker.evergrid_connection(), _free_port(demo.settings.gateway)
        )
        demo.write(settings, broker.config_section())
        board.step(f"Sending {options.rate:g} sample events a second.")
        rate, seed = options.rate, options.seed
        self._producers = [
            SampleProducer(broker.sender_connection(), topics, rate, seed),
            # Other people on second topics, to switch to with `evergrid control`.
            SampleProducer(broker.sender_connection(), second, rate * _SECOND_SHARE, seed + 1),
        ]
        for producer in self._producers:
            producer.start()
        self._start_gateway(settings)
        self._pipeline = self._process("pipeline", board.pipeline_started)
        self._pipeline.start()

    def _start_gateway(self, settings: Settings) -> None:
        """Serve the tables, with a key that is new at each start and shown on the board."""
        gateway = settings.gateway
        key = _new_key(gateway.keys)
        # For `evergrid tail`: other users could read a key on its command line.
        write_secret(self._demo.key_file, f"{key}\n")
        self._gateway = self._process("gateway", lambda: self._board.step("Starting the gateway."))
        self._gateway.start()
        url = f"http://{gateway.host}:{gateway.port}"
        self._poller = GatewayPoller(url, key, self._board)
        self._poller.start()

    def check(self) -> None:
        """Start again what has ended, and put new lines of the pipeline's log on the board."""
        if self._pipeline is not None:
            if problem := self._pipeline.problem():
                self._board.pipeline_ended(problem)
            elif line := self._pipeline.new_line().strip():
                self._board.step(line)
        if self._gateway is not None and (problem := self._gateway.problem()):
            self._board.gateway_ended(problem)
        if self._poller is not None:
            self._poller.check()
        if self._broker is not None and not _is_running(self._broker.pid):
            self._board.step("The broker ended; starting it again.")
            self._broker.restart()

    def stop(self) -> None:
        """End everything within seconds; the data stays."""
        processes = [one for one in (self._gateway, self._pipeline) if one is not None]
        for process in processes:
            process.ask_to_end()
        for producer in self._producers:
            producer.stop()
        if self._poller is not None:
            self._poller.stop()
        stop_all(processes)
        if self._broker is not None:
            self._broker.stop()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _process(self, name: str, on_start: Callable[[], None]) -> DemoProcess:
        assert self._lock is not None
        demo = self._demo
        return DemoProcess(name, demo.config_file, demo.log_file(name), self._lock, on_start)

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


def _new_key(path: Path) -> str:
    """A new key for the demo, with all rights."""
    with contextlib.suppress(ConfigError):  # there is none from an earlier run
        remove_key(path, _KEY_NAME)
    _, secret = create_key(path, _KEY_NAME, control=True)
    return secret


def _free_port(gateway: Gateway) -> int:
    """The configured port, or any free one if it is in use."""
    for port in (gateway.port, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((gateway.host, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return gateway.port


def _is_running(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
