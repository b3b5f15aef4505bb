"""Run the tests that take hours, one part after the other, and keep what each one found.

1. A part is the tests with its mark, `@pytest.mark.soak(part="swaps")`; it has two hours.
2. Its tests count what they have done; a part that did less than its goals has failed.
3. A part that fails is told at the end, and the next one runs all the same.
4. Output, counts and result of each part stay in build/soak. The last result of every part is
   in docs/soak.json, so that several runs make up one table; `--render` writes it into
   docs/promises.md. With `--scale`, which tries the tests with smaller figures, the results
   are in build/soak/soak.json alone.
"""

from __future__ import annotations

import argparse
import datetime
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from tests.support.soak import Counted, recorded
from tools.soak_parts import PARTS

from tools import test as runner

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "soak"
RESULTS = ROOT / "docs" / "soak.json"
PAGE = ROOT / "docs" / "promises.md"
BEGIN = "<!-- written by make soak ARGS=--render -->\n"
END = "<!-- end of what make soak wrote -->\n"
LIMIT_SECONDS = 2 * 3600.0
_WORDS = 200  # of a problem, in the table


class Result(msgspec.Struct, frozen=True):
    """What became of a part when it was run last."""

    passed: bool
    problems: list[str]
    counts: dict[str, int]
    seconds: int
    seed: int
    scale: float
    commit: str
    date: str


Results = dict[str, Result]


class SoakRun(runner.Run):
    """A part that has a limited time, and shows what it has counted so far."""

    def __init__(self, part: runner.Part) -> None:
        self.record = record_of(part.name)
        self.record.unlink(missing_ok=True)
        self.is_late = False
        self.commit = commit()
        super().__init__(part, FOLDER)

    def has_ended(self) -> bool:
        if not super().has_ended() and self.seconds > LIMIT_SECONDS:
            if not self.is_late:
                self.is_late = True
                self.interrupt()
            elif self.seconds > LIMIT_SECONDS + runner.STOP_SECONDS:
                self.kill()
        return self.code is not None

    def last_words(self) -> str:
        return f"{listed(recorded(self.record)) or 'nothing yet'}; {super().last_words()}"

    def result(self, seed: int, scale: float) -> Result:
        counts = recorded(self.record)
        problems = (
            [] if self.passed else runner.PROBLEM.findall(self.log.read_text(errors="replace"))
        )
        if self.is_late:
            problems.append(f"it took longer than {LIMIT_SECONDS / 3600:g} h")
        elif not self.passed and not problems:
            problems.append(f"it ended with {self.code}: {super().last_words()}")
        problems += missed(PARTS[self.part.name].goals, counts, scale)
        return Result(
            passed=not problems,
            problems=problems,
            counts=counts,
            seconds=round(self.seconds),
            seed=seed,
            scale=scale,
            commit=self.commit,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        )


def missed(goals: Mapping[Counted, int], counts: Mapping[str, int], scale: float) -> list[str]:
    """A sentence for each goal that the counts do not reach."""
    return [
        f"only {counts.get(what.value, 0):,} {what.value} instead of {least:,}"
        for what, goal in goals.items()
        if counts.get(what.value, 0) < (least := max(1, int(goal * scale)))
    ]


def record_of(part: str) -> Path:
    return FOLDER / f"{part}.counts"


def part_of(name: str, seed: int, scale: float) -> runner.Part:
    options = (f"--seed={seed}", f"--scale={scale:g}", f"--record={record_of(name)}")
    files = [
        str(file.relative_to(ROOT))
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        if f'soak(part="{name}")' in file.read_text()
    ]
    return runner.pytest(name, ("-v", *options, *files), marks=f"soak(part='{name}')")


