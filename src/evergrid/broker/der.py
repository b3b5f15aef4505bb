"""Writing DER and PEM: the few words of ASN.1 that keys and certificates are made of."""

from __future__ import annotations

import base64
import textwrap
from datetime import UTC, datetime

_TAG_BITS = 0x1F
_SEQUENCE, _SET = 0x30, 0x31
_CONTEXT, _CONSTRUCTED = 0x80, 0x20


def sequence(*parts: bytes) -> bytes:
    return tagged(_SEQUENCE, b"".join(parts))


def set_of(*parts: bytes) -> bytes:
    return tagged(_SET, b"".join(parts))


def integer(number: int) -> bytes:
    # One bit more than the number has, for the sign.
    return tagged(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def boolean(value: bool) -> bytes:
    return tagged(0x01, b"\xff" if value else b"\x00")


def bit_string(content: bytes, unused_bits: int = 0) -> bytes:
    return tagged(0x03, bytes([unused_bits]) + content)


def octet_string(content: bytes) -> bytes:
    return tagged(0x04, content)


def null() -> bytes:
    return tagged(0x05, b"")


def utf8(text: str) -> bytes:
    return tagged(0x0C, text.encode())


def time(moment: datetime) -> bytes:
    """Certificates write years before 2050 with two digits, later ones with four."""
    utc = moment.astimezone(UTC)
    if utc.year < 2050:
        return tagged(0x17, f"{utc:%y%m%d%H%M%SZ}".encode())
    return tagged(0x18, f"{utc:%Y%m%d%H%M%SZ}".encode())


def oid(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    content = bytes([40 * first + second])
    for number in rest:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.append(number & 0x7F | 0x80)
        content += bytes(reversed(digits))
    return tagged(0x06, content)


def context(number: int, content: bytes, *, constructed: bool = False) -> bytes:
    """A field known by its number, as in `[0] EXPLICIT` and in alternatives."""
    return tagged(_CONTEXT | (_CONSTRUCTED if constructed else 0) | number & _TAG_BITS, content)


def tagged(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def pem(label: str, content: bytes) -> str:
    lines = textwrap.wrap(base64.b64encode(content).decode(), 64)
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""))
