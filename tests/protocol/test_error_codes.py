"""Error codes keep their names, close codes and HTTP statuses in all versions."""

from __future__ import annotations

from evergrid.protocol.error_codes import Code


def test_names_and_close_codes_are_unique() -> None:
    assert len({code.value for code in Code}) == len(Code)
    closing = [code.close for code in Code if code.fatal]
    assert len(set(closing)) == len(closing)
    assert all(4400 <= close <= 4499 for close in closing)


def test_statuses_are_errors() -> None:
    assert all(400 <= code.http <= 503 for code in Code)


def test_a_code_is_found_by_its_name() -> None:
    assert all(Code.named(code.value) is code for code in Code)
