"""Find the Java that Spark and the embedded broker run on, or say how to install one.

JAVA_HOME comes first and PATH second, as in Spark itself, so that both always run on the same Java.
"""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from evergrid.model.errors import ConfigError

OLDEST = 17  # Spark 4 and Kafka 4 brokers are compiled for it
_START_SECONDS = 30.0  # a first start from a cold, slow disk; far more means it hangs

_VERSION = re.compile(r'version "(?:1\.)?(\d+)[^"]*"')
_SINCE_DEBIAN_13 = re.compile(r"1[3-9]|[2-9]\d")
_HOME = re.compile(r"^\s*java\.home = (.+?)\s*$", re.MULTILINE)


def java_command() -> Path:
    """The `java` to run; ConfigError with the command that installs one when there is none."""
    command = _find()
    _checked_home(command)
    return command


def java_home() -> Path:
    """The home folder of that Java, as JAVA_HOME wants it."""
    return _checked_home(_find())


def major_version(text: str) -> int | None:
    """The feature release in what `java -version` prints: 17 of "17.0.15", 8 of "1.8.0_392"."""
    match = _VERSION.search(text)
    return int(match[1]) if match else None


def install_command(system: str, release: Mapping[str, str]) -> str:
    """The command that installs Java on this platform.

    `release` is the content of os-release. A package is named only where that release
    has it: Debian 13 and Fedora 42 no longer carry Java 17.
    """
    if system == "darwin":
        return 'brew install openjdk@17 && export JAVA_HOME="$(brew --prefix openjdk@17)"'
    family = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    if release.get("ID") == "debian" and _SINCE_DEBIAN_13.match(release.get("VERSION_ID", "")):
        return "sudo apt-get install openjdk-21-jre-headless"
    if family & {"debian", "ubuntu"}:
        return "sudo apt-get install openjdk-17-jre-headless"
    if family & {"fedora", "rhel", "centos"}:
        return "sudo dnf install java-21-openjdk-headless"
    return "install a Java 17 or newer runtime and set JAVA_HOME to it"


def _find() -> Path:
    home = os.environ.get("JAVA_HOME", "")
    if home:
        command = Path(home) / "bin" / "java"
        if not command.is_file():
            raise _unusable(
                f"JAVA_HOME is {home}, but there is no {command}",
                "Set JAVA_HOME to the folder of a Java 17 or newer, or unset it. ",
            )
        return command
    found = shutil.which("java")
    if found is None:
        raise _unusable("Java was not found: JAVA_HOME is not set and there is no java on PATH")
    return Path(found)


@functools.lru_cache
def _checked_home(command: Path) -> Path:
    try:
        done = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_START_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unusable(f"{command} does not start ({error})") from None
    # Different Javas print to different streams.
    text = done.stdout + done.stderr
    version = major_version(text)
    home = _HOME.search(text)
    if done.returncode != 0 or version is None or home is None:
        reason = text.strip().partition("\n")[0]
        raise _unusable(f"{command} does not start ({reason})")
    if version < OLDEST:
        raise _unusable(f"{command} is Java {version}, and Evergrid needs Java {OLDEST} or newer")
    return Path(home[1])


def _unusable(what: str, remedy: str = "") -> ConfigError:
    try:
        release = platform.freedesktop_os_release()
    except OSError:  # macOS, or a Linux without the file
        release = {}
    install = install_command(sys.platform, release)
    return ConfigError(what, remedy=f"{remedy}To install Java: {install}")
