"""The gateway's web application: all handlers and middleware, with the objects they share."""

from __future__ import annotations

from collections.abc import Sequence

from aiohttp import web

from evergrid.changelog.control_message import LARGEST_BYTES
from evergrid.config.settings import Gateway
from evergrid.gateway.access.access_key import KeyFinder
from evergrid.gateway.access.audit_log import AuditLog
from evergrid.gateway.access.auth_middleware import REST, AuthMiddleware, Handler, Log
from evergrid.gateway.access.connection_limiter import ConnectionLimiter
from evergrid.gateway.access.limits import SlotCounter
from evergrid.gateway.access.origin_policy import OriginPolicy
from evergrid.gateway.access.refusals import Refusals
from evergrid.gateway.access.sending_bytes import SendingBytes
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.table_engine import TableEngine, TableInfo
from evergrid.gateway.http.api import Api
from evergrid.gateway.http.assets import CLIENT, Assets
from evergrid.gateway.http.control_endpoint import ControlEndpoint, ControlTopic
from evergrid.gateway.http.metrics import LoopDelays, MetricsSnapshot
from evergrid.gateway.http.openapi import openapi_document
from evergrid.gateway.http.row_downloads import RowDownloads
from evergrid.gateway.http.sessions_endpoint import SessionsEndpoint
from evergrid.gateway.http.web_page import WebPage
from evergrid.gateway.live.live_endpoint import LiveEndpoint
from evergrid.protocol.messages import PATH
from evergrid.version import __version__

CONTROL = "/api/control"  # the only path that accepts POST
SESSION = "/api/sessions/{id}"  # the only path that accepts DELETE


class GatewayApp:
    """Makes the aiohttp application; `live` has its WebSockets."""

    def __init__(
        self,
        gateway: Gateway,
        port: int,
        engine: TableEngine,
        keys: KeyFinder,
        control: ControlTopic,
        assets: Assets,
        audit: AuditLog,
        log: Log,
    ) -> None:
        self._engine = engine
        self._counters = TrafficCounters()
        self._counters.audit_lost = audit.lost
        audit.gateway = engine.instance
        self.refusals = Refusals(self._counters, audit, log)
        self.delays = LoopDelays()
        self._exports = SlotCounter(gateway.limits.exports)
        policy = OriginPolicy(gateway, port)
        self._auth = AuthMiddleware(policy, keys, self._counters, self.refusals, audit, log)
        sending = SendingBytes(gateway.limits)
        self.live = LiveEndpoint(
            gateway.limits, engine, keys, self._counters, sending, self.refusals, audit
        )
        downloads = RowDownloads(
            engine, self._exports, gateway.limits, self._counters, sending, audit
        )
        self._page = WebPage(assets)
        self._api = Api(engine, downloads, openapi_document(__version__), self._snapshot)
        self._control = ControlEndpoint(engine, control, self._counters, audit, log)
        self._sessions = SessionsEndpoint(self.live, audit)

    def application(self, limiter: ConnectionLimiter) -> web.Application:
        """The application; `limiter` is told of each request before anything else."""

        @web.middleware
        async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
            limiter.on_request(request)
            try:
                return await self._auth.handle(request, handler)
            finally:
                limiter.on_response(request)

        application = web.Application(middlewares=[middleware], client_max_size=LARGEST_BYTES)
        application.on_response_prepare.append(self._auth.add_headers)
        for path, handler in self.routes().items():
            application.router.add_get(path, handler)
        application.router.add_post(CONTROL, self._control.send)
        application.router.add_delete(SESSION, self._sessions.end)
        application.router.add_get(REST, self._page.file_or_view)
        return application

    def routes(self) -> dict[str, Handler]:
        """All routes but those of the web app's files and views."""
        return {
            "/": self._page.page,
            CLIENT: self._page.client,
            "/livez": self._api.liveness,
            "/readyz": self._api.readiness,
            "/metrics": self._api.metrics,
            "/openapi.json": self._api.openapi,
            CONTROL: self._control.choices,
            "/api/pipeline": self._api.pipeline,
            "/api/sessions": self._sessions.all,
            SESSION: self._sessions.one,
            "/api/tables": self._api.tables,
            "/api/tables/{name}": self._api.table,
            "/api/tables/{name}/rows": self._api.rows,
            PATH: self.live.handle,
        }

    def close(self) -> None:
        self.live.router.close()
        self._control.close()

    def _snapshot(self, tables: Sequence[TableInfo]) -> MetricsSnapshot:
        return MetricsSnapshot(
            version=__version__,
            instance=self._engine.instance,
            tables=tables,
            load=self._engine.load(),
            counters=self._counters,
            delays=self.delays,
            connections=self.live.slots.connections,
            anonymous=self.live.slots.of_key(None),
            exports=self._exports.taken,
        )
