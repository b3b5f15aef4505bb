"""Run all checks and tests, independent parts side by side.

A part is a name and a command; whatever exits with 0 has passed. Real Kafka and Spark make
the tests wait more than they work, so more parts run at once than there are cores.

1. Each part has a process group and a log; nothing outlives this process.
2. While they run, a terminal shows where each one is; anything else gets a line now and then.
3. At the end: the whole output of what failed, the slowest tests, and one sentence.

`tools/test.py -k store` hands `-k store` to every part that pytest runs. Arguments that name
files or folders choose the tests by themselves, so they are run as one part.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from evergrid.process import child_process

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test"

# Folders of tests that are parts of their own. So is each file of tests/system, which has
# Kafka and Spark for itself; what is left is the part `unit`.
GROUPS = {
    "broker": ("broker", "changelog", "cli", "demo", "kafka", "pipeline"),
    "browser": ("browser",),
}
# What takes longest begins first, so that nothing is left alone at the end.
LONGEST = (
    *("broker", "browser", "exact", "unit", "control", "swap_kills", "standby", "demo", "joins"),
    *("secured", "web", "faults", "admission", "history", "hot_key", "gateway", "viewers"),
    *("page", "check"),
)
SLOWEST = 12
NO_TESTS = 5  # pytest's exit code when it was given nothing to do
TAKE_A_VALUE = ("-k", "-m", "-o", "-p", "-W")  # pytest's: what follows them is no file
NOT_STARTED = 127
INTERRUPTED = 130

_GIGABYTES_OF_A_PART = 3  # a broker, Spark and a gateway
_LOOK_SECONDS = 0.2
_REPORT_SECONDS = 30.0
STOP_SECONDS = 30.0
_LAST_BYTES = 2000
_DURATION = re.compile(r"^(\d+\.\d\d)s (\w+) +(\S.*)$", re.MULTILINE)
_NOISE = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|[^\S\n ]|[\x00-\x09\x0b-\x1f]")  # colours and such
_SHARE = re.compile(r"\[ *\d+%]$", re.MULTILINE)
PROBLEM = re.compile(r"^(?:FAILED|ERROR) .*$", re.MULTILINE)


class Part(NamedTuple):
    """A name and a command, run in the repository's root."""

    name: str
    command: Sequence[str | Path]
    may_be_empty: bool = False  # it is no failure that no test was chosen


def all_parts(arguments: Sequence[str]) -> list[Part]:
    """What `make test` is, the longest first."""
    check = Part("check", ("make", "--no-print-directory", "check"))
    if names_tests(arguments):
        return [pytest("tests", arguments), check]
    folders = [f"tests/{folder}" for group in GROUPS.values() for folder in group]
    others = ("tests", *(f"--ignore={folder}" for folder in ("tests/system", *folders)))
    chosen: dict[str, Sequence[str]] = {"unit": others}
    for name, group in GROUPS.items():
        chosen[name] = [f"tests/{folder}" for folder in group]
    for file in (ROOT / "tests" / "system").glob("test_*.py"):
        # With the name of the test that runs, for each takes minutes.
        chosen[file.stem.removeprefix("test_")] = ("-v", str(file.relative_to(ROOT)))
    tests = [
        pytest(name, (*which, *arguments), may_be_empty=bool(arguments))
        for name, which in chosen.items()
    ]
    # Nothing there is chosen by pytest's arguments.
    web = [] if arguments else [Part("web", (sys.executable, "tools/web.py", "--check"))]
    return sorted([*tests, *web, check], key=_rank)


def names_tests(arguments: Sequence[str]) -> bool:
    """Whether one of them is a file, a folder or a test in a file."""
    after = ("", *arguments)
    return any(
        argument and before not in TAKE_A_VALUE and (ROOT / argument.partition("::")[0]).exists()
        for before, argument in zip(after, arguments, strict=False)
    )


def pytest(
    name: str, arguments: Sequence[str], may_be_empty: bool = False, marks: str = "not soak"
) -> Part:
    """A part of tests, with a memory of its own for what failed last (--lf)."""
    command = (sys.executable, "-m", "pytest", "-m", marks)
    cache = ("-o", f"cache_dir=.pytest_cache/{name}")
    return Part(name, (*command, *cache, *arguments), may_be_empty)


def _rank(part: Part) -> tuple[int, str]:
    return (LONGEST.index(part.name) if part.name in LONGEST else len(LONGEST)), part.name


class Run:
    """One part that was started."""

    def __init__(self, part: Part, logs: Path | None = None) -> None:
        self.part = part
        self.log = (logs or LOGS) / f"{part.name}.log"
        self.code: int | None = None
        self._started = time.monotonic()
        self._ended = 0.0
        self._process: child_process.ChildProcess | None = None
        with self.log.open("wb") as output:
            try:
                self._process = child_process.start(part.command, output, cwd=ROOT, umask=-1)
            except OSError as error:
                output.write(f"{part.command[0]}: {error.strerror}\n".encode())

    @property
    def passed(self) -> bool:
        return self.code == 0 or self.empty

    @property
    def empty(self) -> bool:
        return self.code == NO_TESTS and self.part.may_be_empty

    @property
    def seconds(self) -> float:
        return (time.monotonic() if self.code is None else self._ended) - self._started

    def has_ended(self) -> bool:
        if self.code is None:
            self.code = self._process.poll() if self._process else NOT_STARTED
            self._ended = time.monotonic()
            if self._process and self.code is not None:
                self._process.wait()  # closes its pipe, too
        return self.code is not None

    def last_words(self) -> str:
        """Its newest line, shortened to what tells where it is."""
        with self.log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
            text = _NOISE.sub("", file.read().decode(errors="replace")).rstrip()
        line = text.rpartition("\n")[2]
        shares = _SHARE.findall(text)
        where = line.split()[0].rpartition("::")[2] if line.startswith("tests/") else line
        return f"{shares[-1]} {where}" if shares else where

    def interrupt(self) -> None:
        """As Ctrl-C does: with its own children stopped and its disks put away."""
        if self._process:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGINT)

    def kill(self) -> None:
        if self._process:
            self._process.kill()

    def verdict(self) -> str:
        word = "no tests" if self.empty else "passed" if self.passed else f"FAILED ({self.code})"
        return f"{clock(self.seconds)}  {self.part.name:<10} {word}"