def commit() -> str:
    """What was tested; with a + if it is not what the commit has."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "tests", "tools", "pyproject.toml")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"  # no repository; the result of hours is kept all the same
    return head + ("+" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


# Results


def load(path: Path) -> Results:
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else {}


def save(path: Path, results: Results) -> None:
    ordered = {name: results[name] for name in PARTS if name in results}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(ordered)) + b"\n")


def keep(name: str, result: Result, results: Path) -> None:
    """In the file of the part, and in the one over all parts, where the others stay."""
    (FOLDER / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    save(results, {**load(results), name: result})


def table(results: Results) -> str:
    """One line for each part, and one for all of them together."""
    lines = ["| part | what it did | time | lost | run |", "| --- | --- | --- | --- | --- |"]
    lines += [_line(name, results.get(name)) for name in PARTS]
    total: Counter[str] = Counter()
    for result in results.values():
        total.update(result.counts)
    did = listed({what.value: total[what.value] for what in Counted if total[what.value]})
    failed = [name for name, result in results.items() if not result.passed]
    lost = f"failed: {', '.join(failed)}" if failed else "nothing" if results else ""
    seconds = sum(result.seconds for result in results.values())
    lines.append(
        f"| **all** | {did} | {minutes(seconds)} | {lost} | {len(results)} of {len(PARTS)} |"
    )
    return "\n".join(lines) + "\n"


def _line(name: str, result: Result | None) -> str:
    if result is None:
        return f"| {name} | not run to its end yet | | | |"
    problems = "; ".join(result.problems).replace("|", "\\|")[:_WORDS]
    lost = "nothing" if result.passed else f"**failed**: {problems}"
    scale = f", scale {result.scale:g}" if result.scale != 1 else ""
    run = f"{result.date}, {result.commit}, seed {result.seed}{scale}"
    return f"| {name} | {listed(result.counts)} | {minutes(result.seconds)} | {lost} | {run} |"


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in counts.items())


def minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def rendered(page: str, results: Results) -> str:
    """The page with the table of these results."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{table(results)}\n{END}{after}"


# The command


def run_parts(names: Sequence[str], seed: int, scale: float, results: Path) -> bool:
    """Run these one after the other, whatever comes of each; whether all have passed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    screen = runner.Screen()
    passed = True
    for number, name in enumerate(names, 1):
        what = f"{PARTS[name].what} (about {PARTS[name].minutes} min)"
        screen.say(f"{number} of {len(names)}: {name}, {what}; seed {seed}, scale {scale:g}")
        (run,) = runner.run_all([part_of(name, seed, scale)], 1, screen, SoakRun)
        assert isinstance(run, SoakRun)
        result = run.result(seed, scale)
        keep(name, result, results)
        screen.say(f"       {listed(result.counts) or 'nothing counted'}; {run.log}")
        for problem in result.problems:
            screen.say(f"       {problem}")
        passed = passed and result.passed
    return passed


def list_parts() -> None:
    results = load(RESULTS)
    for name, part in PARTS.items():
        last = results.get(name)
        took = f"took {minutes(last.seconds)} on {last.date}" if last else "not run yet"
        goals = listed({what.value: goal for what, goal in part.goals.items()})
        print(f"{name:<17} about {part.minutes:>3} min ({took}): {part.what}; at least {goals}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make soak", description="Run the tests that take hours.")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help="those to run; all if none is given"
    )
    parser.add_argument("--list", action="store_true", help="list the parts and how long they take")
    parser.add_argument("--render", action="store_true", help=f"write the table into {PAGE.name}")
    parser.add_argument("--seed", type=int, help="replay the random choices of an earlier run")
    parser.add_argument("--scale", type=float, default=1.0, help="make all figures smaller, to try")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]}; choose from {', '.join(PARTS)}")
    if options.list:
        list_parts()
        return 0
    if options.render:
        PAGE.write_text(rendered(PAGE.read_text(), load(RESULTS)))
        return 0
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    results = RESULTS if options.scale == 1 else FOLDER / "soak.json"
    signal.signal(signal.SIGTERM, runner.interrupted)
    began = time.monotonic()
    try:
        passed = run_parts(options.parts or list(PARTS), seed, options.scale, results)
    except KeyboardInterrupt:
        print(f"Stopped. The parts that had ended are in {results}.")
        return runner.INTERRUPTED
    print(f"\n{table(load(results))}")
    verdict = "All parts passed." if passed else "Parts failed (above)."
    print(f"{verdict} It took {minutes(time.monotonic() - began)}. The results are in {results}.")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
