"""The Python client: tables, snapshots and live windows of a gateway.

Start with `evergrid.connect` or `evergrid.connect_async`; see docs/client.md.
"""

from evergrid.client.address import Patience, Timeouts
from evergrid.client.async_client import AsyncClient, connect_async
from evergrid.client.async_windows import AsyncChanges, AsyncWindows
from evergrid.client.blocking_client import Changes, Client, Windows, connect
from evergrid.client.client_errors import ClientError, Closed, Denied, Rejected, Unreachable
from evergrid.client.filters import Condition, col
from evergrid.client.http_answers import Asked, TableDescription
from evergrid.client.live_window import Change, ChangeKind, LiveWindow
from evergrid.protocol.messages import Live

__all__ = [
    "Asked",
    "AsyncChanges",
    "AsyncClient",
    "AsyncWindows",
    "Change",
    "ChangeKind",
    "Changes",
    "Client",
    "ClientError",
    "Closed",
    "Condition",
    "Denied",
    "Live",
    "LiveWindow",
    "Patience",
    "Rejected",
    "TableDescription",
    "Timeouts",
    "Unreachable",
    "Windows",
    "col",
    "connect",
    "connect_async",
]
