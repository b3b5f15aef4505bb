"""Build the web page and the browser client into the Python package, or check that they are there.

`tools/web.py` builds and puts them there. `tools/web.py --check` builds them anew, compares
byte by byte with what is there, and runs the web's own checks and tests: every script of
web/package.json whose name begins with `check:` or `test:`.

1. Install the npm packages, each compared with its hash, unless they are those of the lock.
2. Build, without caches: the app, and the client as one file.
3. Add up what a first visit loads; more than FIRST_LOAD_BYTES is refused.
"""

from __future__ import annotations

import argparse
import fcntl
import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from evergrid.gateway.http.assets import CLIENT, FOLDER

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
MODULES = WEB / "node_modules"
STAMP = MODULES / ".evergrid-lock"
LOCK = WEB / "build" / "install.lock"
APP = WEB / "build" / "app"
CLIENT_FILE = WEB / "build" / "bundle" / CLIENT[1:]
STATS = "browser-stats.json"
FIRST_LOAD_BYTES = 350_000
FIRST_VIEW = "app/src/app/dashboard/"
LISTED = 12  # of the largest files, when a first visit loads too much

_NETWORK = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "CERT",
    "E403",
    "E404",
)

Files = Mapping[str, bytes]


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the web page into the Python package.")
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; fail where the package is not as built",
    )
    parser.add_argument(
        "--run", metavar="SCRIPT", help="build nothing; run one script of web/package.json"
    )
    options = parser.parse_args()
    install()
    if options.run:
        run_scripts([options.run])
        return 0
    built = build()
    check_first_load(built, json.loads((APP / STATS).read_text()))
    if not options.check:
        changed = put(built, FOLDER)
        say(f"{len(built)} files in {FOLDER.relative_to(ROOT)}, {changed} of them changed.")
        return 0
    if differences := list(compare(built, read(FOLDER))):
        print(*differences, sep="\n")
        fail("The page in the package is not what its sources make. Run make web and commit it.")
    say("The page in the package is what its sources make.")
    run_scripts(own_scripts())
    return 0


def say(line: str) -> None:
    print(line, flush=True)


def fail(sentence: str) -> NoReturn:
    sys.exit(f"\n{sentence}")


def environment() -> dict[str, str]:
    """With our Node before any other; CI: no caches, no questions, no watching for changes."""
    ours = str(Path(sys.executable).parent)
    paths = (ours, str(MODULES / ".bin"), os.environ.get("PATH", ""))
    return {**os.environ, "PATH": os.pathsep.join(paths), "CI": "1", "NO_COLOR": "1"}


def run(command: Sequence[str], remedy: str) -> None:
    """A command whose words only matter when it fails."""
    done = subprocess.run(
        command,
        cwd=WEB,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        said = done.stdout.decode(errors="replace").rstrip()
        fail(f"{said}\n\n{advice(said) or remedy}")


def advice(said: str) -> str:
    """What to do about a failed installation, from what npm said; empty when it did not say."""
    if "npm error" not in said:
        return ""
    if "ENOSPC" in said:
        return "The disk is full: the npm packages need about 400 MB. Free some and try again."
    if "EINTEGRITY" in said:
        return (
            "A package is not the file that Evergrid was built with, and was not installed. The"
            " mirror or proxy that packages come through changes files: ask who runs it."
        )
    if any(sign in said for sign in _NETWORK):
        return (
            "npm packages could not be downloaded. Check the network; behind a proxy set"
            " HTTPS_PROXY, to use a mirror set NPM_CONFIG_REGISTRY, for a certificate of your"
            " own set NODE_EXTRA_CA_CERTS. Then run the same command again."
        )
    return ""


def install() -> None:
    """Parts of `make test` run side by side: one installs, while others wait for it."""
    wanted = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if STAMP.exists() and STAMP.read_text() == wanted:
            return
        say("Installing npm packages (about 100 MB; a minute) …")
        run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            "npm could not install the packages; its message is above.",
        )
        STAMP.write_text(wanted)


def build() -> Files:
    say("Building the web page …")
    run(["ng", "build", "app", "--stats-json"], "The page cannot be built; see above.")
    run(["npm", "run", "--silent", "build:bundle"], "The client cannot be built; see above.")
    files = {name: body for name, body in read(APP).items() if name != STATS}
    return {**files, CLIENT_FILE.name: CLIENT_FILE.read_bytes()}


def read(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def put(files: Files, folder: Path) -> int:
    """Make a folder hold these files and no others; how many were changed."""
    before = read(folder)
    for name in before.keys() - files.keys():
        (folder / name).unlink()
    for name, body in files.items():
        if before.get(name) != body:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(body)
    return sum(before.get(name) != files.get(name) for name in before.keys() | files.keys())


def compare(built: Files, there: Files) -> Iterable[str]:
    """A line for each difference."""
    for name in sorted(built.keys() | there.keys()):
        if name not in there:
            yield f"{name} is missing in the package"
        elif name not in built:
            yield f"{name} is in the package, but is not built any more"
        elif built[name] != there[name]:
            yield f"{name} differs"


def check_first_load(files: Files, stats: Mapping[str, Any]) -> None:
    sizes = first_load(files, stats)
    total = sum(sizes.values())
    share = f"{total / 1000:.0f} KB of {FIRST_LOAD_BYTES // 1000} KB, packed"
    if total <= FIRST_LOAD_BYTES:
        say(f"A first visit loads {share}.")
        return
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:LISTED]
    print(*(f"{size / 1000:>8.1f} KB  {name}" for name, size in largest), sep="\n")
    fail(f"A first visit loads too much: {share}. Load later what the dashboard does not need.")


def first_load(files: Files, stats: Mapping[str, Any]) -> dict[str, int]:
    """Packed size of each file that somebody gets who opens the address: page and dashboard.

    That is what the page names, what holds the dashboard's code, and all they import.
    """
    outputs: Mapping[str, Any] = stats["outputs"]
    page = files["index.html"].decode()
    waiting = [name for name in files if name in page]
    view = [
        name
        for name, output in outputs.items()
        if name in files and any(source.startswith(FIRST_VIEW) for source in output["inputs"])
    ]
    if not view:
        fail(f"No file of the build holds code of {FIRST_VIEW}, so the first load is not known.")
    waiting += view
    found = {"index.html": len(files["index.html"])}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = len(gzip.compress(files[name], mtime=0))
            imports = outputs.get(name, {}).get("imports", ())
            waiting += [one["path"] for one in imports if one["kind"] == "import-statement"]
    return found


def own_scripts() -> list[str]:
    package = json.loads((WEB / "package.json").read_text())
    names: Mapping[str, str] = package.get("scripts", {})
    return sorted(name for name in names if name.startswith(("check:", "test:")))


def run_scripts(names: Sequence[str]) -> None:
    """Checks and tests of the web, with a browser for those that need one."""
    environ = environment()
    if any(name.startswith("test:") for name in names):
        # A script of tools/ cannot import from tests/.
        finding = [sys.executable, "-m", "tests.browser.chromium"]
        found = subprocess.run(finding, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if found.returncode:
            sys.exit(found.returncode)
        environ["EVERGRID_TEST_CHROMIUM"] = found.stdout.strip()
    failed = []
    for name in names:
        say(f"npm run {name} …")
        if subprocess.call(["npm", "run", "--silent", name], cwd=WEB, env=environ):
            failed.append(name)
    if failed:
        again = f'make web ARGS="--run {failed[0]}"'
        fail(f"{', '.join(failed)} failed; see above. For one alone: {again}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
