"""Parts run side by side, nothing of them is lost, and nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from tests.programs import started

Tool = Callable[[str], ModuleType]

LIMIT = 60.0
ROOT = Path(__file__).parents[2]


@pytest.fixture
def runner(tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    test = tool("test")
    monkeypatch.setattr(test, "LOGS", tmp_path)
    return test


def python(code: str, *arguments: object) -> tuple[str, ...]:
    return (sys.executable, "-c", textwrap.dedent(code), *map(str, arguments))


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# Ends when the other file is there, too.
MEETING = """
    import pathlib, sys, time
    mine, other = map(pathlib.Path, sys.argv[1:])
    mine.touch()
    while not other.exists():
        time.sleep(0.01)
"""


def test_parts_run_side_by_side(runner: ModuleType, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    parts = [
        runner.Part("one", python(MEETING, here, there)),
        runner.Part("two", python(MEETING, there, here)),
    ]
    runs = runner.run_all(parts, 2, runner.Screen())
    assert {run.part.name: run.code for run in runs} == {"one": 0, "two": 0}


def test_no_more_at_once_than_the_machine_can_carry(runner: ModuleType, tmp_path: Path) -> None:
    alone = """
        import os, sys
        os.mkdir(sys.argv[1])
        os.rmdir(sys.argv[1])
    """
    parts = [runner.Part(name, python(alone, tmp_path / "lock")) for name in "abcd"]
    runs = runner.run_all(parts, 1, runner.Screen())
    assert [(run.part.name, run.code) for run in runs] == [(name, 0) for name in "abcd"]


def test_a_failure_is_shown_in_full_and_fails_the_whole(
    runner: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [
        runner.Part("good", python("print('all is well')")),
        runner.Part("bad", python("print('first'); print('FAILED tests/x.py::y'); exit(3)")),
    ]
    code = runner.report(runner.run_all(parts, 2, runner.Screen()), 61.0)
    said = capsys.readouterr().out
    assert code == 1
    assert "bad        FAILED (3)" in said
    assert "first\nFAILED tests/x.py::y\n" in said
    assert "What failed:\nFAILED tests/x.py::y\n" in said
    assert "all is well" not in said
    assert "1 of 2 parts failed: bad" in said.splitlines()[-1]
    assert said.splitlines()[-1].endswith("It took 1:01.")


def test_a_command_that_is_not_there_is_a_failure(
    runner: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = runner.run_all([runner.Part("web", ("no-such-npm", "test"))], 1, runner.Screen())
    assert runner.report(runs, 1.0) == 1
    assert "no-such-npm: No such file or directory" in capsys.readouterr().out


def test_the_slowest_are_found_among_all_parts(runner: ModuleType) -> None:
    texts = [
        "= slowest =\n12.50s call     tests/a.py::long\n0.30s setup    tests/a.py::b\n",
        "100.01s call     tests/c.py::longest[with a space]\n2 passed in 101.00s\n",
    ]
    assert runner.slowest(texts) == [
        "  100.01 s  tests/c.py::longest[with a space] (call)",
        "   12.50 s  tests/a.py::long (call)",
        "    0.30 s  tests/a.py::b (setup)",
    ]


@pytest.mark.parametrize(("codes", "verdict"), [((0, 5), 0), ((5, 5), 1), ((5, 1), 1)])
def test_a_part_without_chosen_tests_is_no_failure_if_another_has_some(
    runner: ModuleType, codes: Sequence[int], verdict: int
) -> None:
    parts = [runner.Part(f"{i}", python(f"exit({code})"), True) for i, code in enumerate(codes)]
    assert runner.report(runner.run_all(parts, 2, runner.Screen()), 1.0) == verdict


def test_where_no_terminal_is_a_line_comes_now_and_then(
    runner: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(runner, "_REPORT_SECONDS", 0.1)
    said = ""

    def heard(_seconds: float) -> None:
        nonlocal said
        said += capsys.readouterr().out
        if "unit: [ 42%] tests/b.py; waiting: late" in said:
            (tmp_path / "go").touch()

    class Time:
        monotonic = staticmethod(time.monotonic)
        sleep = staticmethod(heard)

    monkeypatch.setattr(runner, "time", Time)
    code = """
        import pathlib, sys, time
        print("tests/a.py ...   [ 42%]\\n\\x1b[1mtests/b.py\\x1b[0m .", flush=True)
        while not pathlib.Path(sys.argv[1]).exists():
            time.sleep(0.01)
    """
    parts = [runner.Part("unit", python(code, tmp_path / "go")), runner.Part("late", ("true",))]
    assert all(run.passed for run in runner.run_all(parts, 1, runner.Screen()))


def test_arguments_reach_every_part_that_pytest_runs(runner: ModuleType) -> None:
    parts = {part.name: part for part in runner.all_parts(["-k", "tests"])}
    assert parts.pop("check").command[-1] == "check"
    assert {"unit", "broker", "joins"} <= parts.keys()
    assert all(part.command[-2:] == ("-k", "tests") for part in parts.values())
    assert all(part.may_be_empty for part in parts.values())


@pytest.mark.parametrize("chosen", ["tests/views", "tests/tools/test_test.py::test_it"])
def test_arguments_that_name_tests_are_one_part(runner: ModuleType, chosen: str) -> None:
    part, check = runner.all_parts(["-x", chosen])
    assert (part.name, check.name) == ("tests", "check")
    assert part.command[-2:] == ("-x", chosen)
    assert not part.may_be_empty


def test_every_test_is_in_one_part(runner: ModuleType) -> None:
    parts = runner.all_parts([])
    for test in (ROOT / "tests").rglob("test_*.py"):
        assert len([part for part in parts if takes(part.command, test)]) == 1, test


def takes(command: Sequence[str], test: Path) -> bool:
    chosen = [word for word in command if word.startswith("tests")]
    ignored = [word.removeprefix("--ignore=") for word in command if word.startswith("--ignore=")]
    return is_in(test, chosen) and not is_in(test, ignored)


def is_in(test: Path, places: Sequence[str]) -> bool:
    return any(test.is_relative_to(ROOT / place) for place in places)


# A runner of one part that says when it runs, and cleans up when it is interrupted.
RUNNER = """
    import importlib.util, pathlib, sys
    spec = importlib.util.spec_from_file_location("runner", sys.argv[1])
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    folder = pathlib.Path(sys.argv[2])
    runner.LOGS = folder / "logs"
    part = runner.Part("slow", (sys.executable, "-c", sys.argv[3], folder))
    runner.all_parts = lambda _: [part]
    sys.argv[1:] = []
    sys.exit(runner.main())
