"""Read Java's key and trust stores for the Python client, which cannot.

Java's `keytool`, which is part of every Java, lists the certificates of a trust store.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from pathlib import Path

import msgspec

from evergrid.model.errors import ConfigError
from evergrid.process.java import java_home

_PASSWORD = "EVERGRID_STORE_PASSWORD"  # for keytool; a command line can be read by everybody
_SECONDS = 60.0
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", re.DOTALL)
_PEM = b"-----BEGIN "
_PKCS12 = b"\x30"  # how its files begin, while those of JKS begin with FE ED


class Unreadable(ConfigError):
    """A store that cannot be read; `part` is the end of the property's name that is wrong, if it is
    one."""

    def __init__(self, what: str, part: str = "", remedy: str = "") -> None:
        self.part = part
        super().__init__(what, remedy=remedy)


def is_pkcs12(path: str) -> bool:
    """Whether a file is PKCS12, which Java also reads as type JKS; Unreadable when it cannot be
    opened."""
    return _file_state(path).beginning[:1] == _PKCS12


def certificates(path: str, password: str) -> str:
    """All certificates in a trust store of any kind that Java knows, as PEM; else Unreadable."""
    return _listed(path, password, _file_state(path))


class _FileState(msgspec.Struct, frozen=True):
    """How a file begins, and what differs when it was changed."""

    beginning: bytes
    changed: int
    size: int


def _file_state(path: str) -> _FileState:
    try:
        with open(path, "rb") as file:
            found, beginning = os.fstat(file.fileno()), file.read(len(_PEM))
    except OSError as error:
        remedy = "Correct the path, or let this user read the file."
        raise Unreadable(f"{path} cannot be read ({error.strerror})", "location", remedy) from None
    if beginning == _PEM:
        raise Unreadable(f"{path} is a PEM file, not a Java store", "type", "Set it to PEM.")
    return _FileState(beginning, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=16)
def _listed(path: str, password: str, _found: _FileState) -> str:
    command = [str(_keytool()), "-list", "-rfc", "-keystore", path]
    if password:
        command += ["-storepass:env", _PASSWORD]
    try:
        done = subprocess.run(
            command,
            input="\n",  # an empty password, if keytool asks for one
            capture_output=True,
            text=True,
            env={**os.environ, _PASSWORD: password, "LC_ALL": "C.UTF-8"},
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreadable(f"Java's keytool could not be run ({type(error).__name__})") from None
    texts = _CERTIFICATE.findall(done.stdout)
    if done.returncode or not texts:
        told = next((line for line in done.stdout.splitlines() if "xception: " in line), "")
        reason = told.rpartition("xception: ")[2] or "there is no certificate in it"
        part, remedy = ("password", "Correct it.") if "password was" in reason else ("", "")
        raise Unreadable(f"Java's keytool cannot read {path} ({reason})", part, remedy)
    return "".join(texts)


def _keytool() -> Path:
    try:
        return java_home() / "bin" / "keytool"
    except ConfigError as error:
        raise Unreadable(error.what) from None
