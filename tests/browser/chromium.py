"""Finds a Chromium for tests, or installs the system's package.

Drivers can download browsers of their own, but not on a machine without the open internet;
what a system's package brings is also what people really use.

`python -m tests.browser.chromium` prints its path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from evergrid.model.errors import ConfigError

VARIABLE = "EVERGRID_TEST_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
_ANSWER_SECONDS = 30.0
_LOCK_SECONDS = 600  # others may be installing something, this very package for instance

# Nothing that a browser does by itself, least of all asking its maker's servers.
_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def flags() -> list[str]:
    """Its command line flags; root cannot use the sandbox."""
    return [*_QUIET, *(["--no-sandbox"] if is_root() else [])]


def is_root() -> bool:
    return os.geteuid() == 0


def chromium(say: Callable[[str], None] = print) -> Path:
    """A working Chromium, installed if necessary; ConfigError if that fails."""
    found = find()
    if found is None:
        install(say)
        found = find()
    if found is None:
        raise ConfigError(
            "there is no Chromium for the browser tests, and none could be installed",
            remedy=f"Install it ({_how()}), or set {VARIABLE} to the path of a Chromium or Chrome.",
        )
    return found


def find() -> Path | None:
    """The first Chromium that starts."""
    return next((path for path in _candidates() if _starts(path)), None)


def install(say: Callable[[str], None]) -> None:
    """The system's package, where this user may install without being asked for a password."""
    rights = _rights()
    if shutil.which("apt-get") is None or rights is None:
        return
    say("Installing Chromium for the browser tests …")
    apt = [*rights, "apt-get", "-o", f"DPkg::Lock::Timeout={_LOCK_SECONDS}", "-qq", "-y"]
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = [*apt, "install", "--no-install-recommends", "chromium"]
    # A machine that was just made has no list of packages yet.
    if subprocess.call(command, env=environ, stdout=subprocess.DEVNULL):
        subprocess.call([*apt, "update"], env=environ, stdout=subprocess.DEVNULL)
        subprocess.call(command, env=environ, stdout=subprocess.DEVNULL)


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get(VARIABLE):
        yield Path(chosen)
        return
    yield from (Path(path) for name in NAMES if (path := shutil.which(name)))
    if sys.platform == "darwin":
        yield from (Path(path) for path in _MAC_APPS if Path(path).exists())


def _starts(path: Path) -> bool:
    """Some systems have a script in its place that only says how to get it."""
    try:
        said = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return said.returncode == 0 and b"Chrom" in said.stdout


def _rights() -> Sequence[str] | None:
    if is_root():
        return ()
    sudo = ("sudo", "-n")
    try:
        allowed = subprocess.run([*sudo, "true"], capture_output=True, check=False)
    except OSError:
        return None
    return sudo if allowed.returncode == 0 else None


def _how() -> str:
    if sys.platform == "darwin":
        return "brew install --cask chromium"
    return "Debian and Ubuntu: sudo apt-get install chromium"


def main() -> None:
    try:
        print(chromium(say=lambda line: print(line, file=sys.stderr)))
    except ConfigError as error:
        sys.exit(f"\n{error.sentence()}")


if __name__ == "__main__":
    main()
