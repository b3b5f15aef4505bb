"""The audit log: who logged in, was refused, sent, downloaded or changed what, as JSON lines.

It never has a secret, a cell or any text that a client sends; what a client is known by is the name
of its key and its address. Entries are written in a thread of its own, so a slow disk makes no
client wait: entries that find no room are dropped and counted. Several gateways may share a file.
"""

from __future__ import annotations

import contextlib
import datetime
import enum
import errno
import itertools
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from evergrid.config.settings import Audit
from evergrid.gateway.access.private_file import MODE, lock_parent
from evergrid.model.control_request import Request

QUEUED = 10_000  # entries that wait for the disk
WRITTEN_AT_ONCE = 100
REPEAT_SECONDS = 60.0
TOLD_SECONDS = 60.0
CLOSE_SECONDS = 2.0

QUEUE_FULL, NOT_WRITTEN = "queue_full", "not_written"  # why an entry is lost

_TICK_SECONDS = 0.5
_encoder = msgspec.json.Encoder()


class AuditEvent(enum.Enum):
    LOGIN = "login"
    REFUSED = "refused"
    CONTROL = "control"
    EXPORT = "export"
    KEY_ADDED = "key_added"
    KEY_REMOVED = "key_removed"
    KEY_ROTATED = "key_rotated"
    KEY_CHANGED = "key_changed"
    KEY_EXPIRED = "key_expired"
    SESSION_ENDED = "session_ended"
    ENTRIES_LOST = "entries_lost"


# Different entries of one minute; further ones are counted without key and address. Nobody needs
# a key to be refused, so there a limit keeps an attacker from filling the disk.
_MOST = {AuditEvent.REFUSED: 100}
_MOST_OF_OTHERS = 10_000


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line; fields that say nothing are left out.

    at, gateway   the time, and the instance of the gateway that writes it
    key, address  who it was: the name of the key, and the client's address
    session       the WebSocket's session; `of_key` is the key of a session that was ended
    reason        why something was refused: an error code, or a limit
    request       what a control message asks for; `message` is its position on the topic
    count         of entries that were equal, or lost, since the last line
    """

    event: AuditEvent
    at: str = ""
    gateway: str = ""
    key: str = ""
    address: str = ""
    session: str = ""
    of_key: str = ""
    reason: str = ""
    request: Request | None = None
    message: str = ""
    table: str = ""
    format: str = ""
    rows: int = 0
    is_complete: bool = msgspec.field(default=True, name="complete")
    count: int = 1


class AuditLog:
    """`add` never waits and never fails; `lost` counts entries that are not in the file."""

    def __init__(self, settings: Audit, log: Callable[[str], None]) -> None:
        self._settings = settings
        self._log = log
        self.gateway = ""
        self.lost: Counter[str] = Counter()
        self._lost_before = 0  # those that the file tells of
        self._told_at = -TOLD_SECONDS
        self._queue: queue.Queue[AuditEntry] = queue.Queue(QUEUED)
        self._lock = threading.Lock()
        self._repeated: dict[AuditEntry, tuple[int, int]] = {}  # how many more, and their rows
        self._different: Counter[AuditEvent] = Counter()
        self._repeats_due = time.monotonic() + REPEAT_SECONDS
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evergrid-audit", daemon=True)
        self._thread.start()

    def add(self, entry: AuditEntry) -> None:
        try:
            self._queue.put_nowait(self._stamped(entry))
        except queue.Full:
            self.lost[QUEUE_FULL] += 1
            self._tell("the disk is too slow for it")

    def add_repeated(self, entry: AuditEntry) -> None:
        """Add the first of equal entries at once, and the others of a minute as one."""
        same = msgspec.structs.replace(entry, session="", rows=0)
        with self._lock:
            most = _MOST.get(entry.event, _MOST_OF_OTHERS)
            if same not in self._repeated and self._different[entry.event] >= most:
                entry = same = AuditEntry(entry.event, reason=entry.reason)
            if counted := self._repeated.get(same):
                self._repeated[same] = counted[0] + 1, counted[1] + entry.rows
                return
            self._repeated[same] = 0, 0
            self._different[entry.event] += 1
        self.add(entry)

    def key_changed(self, event: AuditEvent, key: str, reason: str = "") -> None:
        self.add(AuditEntry(event, key=key, reason=reason))

    def close(self) -> None:
        """Write what waits; give up after some seconds if the disk does not take it."""
        self._stopping.set()
        self._thread.join(CLOSE_SECONDS)

    def _stamped(self, entry: AuditEntry) -> AuditEntry:
        at = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        return msgspec.structs.replace(entry, at=at, gateway=self.gateway)

    # The thread

    def _run(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._stopping.is_set()
            entries = self._next_entries(0.0 if is_last else _TICK_SECONDS)
            if is_last or time.monotonic() >= self._repeats_due:
                entries += self._repeats()
            while entries:
                self._write(entries)
                entries = self._next_entries(0.0)

    def _next_entries(self, seconds: float) -> list[AuditEntry]:
        entries: list[AuditEntry] = []
        with contextlib.suppress(queue.Empty):
            if seconds:
                entries.append(self._queue.get(timeout=seconds))
            while len(entries) < WRITTEN_AT_ONCE:
                entries.append(self._queue.get_nowait())
        return entries

    def _repeats(self) -> list[AuditEntry]:
        self._repeats_due = time.monotonic() + REPEAT_SECONDS
        with self._lock:
            repeated, self._repeated = self._repeated, {}
            self._different.clear()
        return [
            self._stamped(msgspec.structs.replace(entry, count=count, rows=rows))
            for entry, (count, rows) in repeated.items()
            if count
        ]

    def _write(self, entries: Sequence[AuditEntry]) -> None:
        lost = self.lost.total()
        lines = list(entries)
        if missing := lost - self._lost_before:
            lines.insert(0, self._stamped(AuditEntry(AuditEvent.ENTRIES_LOST, count=missing)))
        try:
            _append(self._settings, _encoder.encode_lines(lines))
        except OSError as error:
            self.lost[NOT_WRITTEN] += len(entries)
            self._tell(error.strerror or type(error).__name__)
        else:
            self._lost_before = lost

    def _tell(self, reason: str) -> None:
        now = time.monotonic()
        if now - self._told_at < TOLD_SECONDS:
            return
        self._told_at = now
        self._log(
            f"Warning: the audit log {self._settings.file} lacks {self.lost.total()} entries: "
            f"{reason}. The gateway goes on. Free some space, or set gateway.audit.file to "
            "another one. /metrics counts them as audit_lost."
        )


def _append(settings: Audit, lines: bytes) -> None:
    """Append whole lines or nothing; OSError if that is not possible."""
    path = settings.file
    lock = lock_parent(path)
    try:
        with contextlib.suppress(FileNotFoundError):
            size = path.stat().st_size
            if size and size + len(lines) > settings.file_bytes:
                _rotate(path, settings.files)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, MODE)
        try:
            os.fchmod(file, MODE)
            size = os.fstat(file).st_size
            try:
                if os.write(file, lines) < len(lines):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                os.ftruncate(file, size)
                raise
        finally:
            os.close(file)
    finally:
        os.close(lock)


def _rotate(path: Path, files: int) -> None:
    """Rename each file to the next number; the last one is replaced."""
    names = [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, files))]
    for newer, older in reversed(list(itertools.pairwise(names))):
        with contextlib.suppress(FileNotFoundError):
            os.replace(newer, older)
