"""The audit log is private, bounded, and never makes anybody wait."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evergrid.config.settings import Audit
from evergrid.gateway.access import audit_log
from evergrid.gateway.access.audit_log import (
    NOT_WRITTEN,
    QUEUE_FULL,
    QUEUED,
    AuditEntry,
    AuditEvent,
    AuditLog,
)
from tests.disks import fill, small_disk
from tests.gateway.caller import wait_until


class Bench:
    """An audit log, what is in its file, and what it told."""

    def __init__(self, path: Path, size: int = 2**20, files: int = 3) -> None:
        self.path = path
        self.told: list[str] = []
        self.log = AuditLog(Audit(path, size, files), self.told.append)

    def entries(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def refuse(self, address: str) -> None:
        self.log.add_repeated(AuditEntry(AuditEvent.REFUSED, address=address, reason="bad_key"))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "log" / "audit.jsonl")
    yield made
    made.log.close()


def login(number: int) -> AuditEntry:
    return AuditEntry(AuditEvent.LOGIN, key=f"key{number}", address="10.0.0.1")


def test_an_entry_is_a_line_with_its_time_in_a_private_file(bench: Bench) -> None:
    bench.log.gateway = "abc"
    bench.log.add(login(1))
    bench.log.close()
    (entry,) = bench.entries()
    assert entry.pop("at").endswith("+00:00")
    assert entry == {"event": "login", "key": "key1", "address": "10.0.0.1", "gateway": "abc"}
    assert stat.S_IMODE(bench.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(bench.path.parent.stat().st_mode) == 0o700


def test_files_are_rotated_by_size_and_the_oldest_goes(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "audit.jsonl", size=2**16, files=3)
    for number in range(4000):
        bench.log.add(login(number))
        if number % 100 == 0:
            wait_until(bench.log._queue.empty, "the disk")
    bench.log.close()
    found = sorted(tmp_path.iterdir())
    assert [file.name for file in found] == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    keys = []
    for file in reversed(found):
        assert file.stat().st_size <= 2**16
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        keys += [json.loads(line)["key"] for line in file.read_text().splitlines()]
    assert keys == [f"key{number}" for number in range(4000 - len(keys), 4000)]
    assert not bench.log.lost


def test_several_gateways_write_to_one_file_and_rotate_it(tmp_path: Path) -> None:
    benches = [Bench(tmp_path / "audit.jsonl", size=2**16, files=100) for _ in range(3)]

    def write(name: str, bench: Bench) -> None:
        for number in range(1000):
            bench.log.add(AuditEntry(AuditEvent.LOGIN, key=f"{name}-{number}"))
        bench.log.close()

    threads = [
        threading.Thread(target=write, args=(str(number), bench))
        for number, bench in enumerate(benches)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for bench in benches:
        bench.log._thread.join()
    lines = [line for file in tmp_path.iterdir() for line in file.read_text().splitlines()]
    assert sorted(json.loads(line)["key"] for line in lines) == sorted(
        f"{name}-{number}" for name in range(3) for number in range(1000)
    )


def test_a_hundred_thousand_refusals_leave_a_few_lines(bench: Bench) -> None:
    for number in range(50_000):
        bench.refuse("10.0.0.1")
        bench.refuse(f"10.0.{number % 1000 // 250}.{number % 250}")
    bench.log.add(login(1))
    bench.log.close()
    entries = bench.entries()
    assert len(entries) < 250
    assert bench.path.stat().st_size < 50_000
    refused = [entry for entry in entries if entry["event"] == "refused"]
    assert sum(entry.get("count", 1) for entry in refused) == 100_000
    assert any("address" not in entry for entry in refused)  # of all addresses that are too many
    assert sum(entry["event"] == "login" for entry in entries) == 1


def test_repeats_are_written_while_it_runs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "REPEAT_SECONDS", 0.0)
    bench.log._repeats_due = 0.0
    for _ in range(5):
        bench.refuse("10.0.0.1")
    wait_until(lambda: sum(entry.get("count", 1) for entry in bench.entries()) == 5, "all five")
    bench.refuse("10.0.0.1")  # a minute later it is told at once again
    wait_until(lambda: sum(entry.get("count", 1) for entry in bench.entries()) == 6, "one more")


def test_a_disk_that_stands_still_makes_nobody_wait(tmp_path: Path) -> None:
    pipe = tmp_path / "audit.jsonl"
    os.mkfifo(pipe)  # opening it waits for a reader
    bench = Bench(pipe)
    began = time.monotonic()
    for number in range(QUEUED + 2000):
        bench.log.add(login(number))
    assert time.monotonic() - began < 10.0
    assert 0 < bench.log.lost[QUEUE_FULL] <= 2000
    (line,) = bench.told
    assert "audit log" in line
    assert "too slow" in line
    bench.log.close()  # does not wait for ever either


def test_a_full_disk_is_told_counted_and_survived(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", megabytes=1):
        bench = Bench(tmp_path / "disk" / "audit.jsonl")
        bench.log.add(login(0))
        wait_until(lambda: len(bench.entries()) == 1, "the first entry")
        ballast = fill(tmp_path / "disk")
        for number in range(200):
            bench.log.add(login(number))
            bench.log.add(login(number))
        wait_until(lambda: bench.log.lost[NOT_WRITTEN] > 0, "the loss")
        wait_until(bench.log._queue.empty, "the queue")
        assert "No space left on device" in bench.told[0]
        assert len(bench.told) == 1
        ballast.unlink()
        bench.log.add(AuditEntry(AuditEvent.LOGIN, key="later"))
        # Each line is whole: a part of one would not be JSON.
        wait_until(lambda: bench.entries()[-1].get("key") == "later", "room")
        bench.log.close()
        lost = sum(e.get("count", 1) for e in bench.entries() if e["event"] == "entries_lost")
        keys = [entry.get("key", "") for entry in bench.entries()]
        assert lost == bench.log.lost.total()
        assert sum(key.startswith("key") for key in keys) + lost == 401


def test_a_file_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench(tmp_path / "file" / "audit.jsonl")
    bench.log.add(login(1))
    wait_until(lambda: bench.log.lost[NOT_WRITTEN] == 1, "the loss")
    assert "gateway.audit.file" in bench.told[0]
    bench.log.close()
