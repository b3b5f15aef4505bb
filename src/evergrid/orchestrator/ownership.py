"""Which pipeline may write: one for each prefix of topics, and the broker enforces that.

The owner writes with the transactional id of its prefix (`FencedWriter`), and its record in the
manifest says who it is. A pipeline that was paused or cut off while another took over cannot write
any more, and ends.

1. A start follows the manifest until the owner has ended: it said that it ends, it had the lock
   that this process has now, or nothing was written for 20 seconds. That is seen, never computed
   from times that another machine wrote.
2. A new producer begins: from now on the broker refuses the records of the owner before.
3. The manifest must still name that owner, or another start was quicker: then back to 1.
4. The new owner's record is written.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import threading
import time
from collections.abc import Callable
from datetime import datetime

import msgspec

from evergrid.changelog.internal_topics import manifest_spec, manifest_topic, owner_id
from evergrid.changelog.manifest import Manifest, Owner
from evergrid.changelog.reader import TopicReader, fold, load_manifest, read_up_to
from evergrid.changelog.writer import FencedWriter, ManifestWriter, WriterFenced
from evergrid.config.settings import Connection, Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import TopicWatch
from evergrid.model.errors import ConfigError, LinkError
from evergrid.orchestrator.generations import now
from evergrid.process.backoff import Backoff

SILENT_SECONDS = 20.0  # four heartbeats
_LOOK_SECONDS = 1.0
_LONGEST_LOOK_SECONDS = 3.0  # more was not observed: this process stood still
_RELEASE_SECONDS = 3.0
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 8.0

Say = Callable[[str], None]


class OwnershipLost(LinkError):
    """Another pipeline has taken over."""


class Ownership:
    """This process's right to write, from `acquire` until `close`.

    `lock` is the descriptor that holds the lock of the data directory.
    """

    def __init__(self, settings: Settings, lock: int, say: Say) -> None:
        self._settings = settings
        self._connection = settings.kafka.internal
        self._prefix = settings.internal_topics.prefix
        self._say = say
        self._host = socket.gethostname()
        found = os.fstat(lock)
        # As long as a process has it open, no other file gets its number.
        self._lock = f"{found.st_dev}:{found.st_ino}"
        self._last: Owner | None = None  # the owner that the manifest must name
        self._own: Owner | None = None
        self._lost: OwnershipLost | None = None

    def acquire(self, *, standby: bool) -> None:
        """Become the owner. While another pipeline is, wait; without `standby`, ConfigError."""
        topics.create(self._connection, [manifest_spec(self._settings.internal_topics)])
        backoff = Backoff(_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS, random.Random())
        while self._own is None:
            self._last = self._await_end(standby)
            try:
                self._take_over()
            except OwnershipLost:  # another standby was quicker
                backoff.reset()
            except WriterFenced:  # several try at once
                time.sleep(backoff.failed())

    def check(self) -> None:
        """OwnershipLost if the broker has refused a record, because another is the owner."""
        if self._lost is not None:
            raise self._lost

    def close(self) -> None:
        """End in order, so that another may take over at once; wait only briefly for the broker."""
        if self._own is None or self._lost is not None:
            return
        released = msgspec.structs.replace(self._own, released=True)
        thread = threading.Thread(target=self._release, args=(released,), daemon=True)
        thread.start()
        thread.join(_RELEASE_SECONDS)

    def _release(self, released: Owner) -> None:
        with contextlib.suppress(LinkError):  # the next owner waits until this one is silent
            ManifestWriter(self.writer, self._prefix).write(released)

    def _take_over(self) -> None:
        """Steps 2 to 4."""
        self.writer = FencedWriter(self._connection, owner_id(self._prefix), self._check_manifest)
        epoch = self._last.epoch + 1 if self._last else 1
        own = Owner(epoch, self._host, os.getpid(), self._lock, now())
        ManifestWriter(self.writer, self._prefix).write(own)
        self._last = self._own = own

    def _check_manifest(self) -> None:
        found = load_manifest(self._connection, self._prefix).owner
        if found == self._last:
            return
        lost = OwnershipLost(
            f"another pipeline has taken over the topics {self._prefix}.*: {_named(found)}",
            remedy="This one ends. Started again, it waits as a standby.",
        )
        if self._own is not None:
            self._lost = lost
        raise lost

    def _await_end(self, standby: bool) -> Owner | None:
        """Step 1; the owner that has ended, None if there was none."""
        follower = _ManifestFollower(self._connection, self._prefix)
        try:
            follower.look()
            silent, told, trouble = 0.0, None, ""
            while not self._has_ended(follower.manifest):
                owner = follower.manifest.owner
                if silent >= SILENT_SECONDS:
                    self._say(f"Taking over: {_named(owner)} writes nothing any more.")
                    return owner
                if _named(owner) != told:
                    told = _named(owner)
                    self._say(self._why_waiting(owner, standby))
                before = time.monotonic()
                time.sleep(_LOOK_SECONDS)
                try:
                    came = follower.look()
                    silent += min(time.monotonic() - before, _LONGEST_LOOK_SECONDS)
                    trouble = ""
                except LinkError as error:  # nobody can write while the broker is away
                    came, silent = False, 0.0
                    if error.sentence() != trouble:
                        self._say(f"{error.sentence()} Waiting on.")
                    trouble = error.sentence()
                if came:
                    silent = 0.0
                    if not standby and not self._has_ended(follower.manifest):
                        raise self._refusal(follower.manifest.owner)
            if told:
                self._say(f"Taking over: {_named(follower.manifest.owner)} has ended.")
            return follower.manifest.owner
        finally:
            follower.close()

    def _why_waiting(self, owner: Owner | None, standby: bool) -> str:
        belong = f"The topics {self._prefix}.* belong to {_named(owner)}."
        if not standby:
            return f"{belong} Looking for {SILENT_SECONDS:.0f} s whether it is alive."
        return (
            f"{belong} Waiting as a standby: this pipeline takes over when that one ends, or has "
            f"written nothing for {SILENT_SECONDS:.0f} s."
        )

    def _refusal(self, owner: Owner | None) -> ConfigError:
        return ConfigError(
            f"the topics {self._prefix}.* belong to {_named(owner)}, which is alive",
            remedy="End that one first, choose another internal_topics.prefix, or start this one "
            "with --standby.",
        )

    def _has_ended(self, manifest: Manifest) -> bool:
        """Whether that is certain; otherwise only its silence tells."""
        owner = manifest.owner
        if owner is None:
            return not manifest.heartbeat  # an earlier version writes no owner
        return owner.released or (owner.host, owner.lock) == (self._host, self._lock)


class _ManifestFollower:
    """Reads the manifest as it grows."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        self._connection = connection
        self._topic = manifest_topic(prefix)
        self._ends = TopicWatch(connection)
        self._reader: TopicReader | None = None
        self.manifest = Manifest()

    def look(self) -> bool:
        """Read to the present end; whether records have come since the last look that succeeded.
        LinkError if no broker answers."""
        is_first = self._reader is None
        try:
            ends = {place: end for (_, place), end in self._ends.ends([self._topic]).items()}
            if self._reader is None:
                self.manifest = Manifest()
                self._reader = TopicReader(self._connection, {self._topic: dict.fromkeys(ends, 0)})
            batches = list(read_up_to(self._reader, self._topic, ends))
        except LinkError:
            self.close()
            raise
        self.manifest = fold(self.manifest, batches)
        return any(batches) and not is_first

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _named(owner: Owner | None) -> str:
    if owner is None:
        return "a pipeline that does not name itself"
    since = datetime.fromtimestamp(owner.since / 1_000_000)
    return f"the pipeline on {owner.host} (process {owner.pid}, since {since:%F %T})"
