"""The files of the built web app, read and compressed once at the start.

A request never reads the disk, so no path can reach a file that is not part of the app.
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
# A placeholder in the page, which each response replaces with its own nonce.
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
# A file whose name contains a hash of its contents never changes.
_HASHED = re.compile(r"/(?:chunk|main|styles|polyfills|media/.+)-[\w-]{8}\.[a-z0-9]+")
_FOREVER = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"


class Asset(msgspec.Struct, frozen=True):
    """One file; `packed` is its gzip, or empty if that is no smaller; `tag` is its ETag."""

    body: bytes
    packed: bytes
    media: str
    tag: str
    cache: str


class Assets(msgspec.Struct, frozen=True):
    """All files by path; `page` is split where the nonce goes, and empty if there is no build."""

    files: Mapping[str, Asset]
    page: tuple[bytes, ...]


@functools.cache
def load(folder: Path) -> Assets:
    """The files of a folder; serves nothing if index.html is missing."""
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
            remedy="Let this user read it, or reinstall Evergrid.",
        ) from error


def _asset(address: str, path: Path) -> Asset:
    body = path.read_bytes()
    packed = gzip.compress(body, mtime=0) if path.suffix in _PACKABLE else b""
    return Asset(
        body=body,
        packed=packed if len(packed) < len(body) else b"",
        media=_MEDIA.get(path.suffix, _OTHER),
        tag=hashlib.sha256(body).hexdigest()[:32],
        cache=_FOREVER if _HASHED.fullmatch(address) else _REVALIDATE,
    )
