"""Row ids, split into numbers and formatted as texts again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evergrid.model.field_types import ColumnKind
from evergrid.model.table import ID_SEPARATOR, Table
from evergrid.store.column import in_memory
from evergrid.store.growing_array import Slots, sized
from evergrid.store.row_index import MISSING, Parts

# As we write them: anything else is no id of ours, and one with many digits is no number.
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")


class RowIds:
    """The parts of row ids as numbers: integer columns as they are, texts by their order of
    appearance (they are topics, of which there are few)."""

    def __init__(self, table: Table) -> None:
        kinds = {column.name: column.type.kind for column in table.columns}
        self._names = table.row_id
        self._numbers: Mapping[str, dict[str, int]] = {
            name: {} for name in table.row_id if kinds[name] is ColumnKind.TEXT
        }
        self._texts: dict[str, list[str]] = {name: [] for name in self._numbers}
        self._stored: dict[str, NDArray[np.int64]] = {
            name: np.empty(0, np.int64) for name in table.row_id
        }

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self._stored.values())

    def reserve(self, capacity: int) -> None:
        for name, part in self._stored.items():
            self._stored[name] = sized(part, capacity, fill=0)

    def parts(self, batch: pa.RecordBatch) -> Parts:
        return [self._part(name, batch.column(name)) for name in self._names]

    def store(self, slots: Slots, parts: Parts) -> None:
        for name, part in zip(self._names, parts, strict=True):
            self._stored[name][slots] = part

    def stored(self, slots: Slots) -> Parts:
        return [self._stored[name][slots] for name in self._names]

    def texts(self, slots: Slots) -> list[str]:
        columns = [
            [self._texts[name][number] for number in part.tolist()]
            if name in self._texts
            else [str(number) for number in part.tolist()]
            for name, part in zip(self._names, self.stored(slots), strict=True)
        ]
        return [ID_SEPARATOR.join(parts) for parts in zip(*columns, strict=True)]

    def most_bytes(self, slots: Slots) -> int:
        """No id of these rows has more bytes."""
        if not len(slots):
            return 0
        most = len(self._names) - 1
        for name, part in zip(self._names, self.stored(slots), strict=True):
            if name in self._texts:
                numbers = np.unique(part).tolist()
                most += max(len(self._texts[name][number].encode()) for number in numbers)
            else:
                most += max(len(str(part.min())), len(str(part.max())))
        return most

    def parsed(self, ids: Sequence[str]) -> Parts | None:
        """The parts of those ids that have this table's form; None if none has."""
        split = [row_id.split(ID_SEPARATOR) for row_id in ids]
        rows = [parts for row in split if (parts := self._parse(row)) is not None]
        if not rows:
            return None
        return [np.array(part, np.int64) for part in zip(*rows, strict=True)]

    def _parse(self, texts: Sequence[str]) -> list[int] | None:
        if len(texts) != len(self._names):
            return None
        parts = []
        for name, text in zip(self._names, texts, strict=True):
            if name in self._numbers:
                parts.append(self._numbers[name].get(text, MISSING))
            elif _NUMBER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
                parts.append(int(text))
            else:
                return None
        return parts

    def _part(self, name: str, values: pa.Array) -> NDArray[np.int64]:
        if name not in self._numbers:
            return in_memory(values)
        encoded = values.dictionary_encode()
        known = self._numbers[name]
        texts = encoded.dictionary.to_pylist()
        for text in texts:
            if text not in known:
                known[text] = len(known)
                self._texts[name].append(text)
        numbers = np.array([known[text] for text in texts], np.int64)
        return np.asarray(numbers[encoded.indices.to_numpy(zero_copy_only=False)])
