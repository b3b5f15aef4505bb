"""Make .venv ready to run Evergrid, or say in one sentence what is in the way.

`tools/setup.py run` installs what running needs; without an argument, what developing needs
too: the same packages and, among others, Node and a driver for browsers, which are large.

1. Find a Python that fits and can make a virtual environment.
2. Check Java, before anything large is downloaded.
3. Install the packages of requirements/, each compared with its hash, then Evergrid.
4. Fetch the Java libraries.
5. Write a stamp, so that the next run has nothing to do.

Runs on any Python from 3.8 on with nothing installed, because it is what people start
with the wrong Python. Each step can be repeated, so a run that was cut off is made good
by the next one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Iterable, NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "evergrid-ready"
BUILD_LOCK = ROOT / "requirements" / "build.lock"
RUN_LOCK = ROOT / "requirements" / "demo.lock"  # runtime.lock, and what a secured broker needs
DEV_LOCK = ROOT / "requirements" / "dev.lock"
RUN, DEVELOP = "run", "develop"
LOCKS = {RUN: RUN_LOCK, DEVELOP: DEV_LOCK}
DECIDE = (
    BUILD_LOCK,
    RUN_LOCK,
    ROOT / "pyproject.toml",
    ROOT / "src" / "evergrid" / "broker" / "ivy.xml",
    ROOT / "src" / "evergrid" / "broker" / "jars.lock",
)

OLDEST, NEWEST = (3, 11), (3, 13)
NAMES = ("python3.11", "python3.12", "python3.13", "python3")

_PROBE = """
import sys
try:
    import ensurepip, venv
    complete = 1
except ImportError:
    complete = 0
print(sys.version_info[0], sys.version_info[1], complete)
"""

_JAVA = """
import sys
from evergrid.process.java import java_command
from evergrid.model.errors import EvergridError
try:
    java_command()
except EvergridError as error:
    sys.exit(str(error))
