"""Reads the URL parameters of a request for rows: the same queries as over the WebSocket."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

import msgspec

from evergrid.gateway.access.request_checks import MAX_OFFSET, check_query, check_window, shown
from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.http.accept_header import weights
from evergrid.protocol.error_codes import Code
from evergrid.protocol.messages import DEFAULT_LIMIT
from evergrid.views.view_query import Filter, Nulls, OrderBy, Query, Window

ALL = "all"
_INTEGER = re.compile(r"-?[0-9]{1,20}")
_ORDER = re.compile(r"(-?)([^:-][^:]*)(?::(first|last))?")
_SWITCH = {"true": True, "1": True, "false": False, "0": False}


class Format(enum.Enum):
    """The format of rows; `media` is its content type, which Accept headers ask for."""

    media: str

    def __new__(cls, value: str, media: str) -> Format:
        member = object.__new__(cls)
        member._value_ = value
        member.media = media
        return member

    JSON = "json", "application/json"
    NDJSON = "ndjson", "application/x-ndjson"
    CSV = "csv", "text/csv"
    ARROW = "arrow", "application/vnd.apache.arrow.stream"


class RowsRequest(msgspec.Struct, frozen=True):
    """`window` is None for all rows; `guard` keeps spreadsheets from running formulas."""

    query: Query
    window: Window | None
    format: Format
    guard: bool

    def is_small(self, rows: int) -> bool:
        return self.window is not None and self.window.limit <= rows


NAMES = ("columns", "filter", "search", "order", "offset", "limit", "format", "guard")


def read_rows_request(
    table: str, parameters: Sequence[tuple[str, str]], accept: str | None
) -> RowsRequest:
    """The request in these parameters; RequestError if one of them is invalid."""
    given = _once(parameters)
    query = Query(
        table=table,
        columns=_listed(given.get("columns", "")),
        filter=_filter(given["filter"]) if "filter" in given else None,
        search=given.get("search", ""),
        order=tuple(_order(part) for part in _listed(given.get("order", ""))),
    )
    check_query(query)
    return RowsRequest(
        query=query,
        window=_window(given.get("offset", "0"), given.get("limit", str(DEFAULT_LIMIT))),
        format=_format(given["format"]) if "format" in given else accepted(accept),
        guard=_switch(given.get("guard", "false")),
    )


def _once(parameters: Sequence[tuple[str, str]]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in parameters:
        if name not in NAMES:
            raise _bad(f"unknown parameter {shown(name)}", f"Use {', '.join(NAMES)}.")
        if name in given:
            raise _bad(f"duplicate parameter {name}", "Send it once.")
        given[name] = value
    return given


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def _filter(text: str) -> Filter:
    try:
        return msgspec.json.decode(text, type=Filter)
    except RecursionError:
        raise RequestError(Code.BAD_FILTER, "filter nested too deep") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise RequestError(
            Code.BAD_FILTER,
            f"bad filter: {error}",
            remedy='Write it like {"column":"age","op":"greater","value":30}.',
        ) from None


def _order(text: str) -> OrderBy:
    match = _ORDER.fullmatch(text)
    if match is None:
        raise RequestError(
            Code.BAD_ORDER,
            f"bad order {shown(text)}",
            remedy="Write columns like name, -ts (descending) or -ts:first (nulls first).",
        )
    nulls = Nulls(match[3]) if match[3] else Nulls.LAST
    return OrderBy(match[2], descending=match[1] == "-", nulls=nulls)


def _window(offset: str, limit: str) -> Window | None:
    start = _integer("offset", offset)
    if limit == ALL and start == 0:
        return None
    rows = MAX_OFFSET if limit == ALL else _integer("limit", limit)
    window = Window(start, rows)
    check_window(window, MAX_OFFSET)
    return window


def _integer(name: str, text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise _bad(f"bad {name} {shown(text)}", "Use a whole number.")
    return int(text)


def _switch(text: str) -> bool:
    if text not in _SWITCH:
        raise _bad(f"bad guard {shown(text)}", "Use true or false.")
    return _SWITCH[text]


def _format(text: str) -> Format:
    by_name = {format_.value: format_ for format_ in Format}
    if text not in by_name:
        raise _bad(f"unknown format {shown(text)}", f"Use {', '.join(by_name)}.")
    return by_name[text]


def accepted(accept: str | None) -> Format:
    """The format with the highest weight in the header; JSON if it lists none of them."""
    by_media = {format_.media: format_ for format_ in Format}
    offers = [(media, weight) for media, weight in weights(accept) if media in by_media and weight]
    media, _ = max(offers, key=lambda offer: offer[1], default=(Format.JSON.media, 1.0))
    return by_media[media]


def _bad(what: str, remedy: str) -> RequestError:
    return RequestError(Code.BAD_PARAMETER, what, remedy=remedy)
