"""Reading Java's own kinds of key and trust stores for a client that cannot.

The certificates of a trust store are asked of Java's `keytool`, which every Java brings.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from pathlib import Path

from evergrid.kafka.java import java_home
from evergrid.model.errors import ConfigError

_PASSWORD = "EVERGRID_STORE_PASSWORD"  # for keytool; a command line can be read by everybody
_SECONDS = 60.0
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", re.DOTALL)
_PKCS12 = b"\x30"  # how its files begin, while those of JKS begin with FE ED


def is_pkcs12(path: str) -> bool:
    """Whether a file is of this kind, which Java reads under the name of JKS as well."""
    try:
        with open(path, "rb") as file:
            return file.read(1) == _PKCS12
    except OSError:
        return False


def certificates(path: str, password: str) -> str:
    """All certificates in a trust store of any kind that Java knows, as PEM; else ConfigError."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror})") from None
    return _listed(path, password, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=16)
def _listed(path: str, password: str, _changed: int, _size: int) -> str:
    command = [str(_keytool()), "-list", "-rfc", "-keystore", path]
    if password:
        command += ["-storepass:env", _PASSWORD]
    try:
        done = subprocess.run(
            command,
            input="\n",  # to a question for a password that there is none of
            capture_output=True,
            text=True,
            env={**os.environ, _PASSWORD: password, "LC_ALL": "C.UTF-8"},
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"Java's keytool could not be run ({type(error).__name__})") from None
    texts = _CERTIFICATE.findall(done.stdout)
    if done.returncode or not texts:
        told = next((line for line in done.stdout.splitlines() if "xception: " in line), "")
        reason = told.rpartition("xception: ")[2] or "there is no certificate in it"
        raise ConfigError(f"Java's keytool cannot read {path} ({reason})")
    return "".join(texts)


def _keytool() -> Path:
    return java_home() / "bin" / "keytool"
