"""The error codes of the gateway, which stay the same in all versions."""

from __future__ import annotations

import enum


class Code(enum.Enum):
    """A `fatal` error ends the connection; after a `retry` error a client may try again.

    `close` is the WebSocket close code of a fatal error; `http` is the status of the same error
    over HTTP.
    """

    close: int
    http: int
    retry: bool

    def __new__(cls, value: str, http: int, close: int = 0, retry: bool = False) -> Code:
        member = object.__new__(cls)
        member._value_ = value
        member.http = http
        member.close = close
        member.retry = retry
        return member

    @classmethod
    def named(cls, value: str) -> Code:
        """The code with this name."""
        return next(code for code in cls if code.value == value)

    @property
    def fatal(self) -> bool:
        return self.close != 0

    BAD_MESSAGE = "bad_message", 400, 4400
    NOT_TEXT = "not_text", 400, 4401
    TOO_LARGE = "too_large", 413, 4402
    TOO_MANY_MESSAGES = "too_many_messages", 429, 4403, True
    UNSUPPORTED_PROTOCOL = "unsupported_protocol", 400, 4404
    NOT_LOGGED_IN = "not_logged_in", 401, 4405
    LOGIN_LATE = "login_late", 401, 4406, True
    ALREADY_LOGGED_IN = "already_logged_in", 400, 4407
    BAD_KEY = "bad_key", 401, 4408
    KEY_EXPIRED = "key_expired", 401, 4409
    TOO_MANY_CONNECTIONS = "too_many_connections", 503, 4410, True
    TOO_SLOW = "too_slow", 503, 4411, True
    SILENT = "silent", 408, 4412, True
    SHUTTING_DOWN = "shutting_down", 503, 4413, True
    INTERNAL = "internal", 500, 4414, True
    SESSION_ENDED = "session_ended", 403, 4415, True

    KEY_IN_ADDRESS = "key_in_address", 400
    HOST_REFUSED = "host_refused", 421
    ORIGIN_REFUSED = "origin_refused", 403
    NO_RIGHTS = "no_rights", 403
    NO_SUCH_TABLE = "no_such_table", 404
    NOT_FOUND = "not_found", 404
    METHOD_NOT_ALLOWED = "method_not_allowed", 405
    NOT_READY = "not_ready", 503, 0, True
    BAD_PARAMETER = "bad_parameter", 400
    TOO_MANY_EXPORTS = "too_many_exports", 503, 0, True
    BAD_CONTROL = "bad_control", 400
    BAD_CONTENT_TYPE = "bad_content_type", 415
    NOT_SENT = "not_sent", 503, 0, True

    SUB_IN_USE = "sub_in_use", 400
    UNKNOWN_SUB = "unknown_sub", 400
    TOO_MANY_WINDOWS = "too_many_windows", 429
    TOO_MANY_VIEWS = "too_many_views", 503, 0, True
    VIEW_FAILED = "view_failed", 500
    BAD_TABLE_NAME = "bad_table_name", 400
    UNKNOWN_COLUMN = "unknown_column", 400
    DUPLICATE_COLUMN = "duplicate_column", 400
    BAD_FILTER = "bad_filter", 400
    BAD_VALUE = "bad_value", 400
    BAD_ORDER = "bad_order", 400
    BAD_SEARCH = "bad_search", 400
    BAD_WINDOW = "bad_window", 400
    WINDOW_TOO_LARGE = "window_too_large", 413
    TOO_MANY_BYTES = "too_many_bytes", 503, 0, True
