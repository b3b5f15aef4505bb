"""The JSON messages of the WebSocket protocol, both ways."""

from __future__ import annotations

import enum

import msgspec

from evergrid.protocol.error_codes import Code
from evergrid.views.view_query import Filter, OrderBy, Query, Window

PROTOCOL = 1
SUBPROTOCOL = "evergrid.v1"
PATH = "/api/live"
DEFAULT_LIMIT = 300

MAX_SUB = 2**32 - 1


class _Client(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="type"
):
    pass


class Hello(_Client, frozen=True, tag="hello"):
    """The first message; without a key when the handshake carried one in a header."""

    protocol: int
    key: str = ""


class Resume(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last frame a client has of the same query and window, from an earlier connection.

    Sequence 0: the client had frames, but none that a difference could start from.
    """

    instance: str
    sequence: int


class Open(_Client, frozen=True, tag="open"):
    """Subscribe to a window; `sub` is the client's own number for it."""

    sub: int
    table: str
    columns: tuple[str, ...] = ()
    filter: Filter | None = None
    search: str = ""
    order: tuple[OrderBy, ...] = ()
    offset: int = 0
    limit: int = DEFAULT_LIMIT
    resume: Resume | None = None

    @property
    def query(self) -> Query:
        return Query(self.table, self.columns, self.filter, self.search, self.order)

    @property
    def window(self) -> Window:
        return Window(self.offset, self.limit)


class Move(_Client, frozen=True, tag="move"):
    """Another slice of the same view."""

    sub: int
    offset: int
    limit: int = DEFAULT_LIMIT


class Close(_Client, frozen=True, tag="close"):
    """Close a window; the gateway answers `closed` and sends nothing more for it."""

    sub: int


class Heart(_Client, frozen=True, tag="heart"):
    """Sent in answer to the gateway's heartbeat, so that the connection counts as alive."""


ClientMessage = Hello | Open | Move | Close | Heart


class _Server(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type"):
    pass


class Welcome(_Server, frozen=True, tag="welcome"):
    """Logged in. `instance` is another after every start of the gateway."""

    protocol: int
    instance: str
    server: str
    key: str
    control: bool
    heart_seconds: float
    max_windows: int
    max_rows: int
    max_message_bytes: int


class Live(enum.Enum):
    """State of a window: `waiting` for a missing table, `loading` it, `live` or `stale`."""

    WAITING = "waiting"
    LOADING = "loading"
    LIVE = "live"
    STALE = "stale"


class WindowState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a window, or of a whole table; `message` is a sentence for people.

    `since` (microseconds) is when it was last known to be fresh; `done` of `total` changes
    are loaded; `code` is the error code of a query that the table can no longer answer.
    """

    state: Live
    message: str
    since: int = 0
    done: int = 0
    total: int = 0
    code: str = ""

    def of_window(self, sub: int) -> State:
        """This state as the message that reports it for the client's window `sub`."""
        return State(**msgspec.structs.asdict(self), sub=sub)


class State(WindowState, frozen=True, tag_field="type", tag="state", kw_only=True):
    """The state of the window `sub`, sent when it changes."""

    sub: int


class Closed(_Server, frozen=True, tag="closed"):
    """Confirms `close`; nothing more is sent for this subscription."""

    sub: int


class Failed(_Server, frozen=True, tag="error"):
    """A request failed; with `sub`, only that window is affected."""

    code: str
    message: str
    sub: int | None = None
    retry: bool = False
    fatal: bool = False


class ServerHeart(_Server, frozen=True, tag="heart"):
    """Heartbeat, sent even if nothing else is, so that clients notice a lost connection."""

    time: int


ServerMessage = Welcome | State | Closed | Failed | ServerHeart

_client_messages: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(ClientMessage)
_server_messages: msgspec.json.Decoder[ServerMessage] = msgspec.json.Decoder(ServerMessage)
_encoder = msgspec.json.Encoder()


def encode(message: ClientMessage | ServerMessage) -> str:
    return _encoder.encode(message).decode()


def decode_client(text: str) -> ClientMessage:
    """Decode a client's message; `msgspec.MsgspecError` or ValueError if it is invalid."""
    return _client_messages.decode(text)


def decode_server(text: str) -> ServerMessage:
    return _server_messages.decode(text)


def failed(code: Code, message: str, sub: int | None = None) -> Failed:
    return Failed(code.value, message, sub, code.retry, code.fatal)
