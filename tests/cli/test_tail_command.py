"""`evergrid tail`: a table's changes in a terminal, in a pipe, and until someone stops it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from tests.certificates import self_signed
from tests.cli.running_command import LIMIT, Running
from tests.client.people import person
from tests.handwritten_pipeline import HandwrittenPipeline
from tests.support.free_ports import free_port
from tests.support.local_gateway import LIMITS, LocalGateway

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.codec import Row
from evergrid.config import load
from evergrid.model.table import Table
from evergrid.protocol.messages import Live
from evergrid.testing.evergrid_process import EvergridProcess

TABLE = "users_ui"
USERS: Table = next(table for table in load(None, {}).raw_tables() if table.name == TABLE)
NARROW = 4

Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Tail(Running):
    """A running `evergrid tail`."""

    def until_started(self) -> None:
        """From here on, what comes is shown."""
        self.until(lambda out, _: out.count("\n") >= 2)

    def users(self) -> list[str]:
        """Of the new rows, which are of another day and so begin with mark, date and time."""
        return [line.split()[3] for line in self.out.splitlines() if line.startswith("+")]

    def stop(self) -> str:
        """Ctrl-C; what it had said."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(LIMIT) == 0, self.err
        assert self.err.splitlines()[-1] == "Stopped."
        return self.err


@pytest.fixture
def tail(tmp_path: Path, environ: dict[str, str]) -> Iterator[Callable[..., Tail]]:
    started: list[Tail] = []

    def start(*arguments: str) -> Tail:
        started.append(Tail(tmp_path, environ, "tail", *arguments))
        return started[-1]

    yield start
    for one in started:
        one.kill()


def greet(gateway: LocalGateway, environ: dict[str, str]) -> None:
    environ |= {"EVERGRID_URL": gateway.address, "EVERGRID_KEY": gateway.secret}


@pytest.fixture
def gateway(tmp_path: Path, environ: dict[str, str]) -> Iterator[LocalGateway]:
    """One with ten rows, which `environ` leads to."""
    with LocalGateway(tmp_path) as running:
        running.place(USERS, [person(number) for number in range(10)])
        greet(running, environ)
        yield running


@pytest.fixture
def narrow(tmp_path: Path, environ: dict[str, str]) -> Iterator[LocalGateway]:
    """One whose windows have few rows, fewer than the default configuration says."""
    limits = msgspec.structs.replace(LIMITS, window_rows=NARROW)
    with LocalGateway(tmp_path, limits) as running:
        running.place(USERS, [person(number) for number in range(10)])
        greet(running, environ)
        yield running


def test_so_many_rows_from_the_start_as_json_and_then_the_end(
    run: Run, gateway: LocalGateway
) -> None:
    done = run("tail", TABLE, "--from-start", "--json", "-n", "3")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    changes = [json.loads(line) for line in done.stdout.splitlines()]
    assert [change["id"] for change in changes] == ["0:0", "0:1", "0:2"]
    assert changes[2]["row"] == person(2) | {"ts": "2026-01-01T00:00:00.123458Z"}


def test_new_changed_and_deleted_rows_are_told_apart(
    tail: Callable[..., Tail], gateway: LocalGateway
) -> None:
    following = tail(TABLE, "--all")
    following.until_started()
    gateway.upsert(TABLE, [person(10)])
    following.until(lambda out, _: "+ " in out)
    gateway.upsert(TABLE, [person(4, name="Mei")])
    following.until(lambda out, _: "~ " in out)
    gateway.delete(TABLE, ["0:5"])
    following.until(lambda out, _: "- row 0:5 deleted" in out)
    lines = [line for line in following.out.splitlines() if line[0] in "+~-"]
    assert [line[0] for line in lines] == ["+", "~", "-"]
    assert "P10" in lines[0]
    assert "Mei" in lines[1]
    assert following.stop() == "Stopped.\n"


