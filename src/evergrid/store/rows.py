"""Some rows of a table, read by several views: each column is fetched once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evergrid.store.column import NumberColumn, TextColumn
from evergrid.store.growing_array import Mask, Slots, Values

Asked = TypeVar("Asked", bound=Hashable)
Made = TypeVar("Made")
Columns = Mapping[str, NumberColumn | TextColumn]

# Orders compare this many words of a text at once, and look further only where they tie.
WORDS = 3
_WIDTH = 8 * WORDS


class TextRanks:
    """Texts as numbers that compare like their first 24 bytes.

    `rest` has the whole text, as bytes, where 24 bytes are not enough: for longer texts, and
    for texts with zero bytes, which look like the padding. It is None if there are none.
    """

    def __init__(self, texts: pa.StringArray) -> None:
        offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
        data = texts.buffers()[2]
        raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        lengths = offsets[1:] - offsets[:-1]
        inside = np.arange(_WIDTH) < lengths[:, None]
        at = np.where(inside, offsets[:-1, None] + np.arange(_WIDTH), 0)
        letters = raw[at] if raw.size else np.zeros(at.shape, np.uint8)
        padded = np.ascontiguousarray(np.where(inside, letters, np.uint8(0)))
        words = padded.view(">u8").astype(np.uint64)
        self.words: tuple[NDArray[np.uint64], ...] = tuple(words[:, i] for i in range(WORDS))
        unclear = (lengths > _WIDTH) | ((letters == 0) & inside).any(axis=1)
        self.rest: NDArray[np.object_] | None = None
        if unclear.any():
            self.rest = np.full(len(lengths), b"", object)
            for row in np.flatnonzero(unclear):
                self.rest[row] = raw[offsets[row] : offsets[row + 1]].tobytes()


class Rows:
    """The rows in `slots` as they are now; valid until the table changes."""

    def __init__(self, columns: Columns, slots: Slots) -> None:
        self._columns = columns
        self.slots = slots
        self._numbers: dict[str, tuple[Values, Mask | None]] = {}
        self._texts: dict[str, pa.StringArray] = {}
        self._words: dict[str, TextRanks] = {}
        self._made: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.slots)

    def numbers(self, column: str) -> tuple[Values, Mask | None]:
        """The values, and a mask of those that are not null; None if no value is null."""
        if column not in self._numbers:
            stored = self._columns[column]
            assert isinstance(stored, NumberColumn)
            self._numbers[column] = stored.numbers(self.slots)
        return self._numbers[column]

    def texts(self, column: str) -> pa.StringArray:
        if column not in self._texts:
            stored = self._columns[column]
            assert isinstance(stored, TextColumn)
            self._texts[column] = stored.take(self.slots)
        return self._texts[column]

    def words(self, column: str) -> TextRanks:
        if column not in self._words:
            self._words[column] = TextRanks(self.texts(column))
        return self._words[column]

    def remembered(self, what: Asked, make: Callable[[Rows, Asked], Made]) -> Made:
        """The result of `make` for `what`, computed once."""
        if what not in self._made:
            self._made[what] = make(self, what)
        made: Made = self._made[what]
        return made
