"""Evergrid: Kafka topics as live, joined tables on people's screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evergrid.version import __version__

if TYPE_CHECKING:
    from evergrid.client import col, connect, connect_async
else:

    def __getattr__(name: str) -> object:
        """The client's functions, when first asked for: most of Evergrid needs none of it."""
        if name not in __all__:
            raise AttributeError(f"module 'evergrid' has no attribute {name!r}")
        from evergrid import client

        return getattr(client, name)


__all__ = ["__version__", "col", "connect", "connect_async"]
