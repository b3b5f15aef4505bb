"""`evergrid check`: whether this configuration can run on this machine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from evergrid.broker import jars
from evergrid.cli.connection_checks import BOTH, ConnectionChecks, Finding, Part, Parts, finding
from evergrid.cli.exit_codes import FAILED, OK
from evergrid.cli.preflight import check_disk, check_memory
from evergrid.config import show
from evergrid.config.settings import Gateway, Settings, Tls
from evergrid.gateway.access.key_file import read_keys
from evergrid.gateway.access.origin_policy import check_binding
from evergrid.gateway.access.server_certificate import ServerCertificate
from evergrid.kafka.certificates import read_certificate
from evergrid.model.errors import ConfigError
from evergrid.pipeline.java_client import JavaClient
from evergrid.process.java import java_command

HELP = "check whether this configuration can run here: settings, Java, Kafka, topics"

_MINUTE = "%Y-%m-%d %H:%M UTC"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--for",
        dest="part",
        choices=[part.value for part in Part],
        help="check only what this part needs, with its permissions on Kafka (default: both)",
    )


def run(settings: Settings, options: argparse.Namespace) -> int:
    print(show(settings), flush=True)
    problems = 0
    parts = frozenset({Part(options.part)}) if options.part else BOTH
    for found in _findings(settings, parts):
        problems += not found.ok
        print(f"{'✓' if found.ok else '✗'} {found.text}", flush=True)
    print()
    if not problems:
        print("All checks passed: this configuration can run here.")
        return OK
    print(f"{problems} {'problem' if problems == 1 else 'problems'} to solve first.")
    return FAILED


def _findings(settings: Settings, parts: Parts) -> Iterator[Finding]:
    """Check what these parts need, one after the other; nothing is left behind."""
    if Part.GATEWAY in parts:
        yield from _gateway(settings.gateway)
    if Part.PIPELINE not in parts:
        yield from ConnectionChecks(settings, None, parts).findings()
        return
    java = finding(lambda: f"Java: {java_command()}")
    yield java
    libraries = _libraries()
    yield Finding(True, libraries or _to_be_downloaded())
    yield finding(lambda: _writable(settings.data_dir))
    yield finding(lambda: _disk(settings.data_dir))
    yield finding(lambda: _memory(settings))
    if java.ok and libraries:
        with JavaClient(jars.fetch()) as client:
            yield from ConnectionChecks(settings, client, parts).findings()
    else:
        yield from ConnectionChecks(settings, None, parts).findings()


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
    if read.expires < datetime.now(UTC):
        raise ConfigError(
            f"certificate {files.certificate} expired at {read.expires:{_MINUTE}}",
            where="gateway.tls",
            remedy="Put a new one there; a running gateway reloads it automatically.",
        )
    expires = f"{read.expires:{_MINUTE}}"
    return f"Gateway certificate {files.certificate}: with its key, valid until {expires}"


def _keys(path: Path) -> str:
    keys = read_keys(path).keys if path.exists() else ()
    if not keys:
        return f"Gateway keys: none yet in {path}; evergrid key create NAME makes one"
    return f"Gateway keys: {'1 key' if len(keys) == 1 else f'{len(keys)} keys'} in {path}"


def _libraries() -> str:
    """Where the Java libraries are; empty when they are missing.

    Looks only at names: a file gets its name after it was verified.
    """
    wanted = jars.read_lock(jars.LOCK_FILE.read_text())
    for folder in sorted(jars.cache_dir().glob("jars-*")):
        if all((folder / name).is_file() for name in wanted):
            return f"Java libraries: in {folder}"
    return ""


def _to_be_downloaded() -> str:
    return (
        f"Java libraries: the first start downloads 50 MB to {jars.cache_dir()}; Kafka is checked "
        "with the Python client alone"
    )


def _writable(directory: Path) -> str:
    place = _nearest(directory)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        kind = "is not a directory" if not place.is_dir() else "cannot be written to"
        raise ConfigError(
            f"{place} {kind}",
            where=f"data_dir {directory}",
            remedy="Set data_dir to a directory of yours.",
        )
    state = "can be written to" if place == directory else "can be made"
    return f"data_dir {directory}: {state}"


def _disk(directory: Path) -> str:
    check_disk(_nearest(directory))
    return f"Disk: enough space for {directory}"


def _memory(settings: Settings) -> str:
    check_memory(settings)
    return f"Memory: enough for spark.driver_memory {settings.spark.driver_memory}"


def _nearest(path: Path) -> Path:
    """The path itself, or its nearest parent that exists."""
    return next((part for part in (path, *path.parents) if part.exists()), Path(path.anchor))
