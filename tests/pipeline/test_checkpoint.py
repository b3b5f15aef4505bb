"""A checkpoint's folder belongs to one generation, whatever its number."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from evergrid.model.generation import Generation, SourceTopic, State, Times
from evergrid.pipeline.checkpoint import belongs, claim

ONE = Generation(
    number=1,
    state=State.CURRENT,
    sources={},
    joins={},
    topics={"users": SourceTopic("id-1", {0: 0}, {0: 5})},
    tables={},
    times=Times(created=1_767_225_600_000_000),
)


def test_it_is_of_that_generation_in_whatever_state(tmp_path: Path) -> None:
    folder = tmp_path / "g1"
    assert not belongs(folder, ONE), "there is none"
    claim(folder, ONE)
    later = Times(created=ONE.times.created, ready=5, current=6, ended=7)
    assert belongs(folder, msgspec.structs.replace(ONE, state=State.RETIRING, times=later))


@pytest.mark.parametrize(
    "other",
    [
        msgspec.structs.replace(ONE, times=Times(created=1)),
        msgspec.structs.replace(ONE, topics={"users": SourceTopic("id-2", {0: 0}, {0: 5})}),
    ],
    ids=["made at another time", "of another cluster's topics"],
)
def test_it_is_not_that_of_another_with_the_same_number(tmp_path: Path, other: Generation) -> None:
    claim(tmp_path / "g1", ONE)
    assert not belongs(tmp_path / "g1", other)
