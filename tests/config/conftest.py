"""A configuration file in a directory of its own, as a user would have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from evergrid.config import ConfigProblems, Settings, load

GOOD = """\
sources:
  users:
    topic: users
    table: users_ui
    key: userId
    time: kafka
    start: earliest
    fields:
      userId: text
      age: integer
      score: float
      at: timestamp
  accounts:
    topic: accounts
    table: accounts_ui
    key: userId
    fields:
      userId: text
      balance: decimal(18,2)
      rank: integer
joins:
  final:
    table: final_ui
    type: asof
    left: users
    right: accounts
    history: {left: 64, right: 16}
# more
"""

Load = Callable[..., Settings]
Complain = Callable[..., list[str]]


@pytest.fixture
def load_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load a text as evergrid.yaml of the current directory."""
    monkeypatch.chdir(tmp_path)

    def run(text: str = "", environ: Mapping[str, str] | None = None) -> Settings:
        file = Path("evergrid.yaml")
        file.write_text(text, encoding="utf-8")
        return load(file, environ or {})

    return run


@pytest.fixture
def complaints(load_text: Load) -> Complain:
    """The sentences that loading a text raises, one for each problem."""

    def run(text: str = "", environ: Mapping[str, str] | None = None) -> list[str]:
        with pytest.raises(ConfigProblems) as caught:
            load_text(text, environ)
        sentences = [problem.sentence() for problem in caught.value.problems]
        assert str(caught.value) == "\n".join(sentences)
        return sentences

    return run


@pytest.fixture
def good_text() -> str:
    """A configuration without mistakes, to make some in."""
    return GOOD


@pytest.fixture
def complaints_after(complaints: Complain, good_text: str) -> Callable[[str, str], list[str]]:
    """The sentences raised once `old`, or all when it is empty, is replaced in the good text."""

    def run(old: str, new: str) -> list[str]:
        assert old in good_text
        return complaints(good_text.replace(old, new, 1) if old else new)

    return run
