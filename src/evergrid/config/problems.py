"""What is wrong with a configuration, collected so that a person sees all of it at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec

from evergrid.model.errors import ConfigError

KeyPath = tuple[str, ...]

LONGEST_QUOTE = 80


class Location(msgspec.Struct, frozen=True):
    """Where a value was written: a file and its line, or an environment variable."""

    origin: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.origin}:{self.line}" if self.line else self.origin


class Problem(msgspec.Struct, frozen=True):
    """One thing to mend: where it stands, which key it is, what is wrong, what to do."""

    location: Location
    path: KeyPath
    what: str
    remedy: str

    def sentence(self) -> str:
        where = f"{self.location}: {'.'.join(self.path)}" if self.path else str(self.location)
        return ConfigError(self.what, where=where, remedy=self.remedy).sentence()


class ConfigProblems(ConfigError):
    """All problems of one configuration; its text has one line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(problem.sentence() for problem in self.problems))


class Problems:
    """Collects problems while a configuration is read, and raises them together."""

    def __init__(self) -> None:
        self._found: list[Problem] = []
        self._reported: set[tuple[Location, KeyPath]] = set()

    def __len__(self) -> int:
        return len(self._found)

    def add(self, location: Location, path: KeyPath, what: str, remedy: str) -> None:
        """Note a problem, unless the same key has one: a second is mostly its consequence."""
        if (location, path) not in self._reported:
            self._reported.add((location, path))
            self._found.append(Problem(location, path, what, remedy))

    def raise_any(self) -> None:
        """Raise what was found, in the order of the file, the environment's last."""
        if self._found:
            in_order = sorted(self._found, key=lambda p: (p.location.line == 0, p.location.line))
            raise ConfigProblems(in_order)


def quoted(text: str) -> str:
    """`text` as a message shows it: on one line, in quotes, and not too long."""
    plain = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return f"'{plain[:LONGEST_QUOTE]}…'" if len(plain) > LONGEST_QUOTE else f"'{plain}'"


def nearest(text: str, known: Iterable[str]) -> str:
    """The known name that `text` most likely meant, or an empty text."""
    by_fold = {name.casefold(): name for name in known}
    matches = difflib.get_close_matches(text.casefold(), by_fold, n=1)
    return by_fold[matches[0]] if matches else ""


def suggestion(text: str, known: Iterable[str], otherwise: str) -> str:
    """A remedy that names the nearest known name, or `otherwise` when none is near."""
    near = nearest(text, known)
    return f"Did you mean '{near}'?" if near else otherwise
