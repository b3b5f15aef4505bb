"""Read subject and expiry of a certificate, without a package for it (docs/decisions)."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
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


class Certificate(msgspec.Struct, frozen=True):
    """The subject, as Kafka writes names, and the expiry."""

    subject: str
    expires: datetime


def read_certificate(text: str) -> Certificate | None:
    """The first certificate in a PEM text, which is its owner's; None when it has none."""
    start, end = text.find(_BEGIN), text.find(_END)
    if start < 0 or end < start:
        return None
    try:
        content = ssl.PEM_cert_to_DER_cert(text[start : end + len(_END)])
        ((_, whole),) = _items(content)
        fields = [item for item in _items(next(_items(whole))[1]) if item[0] != _VERSION]
        _serial, _signature, _issuer, (_, validity), (_, subject), *_ = fields
        _begin, (kind, ends) = _items(validity)
        return Certificate(_name(subject), _time(kind, ends))
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


def _time(kind: int, text: bytes) -> datetime:
    written = "%y%m%d%H%M%SZ" if kind == _TWO_DIGIT_YEAR else "%Y%m%d%H%M%SZ"
    return datetime.strptime(text.decode(), written).replace(tzinfo=UTC)
