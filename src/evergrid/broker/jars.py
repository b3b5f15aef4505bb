"""Fetch the Java libraries of Spark's Kafka connector and of the broker, once per user.

The Ivy that PySpark contains fetches them, so nobody needs a build tool, and no address is written
here. `ivy.xml` names the libraries, `jars.lock` the SHA-256 that each file must have.

1. Jars are in `<cache>/jars-<hash of ivy.xml and jars.lock>`: a release with other versions never
   disturbs one that runs.
2. Ivy fills a temporary folder beside it, which is renamed into place when each file is as locked.
3. A lock file lets one process fetch while the others wait for its result.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from evergrid.model.errors import ConfigError, EvergridError
from evergrid.process import child_process
from evergrid.process.java import java_command

IVY_FILE = Path(__file__).with_name("ivy.xml")
LOCK_FILE = Path(__file__).with_name("jars.lock")

_FETCH_SECONDS = 900.0  # 50 MB over a slow line
_POLL_SECONDS = 0.2
_ATTEMPTS = 3  # of a network that gives some files and refuses others
_LOG = "fetch.log"
_KINDS = ("spark", "broker")  # the configurations of ivy.xml, and the folders of their jars

_FOUND = re.compile(r"^\s*found \S+ in ", re.MULTILINE)
_DOWNLOADED = re.compile(r"^\s*\[SUCCESSFUL ]", re.MULTILINE)
_MISSING = re.compile(r"(?:module not found: |\[NOT FOUND  ] |\[FAILED     ] )(\S+)")

Report = Callable[[str], None]


class Jars(msgspec.Struct, frozen=True):
    """Verified jars on this machine: the connector's for Spark, and a whole broker."""

    spark: tuple[Path, ...]
    broker: tuple[Path, ...]


def cache_dir() -> Path:
    """Where this user's jars are kept: EVERGRID_CACHE, or the usual place for caches."""
    if chosen := os.environ.get("EVERGRID_CACHE"):
        return Path(chosen).expanduser().absolute()
    if caches := os.environ.get("XDG_CACHE_HOME"):
        return Path(caches) / "evergrid"
    return Path.home() / ".cache" / "evergrid"


def fetch(report: Report = lambda _: None) -> Jars:
    """The jars, each verified by its hash; fetched first if this user lacks one of them."""
    lock = read_lock(LOCK_FILE.read_text())
    wanted = hashlib.sha256(IVY_FILE.read_bytes() + LOCK_FILE.read_bytes()).hexdigest()[:16]
    folder = cache_dir() / f"jars-{wanted}"
    if os.pathsep in str(folder):
        raise ConfigError(
            f"Java cannot use libraries in {folder}: its path has a '{os.pathsep}' in it",
            remedy="Set EVERGRID_CACHE to another folder.",
        )
    if not _is_complete(folder, lock):
        with _exclusive(folder.parent, report):
            if not _is_complete(folder, lock):
                _fill(folder, lock, report)
    paths = [folder / name for name in sorted(lock)]
    return Jars(*(tuple(jar for jar in paths if jar.parent.name == kind) for kind in _KINDS))


def read_lock(text: str) -> dict[str, str]:
    """`<set>/<file name>` → SHA-256, from the format of the `sha256sum` command."""
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def write_lock(folder: Path) -> str:
    """The lock that fits the jars in `folder`, in the format that `read_lock` reads."""
    return "".join(
        f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.relative_to(folder)}\n"
        for jar in sorted(folder.glob("*/*.jar"))
    )


def verify(folder: Path, lock: Mapping[str, str]) -> None:
    """ConfigError naming the first jar that is missing, too much, or not the locked one."""
    found = read_lock(write_lock(folder))
    for name in sorted(found.keys() | lock.keys()):
        if found.get(name) == lock.get(name):
            continue
        if name not in found:
            problem = "was not fetched"
        elif name not in lock:
            problem = f"was fetched, but {LOCK_FILE.name} does not name it"
        else:
            problem = "is not the file that Evergrid was tested with: its SHA-256 differs"
        raise ConfigError(
            f"the Java library {name} {problem}",
            remedy="Nothing was kept. Try again; if it stays so, the mirror or proxy that "
            "libraries come through changes files: ask who runs it, or use another.",
        )


def _is_complete(folder: Path, lock: Mapping[str, str]) -> bool:
    """Whether the folder has every jar, by its hash: that takes a fifth of a second."""
    try:
        return all(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
            for name, digest in lock.items()
        )
    except OSError:
        return False


@contextlib.contextmanager
def _exclusive(cache: Path, report: Report) -> Iterator[None]:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "fetching.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                report("Another Evergrid is fetching the Java libraries; waiting for it …")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise ConfigError(
            f"cannot keep Java libraries in {cache} ({error.strerror})",
            remedy="Free some space, or set EVERGRID_CACHE to a folder you can write to.",
        ) from error


