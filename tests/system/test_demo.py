"""`evergrid demo` as a user runs it: live rows, bad messages, and nothing left behind."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import evergrid
from tests.listening import is_loopback, listening_addresses
from tests.support.soak import Counted, Soak
from tests.system.conftest import PATIENCE

STOP = 9.0


class Demo:
    """A running demo whose output is a file, and every process it was ever seen to have."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._family: set[int] = set()
        self._screen = folder / f"screen-{time.monotonic_ns()}"
        env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        with self._screen.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "evergrid", "demo", "--data-dir", str(folder), *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=env,
                umask=0o022,  # as most users have it
            )

    def said(self) -> str:
        return self._screen.read_text(errors="replace")

    def wait_for(self, pattern: str, seconds: float = PATIENCE) -> None:
        def there() -> bool:
            return re.search(pattern, self.said()) is not None

        wait_until(lambda: there() or self.process.poll() is not None, seconds, self.said)
        assert there(), self.said()

    def children(self) -> dict[int, str]:
        """Its children and theirs, by command."""
        parents, commands = {}, {}
        for line in _ps("pid=,ppid=,command="):
            pid, parent, command = line.split(None, 2)
            parents[int(pid)], commands[int(pid)] = int(parent), command
        found = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        self._family |= found - {self.process.pid}
        return {pid: commands[pid] for pid in found - {self.process.pid}}

    def left_running(self) -> list[str]:
        """Those of its processes that still run, whoever their parent is now."""
        found = []
        for line in _ps("pid=,stat=,command="):
            pid, state, command = line.split(None, 2)
            if int(pid) in self._family and state[0] != "Z":
                found.append(f"{pid} {command[:120]}")
        return found


