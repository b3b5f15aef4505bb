"""Numbered texts, so that a column of texts is a column of numbers.

Within one batch equal texts get one number; across batches they may get several until the
pool is packed. So two numbers may stand for equal texts.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evergrid.store.growing_array import grown

NULL = -1
# Packing reads the whole pool: worth it when at least half of it may be waste.
_PACK_FACTOR = 2
_PACK_FROM_BYTES = 4 << 20
_PACK_EARLY_FACTOR = 1.25

Codes = NDArray[np.int32]


class Pool:
    """The texts of one column."""

    def __init__(self) -> None:
        self._offsets: NDArray[np.int64] = np.zeros(1, np.int64)
        self._data: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._count = 0
        self._texts: pa.LargeStringArray | None = None
        self._packed_bytes = 0
        self._pack_at = _PACK_FROM_BYTES

    @property
    def nbytes(self) -> int:
        return int(self._offsets.nbytes + self._data.nbytes)

    @property
    def wasteful(self) -> bool:
        """Whether packing is likely to save memory."""
        return self._used_bytes() > self._pack_at

    @property
    def has_grown(self) -> bool:
        """Whether so much has come since it was packed that packing may pay where memory is short,
        and does not cost more than adding it did."""
        return self._used_bytes() > _PACK_EARLY_FACTOR * self._packed_bytes

    def add(self, texts: pa.StringArray) -> Codes:
        """The numbers of `texts`, in their order; -1 for null."""
        encoded = texts.dictionary_encode()
        codes = _codes(encoded.indices)
        base = self._count
        self._append(encoded.dictionary)
        codes[codes >= 0] += base
        return codes

    def take(self, codes: Codes) -> pa.StringArray:
        """The texts with these numbers."""
        indices = pa.array(codes, mask=codes < 0)
        return self._array().take(indices).cast(pa.string())

    def lengths(self, codes: Codes) -> NDArray[np.int64]:
        """The bytes of the texts with these numbers; 0 for null."""
        at = np.maximum(codes, 0)
        if not self._count:
            return np.zeros(len(codes), np.int64)
        return np.where(codes < 0, 0, self._offsets[at + 1] - self._offsets[at])

    def pack(self, codes: Codes) -> Codes:
        """Keep only the texts that `codes` use, each once; returns the new codes."""
        used = np.zeros(self._count, bool)
        used[codes[codes >= 0]] = True
        kept = self._array().filter(pa.array(used)).dictionary_encode()
        renumbered = np.full(self._count + 1, NULL, np.int32)
        renumbered[np.flatnonzero(used)] = _codes(kept.indices)
        self._offsets, self._data, self._count = np.zeros(1, np.int64), np.empty(0, np.uint8), 0
        self._append(kept.dictionary)
        self._packed_bytes = self._used_bytes()
        self._pack_at = _PACK_FACTOR * self._packed_bytes + _PACK_FROM_BYTES
        return renumbered[codes]  # null's code -1 finds the last entry, which is -1 again

    def _append(self, texts: pa.StringArray | pa.LargeStringArray) -> None:
        texts = texts.cast(pa.large_string())
        size = len(texts)
        if size == 0:
            return
        offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset :][: size + 1]
        start, end = int(offsets[0]), int(offsets[-1])
        have = int(self._offsets[self._count])
        self._offsets = grown(self._offsets, self._count + size + 1)
        self._offsets[self._count + 1 : self._count + size + 1] = offsets[1:] - start + have
        self._data = grown(self._data, have + end - start)
        if end > start:
            self._data[have : have + end - start] = np.frombuffer(texts.buffers()[2], np.uint8)[
                start:end
            ]
        self._count += size
        self._texts = None

    def _array(self) -> pa.LargeStringArray:
        if self._texts is None:
            offsets = pa.py_buffer(self._offsets[: self._count + 1])
            self._texts = pa.LargeStringArray.from_buffers(
                self._count, offsets, pa.py_buffer(self._data)
            )
        return self._texts

    def _used_bytes(self) -> int:
        return int(self._offsets[self._count]) + 8 * self._count


def _codes(indices: pa.Int32Array) -> Codes:
    """A copy of Arrow's indices, with -1 for null."""
    return np.array(pc.fill_null(indices, NULL).to_numpy(zero_copy_only=False), np.int32)
