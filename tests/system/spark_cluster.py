"""Spark on a cluster of its own: a master, a worker and its executors as processes of their own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pyspark

from evergrid.process import child_process
from evergrid.process.java import java_home
from tests.support.free_ports import free_port

HOST = "127.0.0.1"
SLOTS = 30
_EXECUTOR = b"CoarseGrainedExecutorBackend"


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
            process = child_process.start([str(home / "bin" / "spark-class"), *arguments], log, env)
            parts.callback(process.stop, 5.0)
        yield address


def executors(folder: Path) -> list[int]:
    """Those of the worker with this folder."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = command.read_bytes()
            if _EXECUTOR in words and os.readlink(command.parent / "cwd").startswith(str(folder)):
                found.append(int(command.parent.name))
    return found
