"""Every error Evergrid raises on purpose.

    EvergridError
    ├── ConfigError      the configuration or the machine must be changed
    ├── DataError        a message cannot become a row; it goes to quarantine
    ├── LinkError        a connection failed; retried, bounded, visible
    └── BrokenPromise    a bug in Evergrid: stop and report it

Each error has what failed, where, and the remedy, and builds its sentence in one
place, so that terminal, log and web page show the same text.
"""

from __future__ import annotations


class EvergridError(Exception):
    """What failed, where, and the remedy."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(self.sentence())

    def sentence(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if not self.remedy:
            return text
        ending = "" if text.endswith((".", "!", "?")) else "."
        return f"{text}{ending} {self.remedy}"


class ConfigError(EvergridError):
    """The configuration or the machine must be changed before Evergrid can run."""


class DataError(EvergridError):
    """A message that cannot become a row."""


class LinkError(EvergridError):
    """A connection failed, or the other side gave an unexpected answer."""


class BrokenPromise(EvergridError):
    """An internal check failed; continuing could show wrong data."""