def _ps(columns: str) -> list[str]:
    command = ["ps", "-A", "-ww", "-o", columns]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def wait_until(condition: Callable[[], bool], seconds: float, said: Callable[[], object]) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, said()
        time.sleep(0.2)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Callable[..., Demo]]:
    started: list[Demo] = []

    def start(*arguments: str) -> Demo:
        started.append(Demo(tmp_path, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.children()
        one.process.kill()  # its children end with it
        one.process.wait()
        wait_until(lambda one=one: not one.left_running(), PATIENCE, one.left_running)  # type: ignore[misc]


def test_a_day_with_it(demo: Callable[..., Demo], tmp_path: Path) -> None:
    """One demo through everything that can happen to it: a Spark start costs half a minute."""
    running = demo("--rate", "200")
    running.wait_for("Starting a Kafka broker")
    running.wait_for(r"live, generation 1 .*final_ui [1-9][\d,]* rows, .*/s, lag \d+ m?s")
    running.wait_for(r"quarantine [1-9]\d* rows")
    everything_listens_on_loopback_alone(running)
    its_files_are_private(tmp_path)
    only_one_at_a_time(demo)
    its_tables_are_served(running, tmp_path)
    kill(running, "evergrid gateway")
    running.wait_for(r"The gateway ended \(.*\); again in 1 s\.")
    killed_it_leaves_nothing_running(running)

    again = demo("--kafka-security", "oauth")  # the same data, behind logins and ACLs now
    again.wait_for("Going on with the data of the last run; --fresh starts over.")
    again.wait_for(r"Starting a Kafka broker with TLS and tokens")
    again.wait_for(r"live, generation 1")
    its_tables_are_served(again, tmp_path)
    its_secrets_stay_in_their_files(tmp_path)
    it_stops_with_one_line(again)


def only_one_at_a_time(demo: Callable[..., Demo]) -> None:
    second = demo()
    assert second.process.wait(PATIENCE) == 1
    assert "is in use by another demo" in second.said()


def its_tables_are_served(running: Demo, folder: Path) -> None:
    """At the address and for the key that it prints, and by the command that it shows."""
    running.wait_for(r"served at http://127\.0\.0\.1:\d+/#key=eg_\S+")
    found = re.search(r"served at (\S+)/#key=(\S+)", running.said())
    assert found is not None
    address, key = found.groups()
    with evergrid.connect(address, key) as client:
        assert {table.name for table in client.tables()} >= {"users_ui", "final_ui", "quarantine"}
        with client.windows("final_ui", order="-ts", limit=5) as windows:
            first = next(windows).total
            # It may also tell, more than once, that the pipeline has to catch up.
            moved = any(window.total != first for window in itertools.islice(windows, 100))
        assert moved, "the window does not move"
        bad = client.snapshot("quarantine", columns="topic,reason", limit=1).to_pylist()[0]
        assert bad["topic"] in ("users", "accounts")
        assert bad["reason"]
    tail = subprocess.run(
        [
            *(sys.executable, "-m", "evergrid", "tail", "final_ui", "-n", "5"),
            *("-c", str(folder / "evergrid.yaml"), "--key-file", str(folder / "key")),
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert tail.returncode == 0, tail.stderr
    assert "final_ui · generation 1" in tail.stdout
    assert "final: left" in what_runs(folder)


def everything_listens_on_loopback_alone(running: Demo) -> None:
    """Broker, gateway and Spark, whose join has its real-time shuffle open now."""
    children = running.children()
    found = {pid: listening_addresses(pid) for pid in children}
    shuffle = [found[pid] for pid, command in children.items() if "SparkSubmit" in command]
    assert len(shuffle) == 1
    assert len(shuffle[0]) >= 4, "Spark's own servers, and one for each task that shuffles"
    for pid, addresses in found.items():
        assert all(map(is_loopback, addresses.values())), (children[pid], addresses)


def its_files_are_private(folder: Path) -> None:
    """Also those that Java wrote: they hold names and balances."""
    looked_at = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            if not path.name.startswith("screen-"):  # the test's own
                assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path
                looked_at += 1
    assert looked_at > 100


def what_runs(folder: Path) -> str:
    """The current generation, as `evergrid control` shows it."""
    command = [sys.executable, "-m", "evergrid", "control", "-c", str(folder / "evergrid.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return next(line for line in done.stdout.splitlines() if "is current since" in line)


def its_secrets_stay_in_their_files(folder: Path) -> None:
    """No command, log, topic, configuration or checkpoint has them; nobody else reads the files."""
    passwords = list((folder / "security").glob("*.password"))
    keys = [path for path in folder.rglob("*.pem") if "PRIVATE" in path.read_text()]
    settings = list((folder / "broker").glob("*.properties"))  # have the administrator's password
    for path in (*passwords, *keys, *(each for each in settings if "password" in each.read_text())):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    secrets = [path.read_bytes() for path in passwords]
    secrets += [path.read_bytes().splitlines()[3] for path in keys]
    assert len(secrets) > 2
    commands = "\n".join(_ps("command=")).encode()
    assert not any(secret in commands for secret in secrets)
    for path in folder.rglob("*"):
        # Kafka's indexes are megabytes of zeros.
        known = path in settings or path.suffix in (".index", ".timeindex", ".password", ".pem")
        if path.is_file() and not known:
            content = path.read_bytes()
            assert not any(secret in content for secret in secrets), path


@pytest.mark.soak(part="demo")
@pytest.mark.parametrize("kind", ["ssl", "plain", "scram", "oauth"])
def test_a_fresh_one_behind_a_secured_broker(
    demo: Callable[..., Demo], tmp_path: Path, soak: Soak, kind: str
) -> None:
    running = demo("--rate", "200", "--kafka-security", kind)
    running.wait_for(r"live, generation 1 .*final_ui [1-9][\d,]* rows")
    running.wait_for(r"quarantine [1-9]\d* rows")
    its_tables_are_served(running, tmp_path)
    its_secrets_stay_in_their_files(tmp_path)
    kill(running, "configurationFile=log4j2.properties")
    running.wait_for("The broker ended; starting it again.")
    wait_until(lambda: is_live(running), PATIENCE, running.said)
    soak.count(Counted.KILLS)
    it_stops_with_one_line(running)


@pytest.mark.soak(part="demo")
def test_it_starts_again_what_dies(demo: Callable[..., Demo], soak: Soak) -> None:
    running = demo("--rate", "200")
    running.wait_for(r"live, generation 1 ")
    kill(running, "evergrid pipeline")
    running.wait_for(r"The pipeline ended \(.*\); again in 1 s\.")
    wait_until(lambda: is_live(running), PATIENCE, running.said)
    soak.count(Counted.KILLS)
    kill(running, "configurationFile=log4j2.properties")  # the broker's; ps cuts long commands
    running.wait_for("The broker ended; starting it again.")
    wait_until(lambda: is_live(running), PATIENCE, running.said)
    soak.count(Counted.KILLS)


def killed_it_leaves_nothing_running(running: Demo) -> None:
    # Broker, pipeline, Spark, gateway, and three supervisors.
    wait_until(lambda: len(running.children()) >= 7, PATIENCE, running.children)
    running.process.kill()
    running.process.wait()
    wait_until(lambda: not running.left_running(), PATIENCE, running.left_running)


def it_stops_with_one_line(running: Demo) -> None:
    running.children()
    before = running.said()
    running.process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    code = running.process.wait(PATIENCE)
    if time.monotonic() - began < STOP:  # who takes longer, on a busy machine, ends without a word
        assert code == 0
        assert running.said().removeprefix(before).splitlines()[-1] == "Stopped."
    assert "Traceback" not in running.said()
    wait_until(lambda: not running.left_running(), PATIENCE, running.left_running)


@pytest.mark.soak(part="demo")
def test_a_fresh_one_of_another_join_ends_by_itself(
    demo: Callable[..., Demo], tmp_path: Path
) -> None:
    first = demo("--minutes", "0.05")
    first.wait_for(r"live, generation 1 ")
    assert first.process.wait(PATIENCE) == 0
    assert first.said().splitlines()[-1] == "Stopped."
    fresh = demo("--fresh", "--join", "asof")
    fresh.wait_for(r"live, generation 1 ")
    assert "final: asof" in what_runs(tmp_path)
    assert "Going on with the data" not in fresh.said()


def is_live(running: Demo) -> bool:
    return "live, generation" in running.said().splitlines()[-1]


def kill(running: Demo, words: str) -> None:
    """`kill -9` of the demo's process whose command has these words, but not of its supervisor."""
    (pid,) = (
        pid
        for pid, command in running.children().items()
        if words in command and "child_process.py" not in command
    )
    os.kill(pid, signal.SIGKILL)
