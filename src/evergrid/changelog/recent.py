"""Which row ids were met before, in bounded memory."""

from __future__ import annotations

MOST = 100_000


class RecentIds:
    """Remembers the ids that were touched last; one forgotten counts as new when it returns."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._ids: dict[str, None] = {}

    def is_new(self, row_id: str) -> bool:
        """Whether it was not known; from now on it is."""
        known = row_id in self._ids
        if known:
            del self._ids[row_id]  # put in again, it becomes the last to be forgotten
        elif len(self._ids) >= self._most:
            del self._ids[next(iter(self._ids))]
        self._ids[row_id] = None
        return not known

    def forget(self, row_id: str) -> bool:
        """Drop an id; whether it was known."""
        known = row_id in self._ids
        self._ids.pop(row_id, None)
        return known
