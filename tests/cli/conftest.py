"""A broker for the commands, and the commands as a user runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker

LIMIT = 120.0

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


@pytest.fixture
def environ() -> dict[str, str]:
    """The environment without Evergrid's own variables, but for the cache."""
    return {name: value for name, value in os.environ.items() if not name.startswith("EVERGRID_")}


@pytest.fixture
def run(tmp_path: Path, environ: dict[str, str]) -> Run:
    """`run("check", "-c", file)` as in a shell; a command has a minute."""

    def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "evergrid", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environ,
            timeout=LIMIT,
        )

    return command
