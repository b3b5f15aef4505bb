"""The built web app as it lies in the package, read once and ready to be sent.

Everything is held in memory, packed once: at a request nothing is looked up on the disk, so
no address can name a file that is not the app's.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from evergrid.model.errors import ConfigError

FOLDER = Path(__file__).resolve().parent.parent / "web"
INDEX = "/index.html"
CLIENT = "/client.js"
# Stands in the page where each answer has a word of its own, by which its styles are known.
NONCE_MARK = b"evergrid-nonce"

_MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_OTHER = "application/octet-stream"
_PACKABLE = frozenset((".css", ".html", ".ico", ".js", ".json", ".svg", ".txt", ".webmanifest"))
# A name that the build made from what is in the file never stands for anything else.
_HASHED = re.compile(r"/(?:chunk|main|styles|polyfills|media/.+)-[\w-]{8}\.[a-z0-9]+")
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"


class Asset(msgspec.Struct, frozen=True):
    """One file; `packed` by gzip, empty where that does not pay; `tag` says what is in it."""

    body: bytes
    packed: bytes
    media: str
    tag: str
    cache: str


class Assets(msgspec.Struct, frozen=True):
    """All files by their address; `page` is cut where the nonce goes, empty when not built."""

    files: Mapping[str, Asset]
    page: tuple[bytes, ...]


@functools.cache
def load(folder: Path) -> Assets:
    """The files of a folder; none when there is no page in it, for half an app is none."""
    index = folder / INDEX[1:]
    if not index.is_file():
        return Assets({}, ())
    paths = {
        f"/{path.relative_to(folder).as_posix()}": path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != index
    }
    try:
        files = {address: _asset(address, path) for address, path in paths.items()}
        return Assets(files, tuple(index.read_bytes().split(NONCE_MARK)))
    except OSError as error:
        raise ConfigError(
            f"a file of the web page cannot be read ({error.strerror})",
            where=str(error.filename),
            remedy="Let this user read it, or install Evergrid anew.",
        ) from error


def _asset(address: str, path: Path) -> Asset:
    body = path.read_bytes()
    packed = gzip.compress(body, mtime=0) if path.suffix in _PACKABLE else b""
    return Asset(
        body=body,
        packed=packed if len(packed) < len(body) else b"",
        media=_MEDIA.get(path.suffix, _OTHER),
        tag=hashlib.sha256(body).hexdigest()[:32],
        cache=_FOREVER if _HASHED.fullmatch(address) else _ASK_AGAIN,
    )
