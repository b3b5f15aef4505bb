"""Load and reader in processes of their own, so that neither slows or times the other.

However the benchmark ends, they end with it. A task goes in and a
result comes out as a file.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

import msgspec

from bench import (
    cells,
    changes,
    crowd,
    deaf,
    intake,
    knocks,
    load,
    onlooker,
    viewing,
    watch,
    witness,
)
from bench.machine import ROOT
from evergrid.model.errors import EvergridError, LinkError
from evergrid.process import child_process

Task = (
    load.Past
    | load.Steady
    | load.Backlog
    | watch.Watch
    | intake.Intake
    | viewing.Batches
    | viewing.Creating
    | changes.Fill
    | changes.Beat
    | crowd.Crowd
    | crowd.Probes
    | deaf.Deaf
    | knocks.Knocks
    | onlooker.Onlooker
    | cells.Serving
    | witness.Witness
)
Result = TypeVar("Result")

_numbers = itertools.count(1)


class Helper(Generic[Result]):
    """One task under way."""

    def __init__(self, task: Task, result: type[Result], folder: Path) -> None:
        self._result = result
        self._name = type(task).__name__.lower()
        place = folder / f"{self._name}-{next(_numbers)}"
        self._output, self._screen = place.with_suffix(".out"), place.with_suffix(".txt")
        place.with_suffix(".in").write_bytes(msgspec.json.encode(task))
        files = (str(place.with_suffix(".in")), str(self._output))
        command = [sys.executable, "-m", "bench.helper", *files]
        with self._screen.open("wb") as screen:
            self._child = child_process.start(command, stdout=screen, cwd=ROOT)

    def result(self, seconds: float) -> Result:
        """What came of it; LinkError with its last words when nothing did."""
        try:
            code = self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise LinkError(
                f"not done within {seconds:.0f} seconds", where=f"the benchmark's {self._name}"
            ) from None
        if code != 0:
            said = self._screen.read_text(errors="replace").strip().splitlines()
            raise LinkError(
                f"ended with {code}: {said[-1] if said else 'it said nothing'}",
                where=f"the benchmark's {self._name}",
            )
        return msgspec.json.decode(self._output.read_bytes(), type=self._result)

    def __enter__(self) -> Helper[Result]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._child.stop()


def main(task_file: Path, output: Path) -> int:
    task: Task = msgspec.json.decode(task_file.read_bytes(), type=Task)
    try:
        output.write_bytes(msgspec.json.encode(_run(task)))
    except EvergridError as error:
        print(error.sentence())
        return 1
    return 0


def _run(task: Task) -> object:
    run: Callable[[Task], object] = _RUNS.get(type(task), load.run)
    return run(task)


_RUNS: Mapping[type, Callable[..., object]] = {
    watch.Watch: watch.run,
    intake.Intake: intake.run,
    viewing.Batches: viewing.run_batches,
    viewing.Creating: viewing.run_creating,
    changes.Fill: changes.fill,
    changes.Beat: changes.beat,
    crowd.Crowd: crowd.run_crowd,
    crowd.Probes: crowd.run_probes,
    deaf.Deaf: deaf.run,
    knocks.Knocks: knocks.run,
    onlooker.Onlooker: onlooker.run,
    cells.Serving: cells.run,
    witness.Witness: witness.run,
}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
