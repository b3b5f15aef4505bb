"""When each key was last used: a small file beside the key file, for `evergrid key list`."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from evergrid.gateway.access.private_file import lock_parent, replace_file

SAVE_SECONDS = 60.0

Times = dict[str, datetime.datetime]  # by hash: a rotated key has two secrets
_decoder = msgspec.json.Decoder(dict[str, Annotated[datetime.datetime, msgspec.Meta(tz=True)]])


class KeyUsage:
    """Collects uses, and adds them to the file; several gateways may share it."""

    def __init__(self, key_file: Path, report: Callable[[str], None]) -> None:
        self._path = usage_file(key_file)
        self._report = report
        self._is_reported = False
        self.times: Times = {}

    def take(self) -> Times:
        """The uses since the last call."""
        used, self.times = self.times, {}
        return used

    def save(self, used: Times, hashes: Collection[str]) -> None:
        """Add these uses to the file; secrets that are not in `hashes` are forgotten."""
        if not used:
            return
        try:
            lock = lock_parent(self._path)
            try:
                merged = _read(self._path)
                for name, time in used.items():
                    merged[name] = max(time, merged.get(name, time))
                known = {name: time for name, time in merged.items() if name in hashes}
                replace_file(self._path, msgspec.json.encode(known) + b"\n")
            finally:
                os.close(lock)
        except OSError as error:
            if not self._is_reported:
                self._is_reported = True
                self._report(
                    f"Warning: {self._path} cannot be written ({error.strerror}), so "
                    "`evergrid key list` does not know when keys were last used."
                )


def usage_file(key_file: Path) -> Path:
    return key_file.with_name(f"{key_file.stem}.used.json")


def last_uses(key_file: Path) -> Mapping[str, datetime.datetime]:
    """The last uses by hash, as far as they are known."""
    with contextlib.suppress(OSError):
        return _read(usage_file(key_file))
    return {}


def _read(path: Path) -> Times:
    try:
        return _decoder.decode(path.read_bytes())
    except (FileNotFoundError, msgspec.MsgspecError, ValueError):
        return {}  # a damaged file is replaced
