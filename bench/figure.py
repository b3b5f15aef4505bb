"""What a benchmark hands back: named values of one case, and the figure they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec


class Value(msgspec.Struct, frozen=True):
    """One measured number, with enough digits to compare and no more."""

    name: str
    amount: float
    unit: str = ""
    digits: int = 0

    def shown(self) -> str:
        number = f"{self.amount:,.{self.digits}f}"
        return f"{number} {self.unit}" if self.unit else number


class Row(msgspec.Struct, frozen=True):
    """One case of a figure; `error` says why there are no values."""

    case: str
    values: tuple[Value, ...] = ()
    error: str = ""


class Figure(msgspec.Struct, frozen=True):
    """All cases of one figure, with what was measured in plain words."""

    name: str
    title: str
    meaning: str
    rows: tuple[Row, ...]


Cases = Mapping[str, Callable[[], tuple[Value, ...]]]


class Bench(msgspec.Struct, frozen=True):
    """A figure before it is measured; `cases` takes whether the run is a quick one."""

    name: str
    title: str
    meaning: str
    cases: Callable[[bool], Cases]
