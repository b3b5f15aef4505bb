"""All parts of a gateway's server put together; nothing is open yet."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

import pyarrow as pa
from aiohttp import web

from evergrid.changelog.control_message import LARGEST_BYTES
from evergrid.config.settings import Gateway
from evergrid.gateway.entry.door import Door
from evergrid.gateway.entry.gate import REST, Gate, Handler, Say
from evergrid.gateway.entry.limits import Counter, Turnstile
from evergrid.gateway.http.api import Api
from evergrid.gateway.http.assets import CLIENT, Assets
from evergrid.gateway.http.control import Control, ControlTopic
from evergrid.gateway.http.counts import Counts
from evergrid.gateway.http.download import Downloads
from evergrid.gateway.http.metrics import Situation
from evergrid.gateway.http.page import Page
from evergrid.gateway.http.pulse import Delays
from evergrid.gateway.live.guests import Guests
from evergrid.gateway.live.lobby import Lobby
from evergrid.gateway.live.place import KeyFinder, Place
from evergrid.gateway.live.switchboard import Switchboard
from evergrid.gateway.tables.deliveries import Deliver, Load, TableInfo, Ticket
from evergrid.gateway.tables.pipeline import PipelineInfo
from evergrid.protocol.messages import PATH, Resume
from evergrid.version import __version__
from evergrid.views.query import Query, Window

CONTROL = "/api/control"  # the one address that takes a message

_tickets = itertools.count(1)  # of the whole process: no number is ever used twice


class Engine(Protocol):
    """The tables and their views; all methods are called on the event loop, none waits in it."""

    @property
    def instance(self) -> str: ...
    def start(self, deliver: Deliver) -> None: ...
    def open(self, ticket: Ticket, query: Query, window: Window, resume: Resume | None) -> None: ...
    def move(self, ticket: Ticket, window: Window) -> None: ...
    def close(self, ticket: Ticket) -> None: ...
    async def tables(self) -> Sequence[TableInfo]: ...
    async def pipeline(self) -> PipelineInfo: ...
    def export(self, query: Query, window: Window | None) -> AsyncIterator[pa.RecordBatch]: ...
    def load(self) -> Load: ...
    async def stop(self) -> None: ...


class House:
    """`app` answers requests; `guests` are its WebSockets."""

    def __init__(
        self,
        gateway: Gateway,
        port: int,
        engine: Engine,
        keys: KeyFinder,
        control: ControlTopic,
        assets: Assets,
        say: Say,
    ) -> None:
        self._engine = engine
        self._counts = Counts()
        self.delays = Delays()
        self.guests = Guests()
        self.switchboard = Switchboard()
        self._turnstile = Turnstile(gateway.limits)
        self._exports = Counter(gateway.limits.exports)
        self._gate = Gate(Door(gateway, port), keys, self._counts, say)
        place = Place(engine.instance, __version__, gateway.limits, keys, lambda: next(_tickets))
        self._lobby = Lobby(
            place, engine, self.switchboard, self._turnstile, self.guests, self._counts
        )
        downloads = Downloads(engine, self._exports, gateway.limits.window_rows, self._counts)
        self._page = Page(assets)
        self._api = Api(engine, downloads, __version__, self._situation)
        self._control = Control(engine, control, self._counts, say)

    def app(self, spoke: Callable[[web.Request], None]) -> web.Application:
        """`spoke` is called with each request, before anything else is done with it."""

        @web.middleware
        async def gate(request: web.Request, handler: Handler) -> web.StreamResponse:
            spoke(request)
            return await self._gate.pass_through(request, handler)

        app = web.Application(middlewares=[gate], client_max_size=LARGEST_BYTES)
        app.on_response_prepare.append(self._gate.dress)
        for path, handler in self.routes().items():
            app.router.add_get(path, handler)
        app.router.add_post(CONTROL, self._control.ask)
        app.router.add_get(REST, self._page.anything)
        return app

    def routes(self) -> dict[str, Handler]:
        """All but the files and views of the web app, which are as its build makes them."""
        return {
            "/": self._page.page,
            CLIENT: self._page.client,
            "/livez": self._api.live_health,
            "/readyz": self._api.readiness,
            "/metrics": self._api.metrics,
            "/openapi.json": self._api.openapi,
            CONTROL: self._control.choices,
            "/api/pipeline": self._api.pipeline,
            "/api/tables": self._api.tables,
            "/api/tables/{name}": self._api.table,
            "/api/tables/{name}/rows": self._api.rows,
            PATH: self._lobby.live,
        }

    def close(self) -> None:
        self._control.close()

    def _situation(self, tables: Sequence[TableInfo]) -> Situation:
        return Situation(
            version=__version__,
            instance=self._engine.instance,
            tables=tables,
            load=self._engine.load(),
            counts=self._counts,
            delays=self.delays,
            connections=self._turnstile.connections,
            strangers=self._turnstile.strangers,
            exports=self._exports.taken,
        )
