"""The certificate that a gateway shows, up to date with its files."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from evergrid.config.settings import Tls
from evergrid.gateway.access.file_stamp import Mark, mark
from evergrid.model.errors import ConfigError

LOOK_SECONDS = 1.0

_Marks = tuple[Mark | None, Mark | None]
_KEPT = "Until then the certificate that was read before is shown."


class Certificate:
    """Gives each new connection the newest good certificate; ConfigError when there is none.

    Connections go on with the one they began with. Files that go bad later change nothing:
    the last good ones count, and `report` is told once.
    """

    def __init__(self, files: Tls, report: Callable[[str], None]) -> None:
        self._files = files
        self._report = report
        self._said = ""
        self._seen = self._marks()
        self._read: _Marks | None = self._seen
        self._newest = _context(files)
        # A server keeps the context it began with, so that one lends each handshake the newest.
        # Reading new files into a context in use could leave it with half of them.
        self.context = _context(files)
        self.context.sni_callback = self._lend

    async def follow(self) -> None:
        """Keep up with the files for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.look()

    def look(self) -> None:
        """Take files that are new, and have stayed the same since the last look.

        Certificate and key are two files: whoever renews them writes one after the other.
        """
        before, self._seen = self._seen, self._marks()
        if self._seen == self._read or self._seen != before:
            return
        self._read = self._seen
        try:
            self._newest = _context(self._files)
        except ConfigError as error:
            # It may have been for want of file handles: the next look tries again.
            self._read = None
            self._say(f"{error.sentence()} {_KEPT}")
        else:
            self._say(f"New connections get the new certificate of {self._files.certificate}.")

    def _lend(self, handshake: ssl.SSLObject, _name: str | None, _of: ssl.SSLContext) -> None:
        handshake.context = self._newest

    def _marks(self) -> _Marks:
        return mark(self._files.certificate), mark(self._files.key)

    def _say(self, sentence: str) -> None:
        if sentence != self._said:
            self._report(sentence)
        self._said = sentence


def _context(files: Tls) -> ssl.SSLContext:
    for path in (files.certificate, files.key):
        try:
            path.read_bytes()
        except OSError as error:
            raise ConfigError(
                f"{path} cannot be read ({error.strerror})",
                where="gateway.tls",
                remedy="Name PEM files that this user may read.",
            ) from error
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(files.certificate, files.key, password="")
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"{files.certificate} and {files.key} are no certificate with its key ({error})",
            where="gateway.tls",
            remedy="Name a PEM certificate with its chain, and its private key without password.",
        ) from error
    return context
