"""The Python client: tables, snapshots and live windows of a gateway.

`evergrid.connect` and `evergrid.connect_async` are the way in; docs/client.md shows it.
"""

from evergrid.client.asked import Asked
from evergrid.client.asynchronous import AsyncClient, connect_async
from evergrid.client.blocking import Changes, Client, Windows, connect
from evergrid.client.changes import Change, ChangeKind
from evergrid.client.errors import ClientError, Closed, Denied, Rejected, Unreachable
from evergrid.client.filters import Condition, col
from evergrid.client.patience import Patience
from evergrid.client.table import TableDescription
from evergrid.client.window import LiveWindow
from evergrid.client.windows import AsyncChanges, AsyncWindows
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
    "Unreachable",
    "Windows",
    "col",
    "connect",
    "connect_async",
]
