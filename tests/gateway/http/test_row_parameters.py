from __future__ import annotations

import pytest

from evergrid.gateway.access.request_error import RequestError
from evergrid.gateway.http.row_parameters import Format, RowsRequest, accepted, read_rows_request
from evergrid.protocol.error_codes import Code
from evergrid.views.view_query import Filter, Nulls, Op, OrderBy, Query, Window


def wish(*parameters: tuple[str, str], accept: str = "") -> RowsRequest:
    return read_rows_request("people", parameters, accept)


def test_nothing_asked_for_is_the_first_rows_as_json() -> None:
    assert wish() == RowsRequest(Query("people"), Window(0, 300), Format.JSON, False)


def test_everything_can_be_asked_for() -> None:
    assert wish(
        ("columns", "name,age"),
        ("filter", '{"column":"age","op":"between","value":[1,2]}'),
        ("search", "mei sato"),
        ("order", "-ts,name:first,-age:last"),
        ("offset", "-20"),
        ("limit", "20"),
        ("format", "csv"),
        ("guard", "true"),
    ) == RowsRequest(
        Query(
            "people",
            ("name", "age"),
            Filter("age", Op.BETWEEN, (1, 2)),
            "mei sato",
            (
                OrderBy("ts", descending=True),
                OrderBy("name", nulls=Nulls.FIRST),
                OrderBy("age", descending=True),
            ),
        ),
        Window(-20, 20),
        Format.CSV,
        True,
    )


def test_all_rows_have_no_window_unless_some_are_left_out() -> None:
    assert wish(("limit", "all")).window is None
    rest = wish(("limit", "all"), ("offset", "5")).window
    assert rest is not None
    assert (rest.offset, rest.limit) == (5, 2**53)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("colums", "name", Code.BAD_PARAMETER),
        ("columns", "name,age,name", Code.DUPLICATE_COLUMN),
        ("columns", ",".join(["email"] * 1000), Code.DUPLICATE_COLUMN),
        ("order", "name,-name", Code.BAD_ORDER),
        ("limit", "many", Code.BAD_PARAMETER),
        ("limit", "", Code.BAD_PARAMETER),
        ("limit", "1e3", Code.BAD_PARAMETER),
        ("limit", "٣", Code.BAD_PARAMETER),
        ("limit", " 3", Code.BAD_PARAMETER),
        ("limit", "9" * 5000, Code.BAD_PARAMETER),
        ("limit", "0", Code.BAD_WINDOW),
        ("limit", "-1", Code.BAD_WINDOW),
        ("limit", "9007199254740993", Code.BAD_WINDOW),
        ("offset", "1.0", Code.BAD_PARAMETER),
        ("offset", "-9007199254740993", Code.BAD_WINDOW),
        ("filter", "age > 3", Code.BAD_FILTER),
        ("filter", "", Code.BAD_FILTER),
        ("filter", '{"column":"age","op":"like"}', Code.BAD_FILTER),
        ("filter", '{"and":[' * 40 + "]}" * 40, Code.BAD_FILTER),
        ("filter", '{"and":[' * 5000 + "]}" * 5000, Code.BAD_FILTER),
        ("order", "name:middle", Code.BAD_ORDER),
        ("order", "name,,age", Code.BAD_ORDER),
        ("order", "-", Code.BAD_ORDER),
        ("format", "xml", Code.BAD_PARAMETER),
        ("guard", "maybe", Code.BAD_PARAMETER),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_code(name: str, value: str, code: Code) -> None:
    with pytest.raises(RequestError) as refusal:
        wish((name, value))
    assert refusal.value.code is code
    assert len(refusal.value.sentence()) < 400


def test_a_parameter_is_given_once() -> None:
    with pytest.raises(RequestError) as refusal:
        wish(("limit", "1"), ("limit", "2"))
    assert refusal.value.code is Code.BAD_PARAMETER


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", Format.JSON),
        ("*/*", Format.JSON),
        ("text/html,application/xhtml+xml,*/*;q=0.8", Format.JSON),
        ("text/csv", Format.CSV),
        ("TEXT/CSV ; q=0.5", Format.CSV),
        ("text/csv;q=0.4, application/vnd.apache.arrow.stream;q=0.9", Format.ARROW),
        ("application/x-ndjson, text/csv", Format.NDJSON),
        ("text/csv;q=0", Format.JSON),
        ("text/csv;q=many", Format.JSON),
        (",;,=", Format.JSON),
    ],
)
def test_the_accept_header_names_a_format_too(header: str, expected: Format) -> None:
    assert accepted(header) is expected
    assert wish(("format", "csv"), accept=header).format is Format.CSV
