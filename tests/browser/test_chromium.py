"""Tests find a Chromium that starts, and say what to do when there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evergrid.model.errors import ConfigError
from tests.browser import chromium


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A path with nothing but what the test puts there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv(chromium.VARIABLE, raising=False)
    monkeypatch.setattr(chromium, "_MAC_APPS", ())
    return folder


def test_the_first_that_starts_is_taken(bare: Path) -> None:
    program(bare / "chromium", "echo 'This is a snap. Install it.'; exit 1")
    program(bare / "chromium-browser", "echo hello")
    chrome = program(bare / "google-chrome", "echo Google Chrome 156.0")
    assert chromium.find() == chrome
    first = program(bare / "chromium", "echo Chromium 156.0")
    assert chromium.find() == first


def test_the_chosen_one_is_taken_or_none(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bare / "chromium", "echo Chromium 156.0")
    chosen = program(tmp_path / "chosen", "echo Chromium 160.0")
    monkeypatch.setenv(chromium.VARIABLE, str(chosen))
    assert chromium.chromium() == chosen
    monkeypatch.setenv(chromium.VARIABLE, str(tmp_path / "absent"))
    assert chromium.find() is None


def test_who_may_install_gets_the_systems_package(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrives = f"printf '#!/bin/sh\\necho Chromium 1\\n' > {bare}/chromium"
    program(
        bare / "apt-get",
        f'case "$*" in *update*) : > {bare}/listed;; *) test -e {bare}/listed || exit 100;'
        f" {arrives}; /bin/chmod +x {bare}/chromium;; esac",
    )
    monkeypatch.setattr(chromium, "is_root", lambda: True)
    said: list[str] = []
    assert chromium.chromium(said.append) == bare / "chromium"
    assert said == ["Installing Chromium for the browser tests …"]


def test_who_may_not_is_told_the_remedy(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare / "apt-get", f": > {bare}/touched")
    program(bare / "sudo", "echo 'sudo: a password is required' >&2; exit 1")
    monkeypatch.setattr(chromium, "is_root", lambda: False)
    said: list[str] = []
    with pytest.raises(ConfigError, match=r"Install it \(.*EVERGRID_TEST_CHROMIUM"):
        chromium.chromium(said.append)
    assert said == []
    assert not (bare / "touched").exists()


def test_only_root_goes_without_the_sandbox() -> None:
    assert ("--no-sandbox" in chromium.flags()) == (os.geteuid() == 0)
