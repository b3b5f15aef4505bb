"""`evergrid check`: whether this configuration can run on this machine."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from evergrid.broker import jars
from evergrid.cli.connection_checks import ConnectionChecks, Finding, finding
from evergrid.cli.exit_codes import FAILED, OK
from evergrid.cli.preflight import check_disk, check_memory, existing
from evergrid.cli.terminal import counted
from evergrid.config import show
from evergrid.config.settings import Gateway, Settings, Tls
from evergrid.gateway.access.key_file import read_keys
from evergrid.gateway.access.origin_policy import check_binding
from evergrid.gateway.access.server_certificate import ServerCertificate
from evergrid.kafka.certificates import read_certificate
from evergrid.model.errors import ConfigError
from evergrid.pipeline.java_client import java_client
from evergrid.process.java import java_command

_MINUTE = "%Y-%m-%d %H:%M UTC"
_WITHOUT_JAVA = "Kafka is checked with the Python client alone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--for",
        dest="part",
        choices=["pipeline", "gateway"],
        help="check only what this part needs, with its permissions on Kafka (default: both)",
    )


def run(settings: Settings, options: argparse.Namespace) -> int:
    print(show(settings), flush=True)
    problems = 0
    for found in _findings(settings, options.part):
        problems += not found.ok
        print(f"{'✓' if found.ok else '✗'} {found.text}", flush=True)
    print()
    if not problems:
        print("All checks passed: this configuration can run here.")
        return OK
    print(f"{counted(problems, 'problem')} to solve first.")
    return FAILED


def _findings(settings: Settings, part: str | None) -> Iterator[Finding]:
    """Check what this part needs, or both, one after the other; nothing is left behind."""
    if part != "pipeline":
        yield from _gateway(settings.gateway)
    with contextlib.ExitStack() as stack:
        client = None
        if part != "gateway":
            java = finding(lambda: f"Java: {java_command()}")
            yield java
            libraries = _libraries()
            where = f"the first start downloads 50 MB to {jars.cache_dir()}; {_WITHOUT_JAVA}"
            yield Finding(True, f"Java libraries: {f'in {libraries}' if libraries else where}")
            yield finding(lambda: _writable(settings.data_dir))
            yield finding(lambda: check_disk(settings.data_dir))
            yield finding(lambda: check_memory(settings))
            if java.ok and libraries:
                client = stack.enter_context(java_client(jars.fetch()))
        yield from ConnectionChecks(settings, client, for_pipeline=part != "gateway").findings()


def _gateway(gateway: Gateway) -> Iterator[Finding]:
    yield finding(lambda: _address(gateway))
    tls = gateway.tls
    if tls is not None:
        yield finding(lambda: _certificate(tls))
    yield finding(lambda: _keys(gateway.keys))


def _address(gateway: Gateway) -> str:
    check_binding(gateway)
    scheme = "https" if gateway.tls else "http"
    host = f"[{gateway.host}]" if ":" in gateway.host else gateway.host
    return f"Gateway: may serve at {scheme}://{host}:{gateway.port}"


def _certificate(files: Tls) -> str:
    ServerCertificate(files, report=lambda _: None)  # accepts only a certificate with its key
    read = read_certificate(files.certificate.read_text(errors="replace"))
    if read is None:
        raise ConfigError(
            f"certificate {files.certificate}: its expiry date cannot be read",
            where="gateway.tls",
            remedy="Name a PEM file whose first certificate is the gateway's own.",
        )
    expires = f"{read.expires:{_MINUTE}}"
    if read.expires < datetime.now(UTC):
        raise ConfigError(
            f"certificate {files.certificate} expired at {expires}",
            where="gateway.tls",
            remedy="Put a new one there; a running gateway reloads it automatically.",
        )
    return f"Gateway certificate {files.certificate}: with its key, valid until {expires}"


def _keys(path: Path) -> str:
    keys = read_keys(path).keys if path.exists() else ()
    if not keys:
        return f"Gateway keys: none yet in {path}; evergrid key create NAME makes one"
    return f"Gateway keys: {counted(len(keys), 'key')} in {path}"


def _libraries() -> Path | None:
    """Where the Java libraries are. Looks only at names: a file gets its name when verified."""
    wanted = jars.read_lock(jars.LOCK_FILE.read_text())
    folders = sorted(jars.cache_dir().glob("jars-*"))
    return next((f for f in folders if all((f / name).is_file() for name in wanted)), None)


def _writable(directory: Path) -> str:
    place = existing(directory)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        kind = "is not a directory" if not place.is_dir() else "cannot be written to"
        raise ConfigError(
            f"{place} {kind}",
            where=f"data_dir {directory}",
            remedy="Set data_dir to a directory of yours.",
        )
    state = "can be written to" if place == directory else "can be made"
    return f"data_dir {directory}: {state}"
