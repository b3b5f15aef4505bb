"""`evergrid tail`: a table's changes in a terminal, in a pipe, and until someone stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka.broker import EmbeddedBroker
from evergrid.testing.handwritten import HandwrittenPipeline

LIMIT = 60.0
TABLE = "final_ui"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def file(broker: EmbeddedBroker, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "evergrid.yaml"
    path.write_text(
        f"kafka: {{bootstrap: '{broker.bootstrap}'}}\n"
        f"internal_topics: {{prefix: {request.node.name}}}\n"
    )
    return path


@pytest.fixture
def settings(file: Path) -> Settings:
    return load(file, {})


class Tail:
    """A running `evergrid tail`, its output and its words in files."""

    def __init__(self, tmp_path: Path, environ: dict[str, str], *arguments: str) -> None:
        self._out, self._err = tmp_path / "out", tmp_path / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "evergrid", "tail", *arguments],
                stdout=out,
                stderr=err,
                env=environ,
                cwd=tmp_path,
            )

    def until(self, condition: Callable[[str, str], bool]) -> None:
        deadline = time.monotonic() + LIMIT
        while not condition(self._out.read_text(), self._err.read_text()):
            both = self._out.read_text() + self._err.read_text()
            assert time.monotonic() < deadline, both
            assert self.process.poll() is None, both
            time.sleep(0.1)

    def ended(self) -> tuple[int, str]:
        code = self.process.wait(10.0)
        return code, self._err.read_text()


@pytest.fixture
def tail(tmp_path: Path, environ: dict[str, str], file: Path) -> Iterator[Callable[..., Tail]]:
    started: list[Tail] = []

    def start(*arguments: str) -> Tail:
        started.append(Tail(tmp_path, environ, *arguments, "-c", str(file)))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def test_so_many_changes_as_json_and_then_the_end(run: Run, file: Path, settings: Settings) -> None:
    pipeline = HandwrittenPipeline(settings)
    first = pipeline.prepare(1)
    for number in range(5):
        pipeline.write(first.tables[TABLE], f"0:{number}", {"userId": f"U{number}"})
    pipeline.switch(first)
    done = run("tail", TABLE, "-c", file, "--from-start", "--json", "-n", "3")
    assert done.returncode == 0, done.stderr
    changes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(changes) == 3
    assert all(change["row"]["userId"] == f"U{change['id'][2:]}" for change in changes)


def test_an_unknown_table_is_answered_with_those_there_are(
    run: Run, file: Path, settings: Settings
) -> None:
    pipeline = HandwrittenPipeline(settings)
    pipeline.switch(pipeline.prepare(1))
    done = run("tail", "finalui", "-c", file)
    assert done.returncode == 1
    assert "there is no table 'finalui'. Did you mean 'final_ui'?" in done.stderr
    assert "There are accounts_ui, final_ui, quarantine, users_ui." in done.stderr


def test_before_any_pipeline_it_says_so(run: Run, file: Path) -> None:
    done = run("tail", TABLE, "-c", file)
    assert done.returncode == 1
    assert "has made tables here yet" in done.stderr
    assert "--wait" in done.stderr


def test_without_a_broker_it_says_so(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("kafka: {bootstrap: '127.0.0.1:1'}\n")
    done = run("tail", TABLE, "-c", path)
    assert done.returncode == 1
    assert "could not connect" in done.stderr


def test_it_waits_follows_through_a_new_generation_and_ends_on_ctrl_c(
    tail: Callable[..., Tail], settings: Settings
) -> None:
    following = tail(TABLE, "--wait")
    following.until(lambda _, err: "Waiting." in err)
    pipeline = HandwrittenPipeline(settings)
    pipeline.switch(pipeline.prepare(1))
    following.until(lambda out, _: "final_ui · generation 1" in out)
    second = pipeline.prepare(2)
    pipeline.switch(second)
    pipeline.write(second.tables[TABLE], "1:7", {"userId": "U7", "name": "Mei"})
    following.until(lambda out, _: "final_ui · generation 2" in out and "Mei" in out)
    following.process.send_signal(signal.SIGINT)
    code, said = following.ended()
    assert code == 0
    assert said.splitlines()[-1] == "Stopped."
    assert "final_ui is now that of generation 2." in said


def test_it_ends_when_nobody_reads_its_output_even_if_nothing_comes(
    file: Path, settings: Settings, environ: dict[str, str]
) -> None:
    pipeline = HandwrittenPipeline(settings)
    pipeline.switch(pipeline.prepare(1))
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "evergrid", "tail", TABLE, "-c", str(file)],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environ,
    )
    os.close(writer)
    try:
        assert os.read(reader, 100)
        os.close(reader)
        _, said = process.communicate(timeout=LIMIT)
        assert (process.returncode, said) == (0, b"")
    finally:
        process.kill()
        process.wait()
