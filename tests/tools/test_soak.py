"""`make soak` tells what fails, goes on, and keeps one file of results over all parts."""

from __future__ import annotations

import ast
import json
import re
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.soak import Counted, Soak, recorded
from tools.soak_parts import PARTS, SoakPart

from tools import soak
from tools import test as runner

ROOT = Path(__file__).parents[2]
GOALS = {Counted.KILLS: 4}
EARLIER = soak.Result(
    passed=True,
    problems=[],
    counts={"swaps": 100},
    seconds=3600,
    seed=1,
    scale=1.0,
    commit="abc1234",
    date="2026-01-01",
)
# Counts some kills; then prints a line and ends with a code.
CODE = """
    import sys
    record, kills, line, code = sys.argv[1:]
    with open(record, "a") as file:
        file.write('{"kills": 1}\\n' * int(kills))
    print(line)
    sys.exit(int(code))
"""
SLOW = """
    import time
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        raise SystemExit(2)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(soak, "FOLDER", tmp_path)
    monkeypatch.setattr(soak, "RESULTS", tmp_path / "docs.json")
    before = signal.getsignal(signal.SIGTERM)
    yield tmp_path
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, ...]]:
    """Commands in the place of tests, by the names of parts."""
    commands: dict[str, tuple[str, ...]] = {}
    names = ("first", "second", "third")
    monkeypatch.setattr(soak, "PARTS", {name: SoakPart(name, 1, GOALS) for name in names})

    def part_of(name: str, _seed: int, _scale: float) -> runner.Part:
        return runner.Part(name, commands[name])

    monkeypatch.setattr(soak, "part_of", part_of)
    for name in names:
        commands[name] = counting(name, 4)
    return commands


def counting(name: str, kills: int, line: str = "1 passed", code: int = 0) -> tuple[str, ...]:
    script = textwrap.dedent(CODE)
    return (sys.executable, "-c", script, str(soak.record_of(name)), str(kills), line, str(code))


def results(folder: Path) -> dict[str, soak.Result]:
    return soak.load(folder / "docs.json")


def test_a_part_that_fails_is_told_and_the_others_go_on(
    parts: dict[str, tuple[str, ...]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts["second"] = counting("second", 5, "FAILED tests/x.py::test_y - rows | differ", 1)
    assert soak.main(["--seed", "7"]) == 1
    said = capsys.readouterr().out
    assert "2 of 3: second" in said
    assert "FAILED tests/x.py::test_y - rows | differ" in said
    assert "Parts failed" in said.splitlines()[-1]
    found = results(folder)
    assert {name: result.passed for name, result in found.items()} == {
        "first": True,
        "second": False,
        "third": True,
    }
    assert [result.seed for result in found.values()] == [7, 7, 7]
    assert found["second"].counts == {"kills": 5}
    table = soak.table(found)
    assert "| second | 5 kills |" in table
    assert "**failed**: FAILED tests/x.py::test_y - rows \\| differ |" in table
    assert "| **all** | 13 kills |" in table
    assert "| failed: second | 3 of 3 |" in table
    assert table in said
    assert (folder / "second.log").read_text().startswith("FAILED tests/x.py::test_y")
    assert json.loads((folder / "second.json").read_bytes())["passed"] is False


def test_a_later_run_of_one_part_changes_only_its_own_result(
    parts: dict[str, tuple[str, ...]], folder: Path
) -> None:
    soak.save(folder / "docs.json", {"first": EARLIER, "third": EARLIER})
    assert soak.main(["third"]) == 0
    found = results(folder)
    assert list(found) == ["first", "third"]
    assert found["first"] == EARLIER
    assert found["third"].counts == {"kills": 4}
    assert re.fullmatch(r"[0-9a-f]{7,}\+?", found["third"].commit)
    table = soak.table(found)
    assert "| second | not run to its end yet |" in table
    assert "| **all** | 4 kills, 100 swaps | 60 min | nothing | 2 of 3 |" in table


def test_a_part_that_did_less_than_its_goal_has_failed(
    parts: dict[str, tuple[str, ...]], folder: Path
) -> None:
    parts["first"] = counting("first", 3)
    assert soak.main(["first"]) == 1
    assert results(folder)["first"].problems == ["only 3 kills instead of 4"]


def test_a_trial_with_smaller_figures_is_kept_apart(
    parts: dict[str, tuple[str, ...]], folder: Path
) -> None:
    parts["first"] = counting("first", 2)
    assert soak.main(["first", "--scale", "0.5"]) == 0
    assert results(folder) == {}
    assert "scale 0.5" in soak.table(soak.load(folder / "soak.json"))


def test_a_part_has_a_limited_time(
    parts: dict[str, tuple[str, ...]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts["first"] = (sys.executable, "-c", textwrap.dedent(SLOW))
    monkeypatch.setattr(soak, "LIMIT_SECONDS", 1.0)
    soak.main(["first"])
    found = results(folder)["first"]
    assert not found.passed
    assert found.problems[0].startswith("it took longer than")


def test_a_part_without_tests_has_failed(parts: dict[str, tuple[str, ...]], folder: Path) -> None:
    parts["first"] = counting("first", 4, "no tests ran", runner.NO_TESTS)
    assert soak.main(["first"]) == 1
    assert results(folder)["first"].problems == ["it ended with 5: no tests ran"]


def test_while_it_runs_it_shows_what_is_counted(
    parts: dict[str, tuple[str, ...]], folder: Path
) -> None:
    run = soak.SoakRun(runner.Part("first", parts["first"]))
    (folder / "first.counts").write_text('{"kills": 2}\n{"swaps": 1}\n{"kil')
    assert run.last_words().startswith("2 kills, 1 swaps; ")
    while not run.has_ended():
        pass


def test_the_parts_are_listed_and_none_is_invented(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["--list"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{said}" for name in PARTS)
    with pytest.raises(SystemExit):
        soak.main(["swapz"])
    assert "there is no part swapz; choose from " in capsys.readouterr().err


def marked() -> Iterator[tuple[str, str | None]]:
    """For each mark of a long test, its file and its part."""
    for file in (ROOT / "tests").rglob("test_*.py"):
        tree = ast.parse(file.read_text())
        calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.soak":
                call = calls.get(id(node))
                values = [word.value for word in call.keywords] if call else []
                names = [one.value for one in values if isinstance(one, ast.Constant)]
                yield file.name, str(names[0]) if names else None


def test_every_long_test_is_in_a_part_and_every_part_has_tests() -> None:
    found = list(marked())
    assert {part for _, part in found} == {*PARTS}, found
    assert all(part.minutes <= 120 for part in PARTS.values())


def test_the_page_of_promises_has_the_table_of_the_results() -> None:
    page = soak.PAGE.read_text()
    results = soak.load(ROOT / "docs" / "soak.json")
    assert all(result.scale == 1 for result in results.values())
    assert page == soak.rendered(page, results), "run make soak ARGS=--render"


def test_a_real_part_is_run_by_its_mark_and_counts_what_it_did(folder: Path) -> None:
    assert soak.main(["frames", "--scale", "0.02", "--seed", "3"]) == 0
    found = soak.load(folder / "soak.json")["frames"]
    assert found.counts["hostile frames"] >= 60
    assert found.counts["tests passed"] == 1
    assert (found.seed, found.scale) == (3, 0.02)


def test_figures_are_scaled_and_counts_recorded(tmp_path: Path) -> None:
    given = Soak(1, 0.01, tmp_path / "record")
    assert (given.figure(2_000), given.figure(20), given.figure(20, least=3)) == (20, 1, 3)
    given.count(Counted.SWAPS)
    given.count(Counted.KILLS, 3)
    given.count(Counted.SWAPS)
    assert recorded(tmp_path / "record") == {"kills": 3, "swaps": 2}
    assert recorded(tmp_path / "none") == {}