def _fill(folder: Path, lock: Mapping[str, str], report: Report) -> None:
    for left_by_a_crash in folder.parent.glob("fetching-*"):
        shutil.rmtree(left_by_a_crash, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="fetching-") as name:
        fresh = Path(name) / "jars"
        fetch_into(fresh, Path(name) / "ivy", folder.parent / _LOG, report)
        verify(fresh, lock)
        shutil.rmtree(folder, ignore_errors=True)  # there only if someone damaged it
        fresh.rename(folder)
    report(f"Java libraries are in {folder}")


def fetch_into(fresh: Path, ivy_cache: Path, log: Path, report: Report) -> None:
    """Run Ivy, and again while it finds at least some of the libraries."""
    report("Fetching 50 MB of Java libraries (once) …")
    command = _ivy_command(fresh, ivy_cache)
    deadline = time.monotonic() + _FETCH_SECONDS
    output = ""
    for _ in range(_ATTEMPTS):
        code, output = _run(command, log, deadline, report), log.read_text(errors="replace")
        if code == 0:
            log.unlink()
            return
        if not _FOUND.search(output):
            break
        report("Some libraries are missing; trying again …")
    missing = _MISSING.search(output)
    raise ConfigError(
        "the Java libraries could not be fetched"
        + (f" (first missing: {missing[1]})" if missing else ""),
        remedy="Check the network. Behind a proxy set HTTPS_PROXY; to use a mirror set "
        "EVERGRID_IVY_SETTINGS to an ivysettings.xml that names it. "
        f"Ivy's output is in {log}.",
    )


def _ivy_command(fresh: Path, ivy_cache: Path) -> list[str]:
    settings = os.environ.get("EVERGRID_IVY_SETTINGS", "")
    if settings and not Path(settings).is_file():
        raise ConfigError(
            f"EVERGRID_IVY_SETTINGS is {settings}, but there is no such file",
            remedy="Set it to an ivysettings.xml, or unset it.",
        )
    return [
        str(java_command()),
        # Without them Ivy would wait for ever.
        "-Dsun.net.client.defaultConnectTimeout=20000",
        "-Dsun.net.client.defaultReadTimeout=60000",
        *proxy_options(urllib.request.getproxies()),
        *("-jar", str(spark_jar("ivy-*.jar")), "-ivy", str(IVY_FILE), "-cache", str(ivy_cache)),
        *(("-settings", settings) if settings else ()),
        *("-retrieve", f"{fresh}/[conf]/[artifact]-[revision].[ext]"),
        # Some jars are published as OSGi bundles; without that word they are left out.
        *("-types", "jar", "bundle"),
    ]


def proxy_options(proxies: Mapping[str, str]) -> list[str]:
    """Java's options for the proxies of the environment, which Java does not read itself."""
    options = []
    for scheme in ("http", "https"):
        address = urllib.parse.urlsplit(proxies.get(scheme, ""))
        if address.hostname:
            options.append(f"-D{scheme}.proxyHost={address.hostname}")
            options.append(f"-D{scheme}.proxyPort={address.port or 80}")
    if direct := [host.strip() for host in proxies.get("no", "").split(",") if host.strip()]:
        patterns = (f"*{host}" if host.startswith(".") else host for host in direct)
        options.append(f"-Dhttp.nonProxyHosts={'|'.join(patterns)}")
    return options


def spark_jar(pattern: str) -> Path:
    """A jar of PySpark's own, by its file name."""
    # Found without importing pyspark, which takes its time and which only the pipeline may do.
    spec = importlib.util.find_spec("pyspark")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for jar in sorted(Path(place, "jars").glob(pattern)):
            return jar
    raise ConfigError(
        "PySpark is not installed in this Python",
        where=sys.executable,
        remedy="Install Evergrid with its dependencies: pip install evergrid",
    )


def _run(command: Sequence[str], log: Path, deadline: float, report: Report) -> int:
    """Run Ivy, at most until `deadline`, with its output in `log`; return its exit code."""
    with log.open("wb") as output:
        # Several users may share a cache: its files have the modes that the user chose.
        ivy = child_process.start(command, output, umask=-1)
    shown = ""
    while ivy.poll() is None and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        line = _progress(log.read_text(errors="replace"))
        if line != shown:
            shown = line
            report(line)
    return ivy.kill()


def _progress(said: str) -> str:
    for pattern, what in ((_DOWNLOADED, "downloaded"), (_FOUND, "found")):
        if count := len(pattern.findall(said)) // 10 * 10:
            return f"{count} Java libraries {what} …"
    return ""


if __name__ == "__main__":
    try:
        fetch(functools.partial(print, file=sys.stderr))
    except EvergridError as error:
        sys.exit(str(error))