class Screen:
    """What a person sees meanwhile."""

    def __init__(self) -> None:
        self._live = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._began = self._reported = time.monotonic()
        self._drawn = 0

    def say(self, text: str) -> None:
        """A line that stays."""
        self.clear()
        print(text, flush=True)

    def show(self, runs: Sequence[Run], waiting: Sequence[Part]) -> None:
        """Where the running parts are."""
        after = ", ".join(part.name for part in waiting)
        if self._live:
            self.clear()
            width = shutil.get_terminal_size().columns - 1
            lines = [
                f"{clock(run.seconds)}  {run.part.name:<10} {run.last_words()}" for run in runs
            ]
            lines += [f"       waiting: {after}"] if after else []
            print("".join(f"{line[:width]}\n" for line in lines), end="", flush=True)
            self._drawn = len(lines)
        elif time.monotonic() - self._reported >= _REPORT_SECONDS:
            self._reported = time.monotonic()
            now = "; ".join(f"{run.part.name}: {run.last_words()[:60]}" for run in runs)
            more = f"; waiting: {after}" if after else ""
            print(f"{clock(time.monotonic() - self._began)}  … {now}{more}", flush=True)

    def clear(self) -> None:
        if self._drawn:
            print(f"\x1b[{self._drawn}A\x1b[J", end="")
            self._drawn = 0


def run_all(
    parts: Sequence[Part], at_once: int, screen: Screen, start: Callable[[Part], Run] = Run
) -> list[Run]:
    """Each part's run, in the order in which they ended."""
    waiting, running, ended = list(parts), list[Run](), list[Run]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(start(waiting.pop(0)))
            screen.show(running, waiting)
            time.sleep(_LOOK_SECONDS)
            for run in [run for run in running if run.has_ended()]:
                running.remove(run)
                ended.append(run)
                screen.say(run.verdict())
    finally:
        stop(running, screen)
    return ended


def stop(runs: Sequence[Run], screen: Screen) -> None:
    """End them in order; who is in a hurry presses Ctrl-C again."""
    left = [run for run in runs if not run.has_ended()]
    if left:
        screen.say(f"Stopping {', '.join(run.part.name for run in left)} …")
    try:
        for run in left:
            run.interrupt()
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and not all(run.has_ended() for run in left):
            time.sleep(_LOOK_SECONDS)
    finally:
        for run in left:
            run.kill()


def report(runs: Sequence[Run], seconds: float) -> int:
    """Print what came of it all; the exit code."""
    texts = {run: run.log.read_text(errors="replace") for run in runs}
    failed = [run for run in runs if not run.passed]
    for run in failed:
        print(f"\n{f' {run.part.name} ':#^80}\n\n{texts[run].rstrip()}")
    if lines := slowest(texts.values()):
        print("\nThe slowest tests:", *lines, sep="\n")
    if problems := [line for run in failed for line in PROBLEM.findall(texts[run])]:
        print("\nWhat failed:", *problems, sep="\n")
    choosable = [run for run in runs if run.part.may_be_empty]
    nothing = bool(choosable) and all(run.empty for run in choosable)
    print(f"\n{sentence(failed, len(runs), nothing)} It took {clock(seconds).strip()}.", flush=True)
    return 1 if failed or nothing else 0


def sentence(failed: Sequence[Run], count: int, nothing: bool) -> str:
    """The verdict."""
    if failed:
        names = ", ".join(run.part.name for run in failed)
        return f"{len(failed)} of {count} parts failed: {names} (above, and in {LOGS})."
    if nothing:
        return "No test fits these arguments."
    return f"All {count} parts passed."


def slowest(texts: Iterable[str]) -> list[str]:
    """Lines for those that took longest, out of what pytest said of each part."""
    found = [match for text in texts for match in _DURATION.findall(text)]
    found.sort(key=lambda match: -float(match[0]))
    return [f"{seconds:>8} s  {test} ({phase})" for seconds, phase, test in found[:SLOWEST]]


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60:>2}:{int(seconds) % 60:02}"


def room() -> int:
    """How many parts this machine can carry: its cores and one more, if memory allows."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return max(1, min((os.cpu_count() or 1) + 1, int(gigabytes / _GIGABYTES_OF_A_PART)))


def interrupted(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Run all checks and tests side by side.",
        epilog="All other arguments go to pytest.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--jobs", type=int, default=room(), help="parts at once (here: %(default)s)"
    )
    options, arguments = parser.parse_known_args()
    signal.signal(signal.SIGTERM, interrupted)
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    parts = all_parts(arguments)
    screen = Screen()
    screen.say(f"{len(parts)} parts, {options.jobs} at once; their output is in {LOGS}")
    began = time.monotonic()
    try:
        runs = run_all(parts, options.jobs, screen)
    except KeyboardInterrupt:
        screen.say("Stopped.")
        return INTERRUPTED
    return report(runs, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
