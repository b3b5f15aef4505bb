"""Options of long runs: `make soak` gives them, and so may who repeats one test of them."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.soak import Counted, Soak


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("soak")
    group.addoption("--seed", type=int, default=0, help="of the random choices of long tests")
    group.addoption("--scale", type=float, default=1.0, help="of the figures of long tests")
    group.addoption("--record", type=Path, help="the file to which long tests add what they did")


def soak_of(config: pytest.Config) -> Soak:
    return Soak(*(config.getoption(f"--{name}") for name in ("seed", "scale", "record")))


@pytest.fixture
def soak(pytestconfig: pytest.Config) -> Soak:
    given = soak_of(pytestconfig)
    print(f"seed {given.seed}, scale {given.scale:g}")
    return given


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" and report.passed:
        soak_of(item.config).count(Counted.TESTS)
    return report
