"""Every error Evergrid raises on purpose.

    EvergridError
    ├── ConfigError      someone must fix settings; says where it looked
    ├── DataError        a message cannot become a row; it goes to quarantine
    ├── LinkError        a connection failed; retried, bounded, visible
    └── BrokenPromise    a bug of ours: stop and say so

Each carries what happened, what it happened to and what to do about it, and
makes its sentence in one place, so that a terminal, a log and a web page show
the same words.
"""

from __future__ import annotations


class EvergridError(Exception):
    """What happened, to what, and the remedy."""

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
    """Settings or surroundings that a person must change before Evergrid can run."""


class DataError(EvergridError):
    """A message that cannot become a row."""


class LinkError(EvergridError):
    """Something on the other side of a connection did not answer as it should."""


class BrokenPromise(EvergridError):
    """Evergrid found itself wrong; going on could show wrong data."""
