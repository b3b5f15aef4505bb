"""A gateway over tables that a test writes, without Kafka; everything else is real.

with LocalGateway(folder) as gateway:
    gateway.place(table)
    gateway.upsert("people", [{"name": "Mei", …}])
    evergrid.connect(gateway.address, gateway.secret)
"""

from __future__ import annotations

import asyncio
import gc
import secrets
import threading
import warnings
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from evergrid.changelog.control_topic import ControlTopic
from evergrid.changelog.manifest import Manifest
from evergrid.config import load
from evergrid.config.settings import Audit, GatewayLimits, Settings, Tls
from evergrid.gateway.access.audit_log import AuditLog
from evergrid.gateway.access.key_file import create_key, remove_key
from evergrid.gateway.access.key_registry import KeyRegistry
from evergrid.gateway.http.assets import FOLDER
from evergrid.gateway.server import RunningGateway, serve
from evergrid.kafka.message_sender import SentPosition
from evergrid.model.table import Table
from evergrid.protocol.messages import Live, WindowState
from tests.support.free_ports import free_port
from tests.support.local_engine import LocalEngine, NewRows

Answer = TypeVar("Answer")

_DEFAULTS = load(None, {}).gateway
LIMITS = msgspec.structs.replace(_DEFAULTS.limits, login_seconds=60)
LIMIT_SECONDS = 60.0


class RecordedMessage(msgspec.Struct, frozen=True):
    """A control message and who sent it."""

    value: bytes
    by: str


class LocalControl(ControlTopic):
    """Parses messages as the real topic does, and records them; the first is at 0:0."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or load(None, {}))
        self.handed: list[RecordedMessage] = []
        self._lock = threading.Lock()

    def send(self, value: bytes, by: str, manifest: Manifest) -> SentPosition:
        with self._lock:
            self.handed.append(RecordedMessage(value, by))
            return SentPosition(self.name(manifest), 0, len(self.handed) - 1)


class LocalGateway:
    """A gateway at a free port, in its own thread; `secret` is a key for all tables."""

    def __init__(
        self,
        folder: Path,
        limits: GatewayLimits = LIMITS,
        origins: tuple[str, ...] = (),
        tls: Tls | None = None,
        web_app: Path = FOLDER,
        control: ControlTopic | None = None,
        audit: Audit | None = None,
    ) -> None:
        """`web_app` is the directory of a built page, if not the package's own.

        Control messages go to `control`; where that is not given, to `handed_over`.
        """
        self.settings = msgspec.structs.replace(
            _DEFAULTS,
            port=free_port(),
            origins=origins,
            tls=tls,
            keys=folder / "keys.yaml",
            audit=audit or Audit(folder / "log" / "audit.jsonl", 2**24, 10),
            frame_interval_ms=0,
            linger_seconds=0.2,
            limits=limits,
        )
        self.said: list[str] = []
        self._web_app = web_app
        self._local_control = LocalControl()
        self._control = control or self._local_control
        self.secrets: dict[str, str] = {}
        self.secret: str = self.new_key("all")
        self.engine = LocalEngine(limits)
        self.loop = asyncio.new_event_loop()
        self._running: RunningGateway | None = None
        self._audit: AuditLog | None = None
        self._thread = threading.Thread(target=self.loop.run_forever, name="local-gateway")

    def new_key(
        self,
        name: str,
        tables: Sequence[str] = ("*",),
        *,
        control: bool = False,
        admin: bool = False,
    ) -> str:
        """The secret of another key; a gateway that runs knows it within a second."""
        _, secret = create_key(
            self.settings.keys, name, tables=tuple(tables), control=control, admin=admin
        )
        self.secrets[name] = secret
        return secret

    def remove_key(self, name: str) -> None:
        remove_key(self.settings.keys, name)

    @property
    def handed_over(self) -> Sequence[RecordedMessage]:
        """The control messages that keys have sent."""
        return self._local_control.handed

    @property
    def running(self) -> RunningGateway:
        assert self._running is not None, "the gateway is stopped"
        return self._running

    @property
    def address(self) -> str:
        return self.running.address

    @property
    def port(self) -> int:
        return self.running.port

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop()
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(LIMIT_SECONDS)
            self.loop.close()
            _forget_connections()

    def start(self) -> None:
        """Serve; after a stop, at the same port and as a new instance with the same tables."""
        self._running = self.run(self._serve())

    def stop(self) -> None:
        if self._running is not None:
            running, self._running = self._running, None
            self.run(running.stop())
            if self._audit is not None:
                self._audit.close()

    def place(self, table: Table, rows: NewRows = (), generation: int = 1) -> None:
        self.call(lambda: self.engine.place(table, rows, generation))

    def share(self, name: str, generation: int) -> None:
        """Another generation that shares the same table."""
        self.call(lambda: self.engine.share(name, generation))

    def withdraw(self, name: str) -> None:
        self.call(lambda: self.engine.withdraw(name))

    def upsert(self, name: str, rows: NewRows) -> None:
        self.call(lambda: self.engine.upsert(name, rows))

    def delete(self, name: str, ids: Sequence[str]) -> None:
        self.call(lambda: self.engine.delete(name, ids))

    def say(self, name: str, state: Live, message: str = "", since: int = 0) -> None:
        """Set the state of a table."""
        self.call(lambda: self.engine.say(name, WindowState(state, message, since)))

    def call(self, action: Callable[[], Answer]) -> Answer:
        """Run a function on the gateway's event loop."""

        async def act() -> Answer:
            return action()

        return self.run(act())

    def run(self, work: Coroutine[object, object, Answer]) -> Answer:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(LIMIT_SECONDS)

    async def _serve(self) -> RunningGateway:
        self.engine.instance = secrets.token_hex(8)
        say = self.said.append
        self._audit = audit = AuditLog(self.settings.audit, say)
        keys = KeyRegistry(self.settings.keys, say, changed=audit.key_changed)
        return await serve(
            self.settings, self.engine, keys, self._control, audit, say, self._web_app
        )


def _forget_connections() -> None:
    """Close connections that browsers left half closed, or Python would warn about them during
    another test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
