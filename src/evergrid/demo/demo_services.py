"""Everything behind the screen: broker, topics, sample data, pipeline, and who reads them."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from pathlib import Path

from evergrid.config.settings import Gateway, Settings
from evergrid.demo.board import Board
from evergrid.demo.demo_broker import Cluster
from evergrid.demo.demo_process import Child
from evergrid.demo.demo_settings import Scene
from evergrid.demo.gateway_poller import Watcher
from evergrid.demo.sample_producer import EventProducer
from evergrid.demo.watches import GatewayWatch, PipelineWatch
from evergrid.gateway.entry.key import make_key
from evergrid.gateway.entry.keyfile import add_key, remove_key
from evergrid.kafka import jars
from evergrid.kafka.folder import take_lock
from evergrid.kafka.secured.files import write_secret
from evergrid.model.errors import ConfigError

_KEY_NAME = "demo"
_OTHER = "_v2"  # what the names of the other topics end with
_SHARE = 0.2  # of the events that they get


class Stage:
    """Starts in order, keeps everything running, and stops in the opposite order."""

    def __init__(self, scene: Scene, board: Board) -> None:
        self._scene = scene
        self._board = board
        self._cluster: Cluster | None = None
        self._lock: int | None = None
        self._producers: list[EventProducer] = []
        self._child: Child | None = None
        self._gateway: Child | None = None
        self._watcher: Watcher | None = None

    def claim(self) -> None:
        """Take the directory, or ConfigError when another demo has it."""
        directory = self._scene.directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = take_lock(directory, "demo")
        except OSError as error:
            raise ConfigError(
                f"the demo cannot keep its files there ({error.strerror})",
                where=str(directory),
                remedy="Choose a directory of yours with --data-dir.",
            ) from None

    def open(self) -> None:
        """Start everything; returns when the pipeline's process runs."""
        assert self._lock is not None
        scene, board = self._scene, self._board
        self._make_room()
        found = jars.fetch(board.step)
        choices = scene.choices
        cluster = Cluster(
            scene.directory, choices.security, choices.port, jars=found, report=board.step
        )
        self._cluster = cluster
        sources = {name: source.topic for name, source in scene.settings.sources.items()}
        others = {name: f"{topic}{_OTHER}" for name, topic in sources.items()}
        cluster.start(
            (*sources.values(), *others.values()),
            scene.settings.internal_topics.prefix,
            scene.settings.control.topic,
        )
        board.broker(cluster.bootstrap)
        settings = scene.at(cluster.evergrid(), _free_port(scene.settings.gateway))
        scene.write(settings, cluster.section())
        board.step(f"Sending {choices.rate:g} sample events a second.")
        rate, seed = choices.rate, choices.seed
        self._producers = [
            EventProducer(cluster.sender(), sources, rate, seed),
            # Other people on other topics, for who wants to see the pipeline changed.
            EventProducer(cluster.sender(), others, rate * _SHARE, seed + 1),
        ]
        for producer in self._producers:
            producer.start()
        self._open_gateway(settings)
        child = Child(
            "pipeline", scene.config_file, scene.log("pipeline"), PipelineWatch(board), self._lock
        )
        self._child = child
        child.start()
        prefix = settings.internal_topics.prefix
        self._watcher = Watcher(settings.kafka.internal, prefix, board, lambda: child.started_at)
        self._watcher.start()

    def _open_gateway(self, settings: Settings) -> None:
        """Serve the tables, for a key that is made anew each time and shown on the screen."""
        assert self._lock is not None
        scene, gateway = self._scene, settings.gateway
        self._board.step("Starting the gateway.")
        secret = _demo_key(gateway.keys)
        # For `evergrid tail`: a key on its command line could be read by everybody here.
        write_secret(scene.key_file, f"{secret}\n")
        address = f"http://{gateway.host}:{gateway.port}/#key={secret}"
        watch = GatewayWatch(self._board, address)
        self._gateway = Child("gateway", scene.config_file, scene.log("gateway"), watch, self._lock)
        self._gateway.start()

    def look(self) -> None:
        """Start again what has failed."""
        for child in (self._child, self._gateway):
            if child is not None:
                child.look()
        if self._watcher is not None:
            self._watcher.look()
        if self._cluster is not None and not _is_alive(self._cluster.pid):
            self._board.step("The broker ended; starting it again.")
            self._cluster.restart()

    def close(self) -> None:
        """End everything within seconds; the data stays."""
        children = [child for child in (self._gateway, self._child) if child is not None]
        for child in children:
            child.ask_to_end()
        for producer in self._producers:
            producer.stop()
        if self._watcher is not None:
            self._watcher.stop()
        for child in children:
            child.stop()
        if self._cluster is not None:
            self._cluster.stop()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _make_room(self) -> None:
        scene = self._scene
        broker = scene.directory / "broker"
        if scene.choices.fresh:
            if broker.exists():
                # The broker of a demo that was killed may still be ending.
                os.close(take_lock(broker))
            for name in ("broker", "security", "pipeline", "log"):
                shutil.rmtree(scene.directory / name, ignore_errors=True)
        elif (broker / "data").exists():
            self._board.step("Going on with the data of the last time; --fresh starts over.")
        for part in ("pipeline", "gateway"):
            log = scene.log(part)
            log.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                log.replace(log.with_suffix(".log.1"))


def _demo_key(path: Path) -> str:
    """A fresh secret for the demo's key, which may do everything."""
    with contextlib.suppress(ConfigError):  # there is none from an earlier time
        remove_key(path, _KEY_NAME)
    key, secret = make_key(_KEY_NAME, control=True)
    add_key(path, key)
    return secret


def _free_port(gateway: Gateway) -> int:
    """The configured port, or any other when somebody has it."""
    for port in (gateway.port, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((gateway.host, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return gateway.port


def _is_alive(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
