from __future__ import annotations

from pathlib import Path

import pytest

from evergrid.model.errors import ConfigError
from evergrid.process import java


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "11.0.2+9" 2019-01-15', 11),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx="1"\nopenjdk version "17.0.1" 2021-10-19', 17),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_the_version_is_read_however_java_prints_it(printed: str, version: int | None) -> None:
    assert java.major_version(printed) == version


@pytest.mark.parametrize(
    ("system", "release", "command"),
    [
        ("linux", {"ID": "debian", "VERSION_ID": "12"}, "openjdk-17-jre-headless"),
        ("linux", {"ID": "debian", "VERSION_ID": "13"}, "openjdk-21-jre-headless"),
        ("linux", {"ID": "ubuntu", "ID_LIKE": "debian"}, "openjdk-17-jre-headless"),
        ("linux", {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "openjdk-17-jre-headless"),
        ("linux", {"ID": "fedora"}, "sudo dnf install java-21-openjdk-headless"),
        ("linux", {"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "sudo dnf install"),
        ("darwin", {}, "brew install openjdk@17"),
        ("linux", {}, "Java 17 or newer"),
    ],
)
def test_each_platform_gets_its_install_command(
    system: str, release: dict[str, str], command: str
) -> None:
    assert command in java.install_command(system, release)


def test_the_java_of_this_machine_is_found() -> None:
    assert java.java_command().name == "java"
    assert (java.java_home() / "bin" / "java").exists()


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=f"JAVA_HOME is {tmp_path}.*To install Java"):
        java.java_command()


def test_a_missing_java_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"Java was not found.*To install Java"):
        java.java_command()


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ('echo \'openjdk version "11.0.2"\'; echo "java.home = /opt/11"', "is Java 11, and"),
        ("echo 'Unable to locate a Java Runtime.' >&2; exit 1", "does not start .Unable to"),
    ],
)
def test_a_java_that_will_not_do_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, sentence: str
) -> None:
    command = tmp_path / "bin" / "java"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=f"{command} {sentence}.*To install Java"):
        java.java_command()
