"""A fair share for each access key: how many views it may have, and whose view is built next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evergrid.gateway.engine.hub_types import HubLimits
from evergrid.gateway.engine.shared_view import SharedView, ViewKey

_NOBODY = ("",)


class KeyShares:
    """Keys take turns: the next piece of work is for the key that has waited longest."""

    def __init__(self, limits: HubLimits) -> None:
        self._limits = limits
        self._turn = 0
        self._last: dict[str, int] = {}  # the turn of each key that has views to be built

    def refusal(self, wanted: ViewKey, key: str, views: Mapping[ViewKey, SharedView]) -> str:
        """Why this would be one view too many; empty if it would not.

        A view that is idle counts for the key that was the last to leave it.
        """
        view, most = views.get(wanted), self._limits.max_views
        if view is None and len(views) >= most:
            return f"too many views: {most} are open, which is the limit. Try again later."
        of_key, most = (
            sum(key in one.keys for one in views.values()),
            self._limits.max_views_per_key,
        )
        if of_key >= most and (view is None or key not in view.keys):
            return (
                f"too many views: this key has {most} different ones, which is its limit. "
                "Close some, then try again."
            )
        return ""

    def next(self, building: Sequence[SharedView]) -> SharedView | None:
        """The view to build next, the oldest one of its key; None if there is none."""
        keys = dict.fromkeys(key for view in building for key in view.keys or _NOBODY)
        self._last = {key: self._last.get(key, 0) for key in keys}
        if not keys:
            return None
        chosen = min(self._last, key=self._last.__getitem__)
        self._turn += 1
        self._last[chosen] = self._turn
        return next(view for view in building if chosen in (view.keys or _NOBODY))