def test_from_the_start_each_row_comes_once_whatever_comes_meanwhile(
    tail: Callable[..., Tail], gateway: LocalGateway
) -> None:
    following = tail(TABLE, "--from-start", "--json", "-n", "400")
    finished = threading.Event()

    def write() -> None:
        for number in range(10, 400):
            gateway.upsert(TABLE, [person(number)])
            finished.wait(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert following.process.wait(LIMIT) == 0, following.err
    finally:
        finished.set()
        writer.join()
    ids = [json.loads(line)["id"] for line in following.out.splitlines()]
    assert ids == [f"0:{number}" for number in range(400)]


def test_rows_that_leave_a_narrow_window_are_not_deleted_and_those_it_misses_are_said(
    tail: Callable[..., Tail], narrow: LocalGateway
) -> None:
    following = tail(TABLE, "--from-start", "--json")
    following.until(lambda out, _: out.count("\n") == 10)
    for number in range(10, 16):
        narrow.upsert(TABLE, [person(number)])
        following.until(lambda out, _, number=number: f'"0:{number}"' in out)  # type: ignore[misc]
    assert '"row":null' not in following.out
    assert following.err == ""
    narrow.upsert(TABLE, [person(number) for number in range(20, 40)])
    following.until(lambda _, err: f"more than {NARROW} rows came at once" in err)
    following.until(lambda out, _: '"0:39"' in out)
    assert following.out.count("\n") == 16 + NARROW


def test_an_unknown_table_is_answered_with_those_there_are(run: Run, gateway: LocalGateway) -> None:
    done = run("tail", "userui")
    assert done.returncode == 1
    assert "no such table 'userui'" in done.stderr
    assert "Did you mean 'users_ui'? The tables are users_ui." in done.stderr


def test_a_key_for_other_tables_sees_nothing_of_this_one(
    run: Run, gateway: LocalGateway, environ: dict[str, str]
) -> None:
    environ["EVERGRID_KEY"] = secret = gateway.new_key("guest", ["final_*"])
    gateway.stop()
    gateway.start()  # which knows it from the first moment
    environ["EVERGRID_URL"] = gateway.address
    done = run("tail", TABLE)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the gateway has none yet that this key may read" in done.stderr
    waiting = run("tail", TABLE, "--wait")
    assert waiting.returncode == 1
    assert "this key may not read table users_ui" in waiting.stderr
    assert secret not in done.stderr + waiting.stderr


def test_a_wrong_key_is_refused_and_never_shown(
    run: Run, gateway: LocalGateway, environ: dict[str, str]
) -> None:
    environ["EVERGRID_KEY"] = wrong = gateway.secret[::-1]
    done = run("tail", TABLE)
    assert (done.returncode, done.stdout) == (1, "")
    assert "evergrid key create NAME" in done.stderr
    assert wrong not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_without_a_key_it_says_how_to_get_one(run: Run) -> None:
    done = run("tail", TABLE)
    assert done.returncode == 1
    assert "no key for the gateway" in done.stderr
    assert "evergrid key create NAME" in done.stderr


def test_without_a_gateway_it_says_so(run: Run, environ: dict[str, str]) -> None:
    environ |= {"EVERGRID_URL": "http://127.0.0.1:1", "EVERGRID_KEY": "k"}
    done = run("tail", TABLE)
    assert done.returncode == 1
    assert "http://127.0.0.1:1: connection to the gateway failed" in done.stderr
    assert "evergrid gateway" in done.stderr


def test_a_gateway_with_a_certificate_of_its_own_needs_its_authority(
    run: Run, tmp_path: Path, environ: dict[str, str]
) -> None:
    files = self_signed(tmp_path)
    with LocalGateway(tmp_path, tls=files) as gateway:
        gateway.place(USERS, [person(1)])
        greet(gateway, environ)
        refused = run("tail", TABLE)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "Add --ca with the PEM file" in refused.stderr
        done = run("tail", TABLE, "--ca", files.certificate, "--from-start", "-n", "1")
        assert done.returncode == 0, done.stderr
        assert "P1" in done.stdout


def test_it_goes_on_by_itself_when_the_gateway_was_away(
    tail: Callable[..., Tail], gateway: LocalGateway
) -> None:
    following = tail(TABLE)
    following.until_started()
    gateway.stop()
    following.until(lambda _, err: "users_ui is stale since " in err)
    gateway.call(lambda: gateway.engine.upsert(TABLE, [person(10), person(3, name="Mei")]))
    gateway.start()
    following.until(lambda out, _: "P10" in out and "Mei" in out)
    assert following.out.count("users_ui · generation 1") == 1
    said = following.stop().splitlines()
    assert "resumes automatically" in said[0]
    assert said[1:] == ["evergrid: users_ui is live.", "Stopped."]


def test_it_says_since_when_the_rows_are_stale(
    tail: Callable[..., Tail], gateway: LocalGateway
) -> None:
    following = tail(TABLE)
    following.until_started()
    since = round((time.time() - 5) * 1_000_000)
    gateway.say(TABLE, Live.STALE, "The broker does not answer.", since)
    at = time.strftime("%H:%M:%S", time.localtime(since // 1_000_000))
    told = re.compile(rf"users_ui is stale since \S+ {at}")
    following.until(lambda _, err: bool(told.search(err)))
    gateway.say(TABLE, Live.LIVE)
    following.until(lambda _, err: "users_ui is live." in err)


def test_it_says_what_live_rows_may_lack(tail: Callable[..., Tail], gateway: LocalGateway) -> None:
    following = tail(TABLE)
    following.until_started()
    gateway.say(TABLE, Live.LIVE, "Rows may be missing.")
    following.until(lambda _, err: "users_ui is live. Rows may be missing." in err)
    gateway.say(TABLE, Live.LIVE)
    following.until(lambda _, err: "users_ui is live.\n" in err)


def test_a_new_generation_is_said_and_goes_on_with_what_is_newer(
    tail: Callable[..., Tail], gateway: LocalGateway
) -> None:
    following = tail(TABLE)
    following.until_started()
    gateway.place(USERS, [person(number) for number in range(12)], generation=2)
    following.until(lambda out, _: "users_ui · generation 2" in out and "P11" in out)
    assert "evergrid: users_ui is now that of generation 2." in following.err
    assert following.users() == ["u10", "u11"]


def test_it_ends_when_nobody_reads_its_output_even_if_nothing_comes(
    gateway: LocalGateway, environ: dict[str, str], tmp_path: Path
) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "evergrid", "tail", TABLE],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environ,
        cwd=tmp_path,
    )
    os.close(writer)
    try:
        assert os.read(reader, 100)
        os.close(reader)
        _, said = process.communicate(timeout=LIMIT)
        assert (process.returncode, said) == (0, b"")
    finally:
        process.kill()
        process.wait()


def test_with_real_kafka_it_waits_for_gateway_and_table_and_follows_generations(
    tail: Callable[..., Tail],
    run: Run,
    broker: EmbeddedBroker,
    tmp_path: Path,
    environ: dict[str, str],
) -> None:
    file, key = tmp_path / "evergrid.yaml", tmp_path / "my.key"
    file.write_text(
        f"kafka: {{bootstrap: '{broker.bootstrap}'}}\n"
        "internal_topics: {prefix: tail}\n"
        f"gateway: {{port: {free_port()}}}\n"
    )
    key.write_text(run("key", "create", "me").stdout)
    following = tail("final_ui", "--wait", "--key-file", "my.key")
    following.until(lambda _, err: "connection to the gateway failed" in err and "Waiting." in err)
    with EvergridProcess(["gateway"], tmp_path / "gateway.log", environ, tmp_path):
        following.until(lambda _, err: "There is no table final_ui now." in err)
        pipeline = HandwrittenPipeline(load(file, {}))
        pipeline.switch(pipeline.prepare(1))
        following.until(lambda out, _: "final_ui · generation 1" in out)
        second = pipeline.prepare(2)
        pipeline.switch(second)
        now = time.time_ns() // 1000  # what is older than the table keeps would go at once
        row: Row = {
            "userId": "U7",
            "name": "Mei",
            "ts": now,
            "_users_partition": 1,
            "_users_offset": 7,
        }
        pipeline.write(second.tables["final_ui"], "1:7", row)
        following.until(lambda out, _: "final_ui · generation 2" in out and "Mei" in out)
        assert "final_ui is now that of generation 2." in following.stop()
