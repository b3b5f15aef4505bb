"""What is wrong with a configuration, collected so that a person sees all of it at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec

from evergrid.model.errors import ConfigError
from evergrid.model.printable import printable

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
        self._found: dict[tuple[Location, KeyPath], Problem] = {}
        self._reports = 0

    def __len__(self) -> int:
        """How often a problem was reported, which tells whether a part was read without one."""
        return self._reports

    def add(self, location: Location, path: KeyPath, what: str, remedy: str) -> None:
        """Note a problem, unless the same key has one: a second is mostly its consequence."""
        self._found.setdefault((location, path), Problem(location, path, what, remedy))
        self._reports += 1

    def raise_any(self) -> None:
        """Raise what was found, in the order of the file, the environment's last."""
        if self._found:
            found = self._found.values()
            raise ConfigProblems(
                sorted(found, key=lambda p: (p.location.line == 0, p.location.line))
            )


def quoted(text: str) -> str:
    """`text` as a message shows it: on one line, in quotes, and not too long."""
    plain = printable(text)
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
