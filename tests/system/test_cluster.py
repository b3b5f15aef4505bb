"""Spark on a cluster of its own: a master, a worker and its executors as processes of their own."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from evergrid.kafka import leash
from evergrid.kafka.java import java_home
from evergrid.testing.tables import wait_for
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.gateways import free_port
from tests.system.test_faults import JOINED, Messages, config

HOST = "127.0.0.1"
SLOTS = 30
EXECUTOR = b"CoarseGrainedExecutorBackend"

pytestmark = pytest.mark.soak


@contextlib.contextmanager
def spark_cluster(folder: Path) -> Iterator[str]:
    """The address of a master with one worker."""
    home = Path(pyspark.__file__).parent
    deploy = "org.apache.spark.deploy"
    place = ("--host", HOST, "--webui-port", "0")
    port = free_port()
    address = f"spark://{HOST}:{port}"
    room = ("--cores", str(SLOTS), "--memory", "2g", "--work-dir", str(folder / "work"))
    env = {**os.environ, "JAVA_HOME": str(java_home()), "SPARK_LOCAL_IP": HOST}
    with contextlib.ExitStack() as parts:
        for name, arguments in {
            "master": (f"{deploy}.master.Master", *place, "--port", str(port)),
            "worker": (f"{deploy}.worker.Worker", address, *place, *room),
        }.items():
            log = parts.enter_context((folder / f"{name}.txt").open("wb"))
            process = leash.start([str(home / "bin" / "spark-class"), *arguments], log, env)
            parts.callback(process.stop, 5.0)
        yield address


def executors(folder: Path) -> list[int]:
    """Those of the worker with this folder."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = command.read_bytes()
            if EXECUTOR in words and os.readlink(command.parent / "cwd").startswith(str(folder)):
                found.append(int(command.parent.name))
    return found


def test_a_cluster_joins_exactly_and_survives_the_loss_of_an_executor(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    with spark_cluster(tmp_path) as master:
        settings = {"spark.driver.host": HOST, "spark.driver.bindAddress": HOST}
        spark = {"batch": "5s", "master": master, "settings": settings}
        world = make_world(config("cluster", spark=spark, control={"topic": "c-cluster"}))
        world.make_topics()
        messages = Messages(world)
        world.send(messages.some())
        with world.start_live() as process:
            world.send(messages.some())
            world.wait_until_exact(JOINED)
            (before,) = executors(tmp_path)
            os.kill(before, signal.SIGKILL)
            process.wait_for_words("fell over", PATIENCE)
            wait_for(lambda: executors(tmp_path), lambda now: now not in ([], [before]), PATIENCE)
            world.send(messages.some())
            world.wait_until_exact(JOINED)
            assert "Generation 2" not in process.said()
