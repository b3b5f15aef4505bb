"""Certificates and keys: what a certificate says, PEM text, and Java's stores.

Subject and expiry are read without a package for it (docs/decisions). Java's `keytool`, which is
part of every Java, lists the certificates of a trust store for the Python client, which cannot.
"""

from __future__ import annotations

import functools
import os
import re
import ssl
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from evergrid.model.errors import ConfigError
from evergrid.process.java import java_home

_BEGIN = "-----BEGIN "
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
_WHOLE = re.compile(r"\r?\n(?:[A-Za-z0-9+/=]+\r?\n)+")
_WIDTH = 64

_LONG = 0x80  # bit of a length's first byte: the length is in so many more bytes
_VERSION = 0xA0
_TWO_DIGIT_YEAR = 0x17
# The parts of a name that are shown.
_PARTS = {
    b"\x55\x04\x03": "CN",
    b"\x55\x04\x0b": "OU",
    b"\x55\x04\x0a": "O",
    b"\x55\x04\x07": "L",
    b"\x55\x04\x08": "ST",
    b"\x55\x04\x06": "C",
}

_PASSWORD = "EVERGRID_STORE_PASSWORD"  # for keytool; a command line can be read by everybody
_KEYTOOL_SECONDS = 60.0
_PKCS12 = b"\x30"  # how its files begin, while those of JKS begin with FE ED


class Certificate(msgspec.Struct, frozen=True):
    """The subject, as Kafka writes names, and the expiry."""

    subject: str
    expires: datetime


def read_certificate(text: str) -> Certificate | None:
    """The first certificate in a PEM text, which is its owner's; None when it has none."""
    certificates = _certificates(text)
    if not certificates:
        return None
    try:
        ((_, whole),) = _items(ssl.PEM_cert_to_DER_cert(certificates[0]))
        fields = [item for item in _items(next(_items(whole))[1]) if item[0] != _VERSION]
        _serial, _signature, _issuer, (_, validity), (_, subject), *_ = fields
        _begin, (kind, ends) = _items(validity)
        written = "%y%m%d%H%M%SZ" if kind == _TWO_DIGIT_YEAR else "%Y%m%d%H%M%SZ"
        expires = datetime.strptime(ends.decode(), written).replace(tzinfo=UTC)
        return Certificate(_name(subject), expires)
    except (ValueError, IndexError, StopIteration):
        return None


def _items(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and content of each element of a DER sequence."""
    at = 0
    while at < len(content):
        tag, size, at = content[at], content[at + 1], at + 2
        if size & _LONG:
            digits = size & ~_LONG
            size, at = int.from_bytes(content[at : at + digits], "big"), at + digits
        yield tag, content[at : at + size]
        at += size


def _name(subject: bytes) -> str:
    found = []
    for _, part in _items(subject):
        for _, pair in _items(part):
            (_, kind), (_, value) = _items(pair)
            if kind in _PARTS:
                found.append(f"{_PARTS[kind]}={value.decode(errors='replace')}")
    return ",".join(reversed(found))


def restore_line_breaks(text: str) -> str:
    """`text` with a line break wherever PEM needs one; anything else stays as it is.

    A `\\` at the end of each line in a `.properties` file, YAML's `>-` or an environment variable
    make one line of a certificate. OpenSSL, which the Python client uses, cannot read it; Java can
    if there are blanks, but reads only the last of several certificates.
    """
    if _BEGIN not in text:
        return text
    spelled = text.replace("\\r", "").replace("\\n", "\n")  # two characters each, in variables
    found = _BLOCK.sub(_restored, spelled)
    return text if found == text else re.sub(r"\s*\n\s*", "\n", found).strip()


def _restored(found: re.Match[str]) -> str:
    label, body = found[1], found[2]
    if _WHOLE.fullmatch(body) or not _BASE64.fullmatch(body):
        return found[0]
    letters = "".join(body.split())
    lines = [letters[at : at + _WIDTH] for at in range(0, len(letters), _WIDTH)]
    return "\n".join(("", f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""))


def pem_blocks(text: str) -> str:
    """The PEM blocks in `text`, without comments around them."""
    return "\n".join(found[0] for found in _BLOCK.finditer(text))


def _certificates(text: str) -> list[str]:
    return [found[0] for found in _BLOCK.finditer(text) if found[1] == "CERTIFICATE"]


class UnreadableStore(ConfigError):
    """`part` is the end of the property's name that is wrong, if it is one."""

    def __init__(self, what: str, part: str = "", remedy: str = "") -> None:
        self.part = part
        super().__init__(what, remedy=remedy)


def is_pkcs12(path: str) -> bool:
    """Whether a file is PKCS12, which Java also reads as type JKS; else UnreadableStore."""
    beginning, *_ = _file_state(path)
    return beginning.startswith(_PKCS12)


def store_certificates(path: str, password: str) -> str:
    """All certificates in a trust store, as PEM; UnreadableStore when Java cannot read it."""
    return _listed(path, password, _file_state(path))


def _file_state(path: str) -> tuple[bytes, int, int]:
    """How a file begins, and what differs when it was changed."""
    try:
        with open(path, "rb") as file:
            found, beginning = os.fstat(file.fileno()), file.read(len(_BEGIN))
    except OSError as error:
        raise UnreadableStore(
            f"{path} cannot be read ({error.strerror})",
            "location",
            "Correct the path, or let this user read the file.",
        ) from None
    if beginning == _BEGIN.encode():
        raise UnreadableStore(f"{path} is a PEM file, not a Java store", "type", "Set it to PEM.")
    return beginning, found.st_mtime_ns, found.st_size


@functools.lru_cache(maxsize=16)
def _listed(path: str, password: str, _state: tuple[bytes, int, int]) -> str:
    try:
        command = [str(java_home() / "bin" / "keytool"), "-list", "-rfc", "-keystore", path]
        done = subprocess.run(
            command + (["-storepass:env", _PASSWORD] if password else []),
            input="\n",  # an empty password, if keytool asks for one
            capture_output=True,
            text=True,
            env={**os.environ, _PASSWORD: password, "LC_ALL": "C.UTF-8"},
            timeout=_KEYTOOL_SECONDS,
        )
    except ConfigError as error:
        raise UnreadableStore(error.what) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnreadableStore(f"Java's keytool could not be run ({type(error).__name__})") from None
    found = _certificates(done.stdout)
    if done.returncode or not found:
        told = next((line for line in done.stdout.splitlines() if "xception: " in line), "")
        reason = told.rpartition("xception: ")[2] or "there is no certificate in it"
        part, remedy = ("password", "Correct it.") if "password was" in reason else ("", "")
        raise UnreadableStore(f"Java's keytool cannot read {path} ({reason})", part, remedy)
    return "\n".join((*found, ""))
