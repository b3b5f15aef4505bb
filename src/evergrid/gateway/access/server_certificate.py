"""The gateway's TLS certificate, reloaded when its files change."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from evergrid.config.settings import Tls
from evergrid.gateway.access.file_stamp import FileStamp, file_stamp
from evergrid.model.errors import ConfigError

CHECK_SECONDS = 1.0

_FileStamps = tuple[FileStamp | None, FileStamp | None]
_KEPT = "Until then the certificate read before is used."


class ServerCertificate:
    """Gives each new connection the newest valid certificate; ConfigError if there is none.

    Open connections keep theirs. If the files become invalid later, the last valid certificate
    stays, and `report` is called once.
    """

    def __init__(self, files: Tls, report: Callable[[str], None]) -> None:
        self._files = files
        self._report = report
        self._reported = ""
        self._seen = self._stamps()
        self._loaded: _FileStamps | None = self._seen
        self._newest = _context(files)
        # A server keeps its first context, so that one gives each handshake the newest.
        # Loading new files into a context in use could leave it with half of them.
        self.context = _context(files)
        self.context.sni_callback = self._use_newest

    async def watch(self) -> None:
        """Reload the files when they change; runs until cancelled."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self.reload()

    def reload(self) -> None:
        """Load the files if they are new and have not changed since the last check.

        The certificate and its key are two files, usually written one after the other.
        """
        before, self._seen = self._seen, self._stamps()
        if self._seen == self._loaded or self._seen != before:
            return
        self._loaded = self._seen
        try:
            self._newest = _context(self._files)
        except ConfigError as error:
            # The cause may be a lack of file handles: the next check tries again.
            self._loaded = None
            self._report_new(f"{error.sentence()} {_KEPT}")
        else:
            text = f"New connections get the new certificate of {self._files.certificate}."
            self._report_new(text)

    def _use_newest(self, handshake: ssl.SSLObject, _name: str | None, _: ssl.SSLContext) -> None:
        handshake.context = self._newest

    def _stamps(self) -> _FileStamps:
        return file_stamp(self._files.certificate), file_stamp(self._files.key)

    def _report_new(self, sentence: str) -> None:
        if sentence != self._reported:
            self._report(sentence)
        self._reported = sentence


def _context(files: Tls) -> ssl.SSLContext:
    for path in (files.certificate, files.key):
        try:
            path.read_bytes()
        except OSError as error:
            raise ConfigError(
                f"{path} cannot be read ({error.strerror})",
                where="gateway.tls",
                remedy="Set it to PEM files that this user may read.",
            ) from error
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(files.certificate, files.key, password="")
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"invalid certificate or key in {files.certificate} and {files.key} ({error})",
            where="gateway.tls",
            remedy="Set it to a PEM certificate with its chain, and its private key without a "
            "password.",
        ) from error
    return context
