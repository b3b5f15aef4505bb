"""Amounts are read and written back in the shortest way."""

from __future__ import annotations

import pytest

from evergrid.config.value_types import memory, short_duration

MEMORY = memory(2**10, 2**40)
MOMENT = short_duration(0, 3_600_000, "10s")


@pytest.mark.parametrize(
    ("text", "size", "shortest"),
    [
        ("1k", 2**10, "1k"),
        ("512m", 2**29, "512m"),
        ("2g", 2**31, "2g"),
        ("2048m", 2**31, "2g"),
        ("1536m", 3 * 2**29, "1536m"),
        ("1024g", 2**40, "1024g"),
    ],
)
def test_memory(text: str, size: int, shortest: str) -> None:
    assert MEMORY.read(text) == size
    assert MEMORY.write(size) == shortest


@pytest.mark.parametrize(
    ("text", "milliseconds", "shortest"),
    [
        ("0ms", 0, "0s"),
        ("25ms", 25, "25ms"),
        ("1000ms", 1000, "1s"),
        ("1500ms", 1500, "1500ms"),
        ("90s", 90_000, "90s"),
        ("60m", 3_600_000, "60m"),
    ],
)
def test_short_times(text: str, milliseconds: int, shortest: str) -> None:
    assert MOMENT.read(text) == milliseconds
    assert MOMENT.write(milliseconds) == shortest


@pytest.mark.parametrize("text", ["", "2", "2 g", "2G", "0g", "-1g", "1.5g", "1025g", "٢g", "2gb"])
def test_no_memory(text: str) -> None:
    assert not MEMORY.accepts(text)


@pytest.mark.parametrize("text", ["", "5", "-1s", "1.5s", "01s", "61m", "1h", "5 s", "٥s", "never"])
def test_no_short_time(text: str) -> None:
    assert not MOMENT.accepts(text)