"""

_NETWORK = (
    "NewConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "ProxyError",
    "SSLError",
    "name resolution",
    "Connection refused",
    "Connection reset",
    "Network is unreachable",
    "No matching distribution found",
)


class Python(NamedTuple):
    """An interpreter: its command, its version, and whether it can make environments."""

    command: str
    version: tuple[int, int]
    complete: bool

    @property
    def fits(self) -> bool:
        return OLDEST <= self.version <= NEWEST


def main() -> int:
    purpose = sys.argv[1] if len(sys.argv) > 1 else DEVELOP
    if is_ready(purpose):
        return 0
    make_environment(choose(probe_all(wanted())))
    check_java()
    install(purpose)
    fetch_jars()
    STAMP.write_text(f"{ROOT}\n{digest(purpose)}\n")
    say("Ready.")
    return 0


def say(line: str) -> None:
    print(line, flush=True)


def fail(sentence: str) -> NoReturn:
    sys.exit(f"\n{sentence}")


def is_ready(purpose: str) -> bool:
    """What was made to develop can run, too."""
    enough = [(str(ROOT), digest(made_for)) for made_for in (purpose, DEVELOP)]
    return stamped() in enough and PYTHON.exists() and is_chosen()


def stamped() -> tuple[str, str]:
    """Where the environment was made and for what; its scripts work in that place alone."""
    try:
        place, made_for = STAMP.read_text().splitlines()
    except (OSError, ValueError):
        return "", ""
    return place, made_for


def digest(purpose: str) -> str:
    content = hashlib.sha256(purpose.encode())
    for path in (*DECIDE, LOCKS[purpose]):
        content.update(path.read_bytes())
    return content.hexdigest()


def is_chosen() -> bool:
    """Whether the environment is of the version that PYTHON asks for, if it asks."""
    chosen = probe(os.environ["PYTHON"]) if os.environ.get("PYTHON") else None
    existing = probe(str(PYTHON)) if chosen else None
    return not (chosen and existing and chosen.fits) or existing.version == chosen.version


def wanted() -> tuple[str, ...]:
    """Commands to try, in order."""
    chosen = os.environ.get("PYTHON", "")
    return ((chosen,) if chosen else ()) + NAMES


def probe_all(commands: Iterable[str]) -> list[Python]:
    found = (probe(command) for command in commands)
    return [python for python in found if python is not None]


def probe(command: str) -> Python | None:
    """What `command` is; None when it is no Python that starts."""
    try:
        done = subprocess.run(
            [command, "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
        major, minor, complete = (int(word) for word in done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return Python(command, (major, minor), bool(complete))


def choose(found: list[Python]) -> Python:
    """The first that fits; ends with the remedy when none does."""
    fitting = [python for python in found if python.fits]
    for python in fitting:
        if python.complete:
            return python
    if fitting:
        name = f"python{dotted(fitting[0].version)}"
        fail(
            f"{fitting[0].command} cannot make virtual environments: its venv module is not"
            f" installed. On Debian and Ubuntu: sudo apt-get install {name}-venv"
        )
    seen = ", ".join(f"{python.command} is {dotted(python.version)}" for python in found)
    fail(
        f"Evergrid needs Python 3.11, 3.12 or 3.13 ({seen or 'none was found'})."
        " Install one of them, or name it: make demo PYTHON=/path/to/python3.11"
    )


def dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def make_environment(python: Python) -> None:
    if is_usable():
        return
    say(f"Making .venv with {python.command} ({dotted(python.version)}) …")
    if subprocess.call([python.command, "-m", "venv", "--clear", str(VENV)]):
        fail(
            f"{python.command} could not make {VENV}; its message is above. Check that there is"
            " room on the disk and that you may write there."
        )
    STAMP.write_text(f"{ROOT}\nunfinished\n")


def is_usable() -> bool:
    """Whether the environment that is there can be brought up to date."""
    existing = probe(str(PYTHON)) if PYTHON.exists() else None
    here = stamped()[0] in ("", str(ROOT))
    return bool(existing and existing.fits and here and is_chosen() and has_pip())


def has_pip() -> bool:
    command = [str(PYTHON), "-m", "pip", "--version"]
    return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def check_java() -> None:
    """Asks the part of Evergrid that needs no package, so it can be asked first."""
    code = subprocess.call([str(PYTHON), "-c", _JAVA], env=source_first())
    if code:
        fail("Install Java as said above, then run the same command again.")


def source_first() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def install(purpose: str) -> None:
    megabytes = 690 if purpose == DEVELOP else 540
    known = (VENV / "bin" / "evergrid").exists()
    once = "" if known else f" (about {megabytes} MB, once; some minutes)"
    say(f"Installing Python packages{once} …")
    # First what PySpark is built with: then the build is as pinned as everything else.
    pip("--require-hashes", "-r", str(BUILD_LOCK))
    pip("--require-hashes", "--no-build-isolation", "-r", str(LOCKS[purpose]))
    pip("--quiet", "--no-deps", "--no-build-isolation", "-e", str(ROOT))


def pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    # Pip draws its progress on stdout, so only stderr is read along.
    process = subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE)
    said: list[bytes] = []
    reader = threading.Thread(target=pass_on, args=(process, said), daemon=True)
    reader.start()
    code = process.wait()
    reader.join()
    if code:
        fail(remedy(b"".join(said).decode(errors="replace")))


def pass_on(process: subprocess.Popen[bytes], said: list[bytes]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        sys.stderr.buffer.write(line)
        sys.stderr.flush()


def remedy(said: str) -> str:
    """What to do about a failed installation, from what pip said."""
    if "No space left on device" in said:
        return (
            "The disk is full: the packages need about 2 GB while they are installed, in"
            f" {VENV} and in the folder for temporary files. Free some, or set TMPDIR to a"
            " folder with room, then run the same command again."
        )
    if "DO NOT MATCH THE HASHES" in said:
        return (
            "A package is not the file that Evergrid was tested with, and was not installed."
            " The mirror or proxy that packages come through changes files: ask who runs it,"
            " or use another."
        )
    if any(sign in said for sign in _NETWORK):
        return (
            "Packages could not be downloaded. Check the network; behind a proxy set"
            " HTTPS_PROXY, to use a mirror set PIP_INDEX_URL, for a certificate of your own set"
            " PIP_CERT. Then run the same command again: what has come is kept."
        )
    return (
        "Pip could not install the packages; its message is above. Run the same command again;"
        " if it stays so, delete .venv and try once more."
    )


def fetch_jars() -> None:
    say("Checking the Java libraries …")
    if subprocess.call([str(PYTHON), "-m", "evergrid.broker.jars"]):
        fail("The Java libraries are not there yet; do as said above and run it again.")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nStopped. Run the same command again to go on.")
