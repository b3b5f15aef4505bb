"""Restore the line breaks of PEM text.

A `\\` at the end of each line in a `.properties` file, YAML's `>-` or an environment variable make
one line of a certificate. OpenSSL, which the Python client uses, cannot read it; Java can if there
are blanks, but reads only the last of several certificates.
"""

from __future__ import annotations

import re

_BEGIN = "-----BEGIN "
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")
_WHOLE = re.compile(r"\r?\n(?:[A-Za-z0-9+/=]+\r?\n)+")
_WIDTH = 64


def restore_line_breaks(text: str) -> str:
    """`text` with a line break wherever PEM needs one; anything else stays as it is."""
    if _BEGIN not in text:
        return text
    spelled = text.replace("\\r", "").replace(
        "\\n", "\n"
    )  # written as two characters, in variables
    found = _BLOCK.sub(_block, spelled)
    return text if found == text else re.sub(r"\s*\n\s*", "\n", found).strip()


def blocks(text: str) -> str:
    """The PEM blocks in `text`, without comments around them."""
    return "\n".join(found[0] for found in _BLOCK.finditer(text))


def _block(found: re.Match[str]) -> str:
    label, body = found[1], found[2]
    if _WHOLE.fullmatch(body) or not _BASE64.fullmatch(body):
        return found[0]
    letters = "".join(body.split())
    lines = [letters[at : at + _WIDTH] for at in range(0, len(letters), _WIDTH)]
    return "\n".join(("", f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""))
