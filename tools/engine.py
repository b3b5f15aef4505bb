"""Build the Java of the engine into the Python package, or check that it is there.

`tools/engine.py` compiles it against PySpark's jars and writes the jar. The same sources and the
same compiler give the same bytes: entries are sorted, have one date, and are not compressed.
`tools/engine.py --check` compares the hash of the sources with the one in the jar's manifest,
which needs no compiler. Where there is one of the same major version, it also builds anew and
compares byte by byte.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from evergrid.model.errors import EvergridError
from evergrid.pipeline.engine import engine_jar
from evergrid.process.java import java_home

ROOT = Path(__file__).resolve().parent.parent
JAR = engine_jar()
SOURCES = JAR.parent / "java"
MANIFEST = "META-INF/MANIFEST.MF"
DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip file can say
OPTIONS = ("-Xlint:all", "-Werror", "--release", "17", "-encoding", "UTF-8")
AGENT = "evergrid.agent.BindAgent"
# What the sources import. All of PySpark's jars would be too many: some name others that are
# not there, of which the compiler warns.
LIBRARIES = ("spark-*", "scala-library-*", "jackson-*", "kryo-*", "xbean-asm9-*")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the engine's Java into the package.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail where the jar is not as built"
    )
    if parser.parse_args().check:
        print(check())
        return 0
    version = compiler_version()
    if not version:
        fail("javac was not found. Install a JDK, 17 or newer, and set JAVA_HOME to it.")
    fresh = JAR.with_suffix(".new")
    fresh.write_bytes(build(version))
    fresh.replace(JAR)  # a Java that runs with the old one goes on with it
    print(f"{JAR.relative_to(ROOT)}: {JAR.stat().st_size} bytes, built by javac {version}.")
    return 0


def fail(sentence: str) -> NoReturn:
    sys.exit(f"\n{sentence}")


def check() -> str:
    """A sentence of what was compared; does not return where the jar is not as built."""
    stale = f"{JAR.name} is not what its sources make. Run make engine and commit it."
    if not JAR.exists():
        fail(f"{JAR.relative_to(ROOT)} is missing. Run make engine and commit it.")
    built = read_manifest(JAR.read_bytes())
    if built.get("Sources-SHA256") != sources_hash():
        fail(stale)
    recorded, here = built.get("Javac-Version", ""), compiler_version()
    if major(here) != major(recorded):
        return f"{JAR.name} has the hash of its sources; no javac {major(recorded)} to build it."
    if build(recorded) != JAR.read_bytes():
        fail(stale)
    return f"{JAR.name} is what its sources make."


def sources() -> list[Path]:
    return sorted(SOURCES.rglob("*.java"))


def sources_hash() -> str:
    """Over the names and contents of all sources."""
    digest = hashlib.sha256()
    for path in sources():
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(SOURCES).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def javac() -> str:
    """The compiler beside the Java that runs Spark, or the one on the PATH."""
    beside = java_home() / "bin" / "javac"
    return str(beside) if beside.exists() else "javac"


def compiler_version() -> str:
    """Such as 17.0.15; empty when there is no compiler."""
    try:
        done = subprocess.run([javac(), "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError, EvergridError):
        return ""
    found = re.search(r"javac (\S+)", done.stdout + done.stderr)
    return found[1] if found else ""


def major(version: str) -> str:
    return version.partition(".")[0]


def spark_home() -> Path:
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        fail("PySpark was not found. Run make setup.")
    return Path(found.origin).parent


def build(version: str) -> bytes:
    """The jar's bytes; `version` is the compiler's that the manifest names."""
    jars = spark_home() / "jars"
    class_path = ":".join(
        str(jar) for name in LIBRARIES for jar in sorted(jars.glob(f"{name}.jar"))
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [javac(), *OPTIONS, "-cp", class_path, "-d", folder, *map(str, sources())]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if done.returncode:
            fail(done.stdout.decode(errors="replace").rstrip() + "\n\nThe Java does not compile.")
        classes = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in Path(folder).rglob("*.class")
        }
    return write_jar(classes, version)


def write_jar(classes: Mapping[str, bytes], version: str) -> bytes:
    digest = sources_hash()  # in two lines, because a manifest's are at most 72 characters long
    manifest = (
        "Manifest-Version: 1.0\r\n"
        f"Sources-SHA256: {digest[:32]}\r\n {digest[32:]}\r\n"
        f"Javac-Version: {version}\r\n"
        f"Spark-Version: {version_of('pyspark')}\r\n"
        f"Premain-Class: {AGENT}\r\n\r\n"
    )
    jar = io.BytesIO()
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_entry(MANIFEST), manifest)
        for name, content in sorted(classes.items()):
            archive.writestr(_entry(name), content)
    return jar.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, DATE)
    entry.create_system = 3  # the same on every system
    entry.external_attr = 0o644 << 16
    return entry


def read_manifest(jar: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(jar)) as archive:
        text = archive.read(MANIFEST).decode()
    lines = text.replace("\r\n ", "").splitlines()
    return {name: value for name, _, value in (line.partition(": ") for line in lines if line)}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EvergridError as error:
        sys.exit(f"\n{error.sentence()}")
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