"""
SLOW = """
import os, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
(folder / "pid.new").write_text(str(os.getpid()))
(folder / "pid.new").rename(folder / "pid")
try:
    time.sleep(600)
except KeyboardInterrupt:
    (folder / "tidy").touch()
"""


def running(folder: Path) -> tuple[subprocess.Popen[str], int]:
    """A runner, and the process id of its part."""
    code = python(RUNNER)[2]
    runner = started(["-c", code, str(ROOT / "tools" / "test.py"), str(folder), SLOW])
    wait_for(lambda: (folder / "pid").exists() or runner.poll() is not None)
    assert runner.poll() is None, runner.communicate()
    return runner, int((folder / "pid").read_text())


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_every_part_in_order(tmp_path: Path, number: signal.Signals) -> None:
    runner, pid = running(tmp_path)
    runner.send_signal(number)
    said, errors = runner.communicate(timeout=LIMIT)
    assert (runner.returncode, errors) == (130, "")
    assert said.splitlines()[-2:] == ["Stopping slow …", "Stopped."]
    assert (tmp_path / "tidy").exists()
    assert not is_alive(pid)


def test_a_killed_runner_leaves_no_part_behind(tmp_path: Path) -> None:
    runner, pid = running(tmp_path)
    runner.kill()
    runner.communicate()
    wait_for(lambda: not is_alive(pid))
