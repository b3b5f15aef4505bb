"""The engine's Java classes, tested by Java classes in `java`, against the jar that is shipped."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pyspark
import pytest

from evergrid.pipeline.engine import engine_jar

SOURCES = Path(__file__).with_name("java")
CLASS_PATH = f"{engine_jar()}:{Path(pyspark.__file__).parent / 'jars'}/*"
SECONDS = 300


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("javac") is None:
        pytest.skip("there is no javac; install a JDK to run these tests")
    folder = tmp_path_factory.mktemp("classes")
    command = ["javac", "--release", "17", "-cp", CLASS_PATH, "-d", str(folder)]
    run([*command, *map(str, sorted(SOURCES.glob("*.java")))])
    return folder


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_each_class_is_run_here() -> None:
    assert {file.stem for file in SOURCES.glob("*.java")} == {name for name, _ in TESTS}


TESTS = [
    ("TimelineTest", 150),
    ("RulesTest", 700),
    ("InnerTest", 2000),
    ("CacheTest", 0),
    ("IndexTest", 20),
    ("ClockTest", 20),
]


@pytest.mark.parametrize(("name", "cases"), TESTS)
def test_a_class_keeps_what_it_promises(classes: Path, name: str, cases: int) -> None:
    """What fails prints its seed: `java … evergrid.engine.RulesTest SEED 1` runs it alone."""
    seed = random.randrange(1 << 40)
    options = ["-Xmx400m", "-XX:TieredStopAtLevel=1", "-cp", f"{classes}:{CLASS_PATH}"]
    told = run(["java", *options, f"evergrid.engine.{name}", str(seed), str(cases)])
    assert told == "OK\n"
