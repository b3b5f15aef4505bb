"""A real gateway process for a test: its address, its key, what it says about itself."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from evergrid.gateway.access.key_file import create_key
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from tests.system.conftest import PATIENCE

SERVING = "Serving at "
_ASK_SECONDS = 60.0
_SAMPLE = re.compile(r"^evergrid_(\w+) (\S+)$", re.MULTILINE)


def gateway_section(port: int, *others: int, **more: object) -> dict[str, object]:
    """A `gateway` section for this port, which may be asked for at other ports too."""
    return {"port": port, "hosts": [f"127.0.0.1:{other}" for other in others], **more}


class GatewayProcess:
    """`evergrid gateway` on a world's configuration, started and killed at will."""

    def __init__(self, world: Installation, port: int, name: str = "gateway") -> None:
        """`name` tells several of one world apart."""
        self._world = world
        self._name = name
        self._port = port
        self.address = f"http://127.0.0.1:{port}"
        _, self.secret = create_key(world.data_dir / "keys.yaml", name, control=True)
        self._process: EvergridProcess | None = None

    @property
    def process(self) -> EvergridProcess:
        assert self._process is not None, "the gateway is not started"
        return self._process

    def start(self) -> None:
        """Start it; it serves when this returns."""
        screen = self._world.folder / f"{self._name}.txt"
        env = {**os.environ, "EVERGRID_GATEWAY__PORT": str(self._port)}
        self._process = EvergridProcess(["gateway", "-c", str(self._world.file)], screen, env)
        self._process.wait_for_words(SERVING, PATIENCE)

    def kill(self) -> None:
        self.process.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._process is not None:
            print(f"the gateway said:\n{self._process.said()}")
        self.process.stop()

    def ask(self, path: str) -> tuple[int, bytes]:
        """An answer's status and body."""
        headers = {"Authorization": f"Bearer {self.secret}"}
        request = urllib.request.Request(self.address + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_ASK_SECONDS) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def readiness(self) -> tuple[int, str]:
        """The status of /readyz, and its sentence."""
        status, body = self.ask("/readyz")
        answer = json.loads(body)
        return status, str(answer.get("message") or answer.get("error", {}).get("message"))

    def wait_until_ready(self, seconds: float = PATIENCE) -> None:
        wait_for(self.readiness, lambda answer: answer[0] == 200, seconds)

    def metrics(self) -> Mapping[str, float]:
        """Those without labels."""
        text = self.ask("/metrics")[1].decode()
        return {name: float(value) for name, value in _SAMPLE.findall(text)}

    def wait_for_metrics(self, seconds: float, **wanted: float) -> None:
        """Return when each metric has its value."""

        now: Mapping[str, float] = {}

        def found() -> bool:
            nonlocal now
            with contextlib.suppress(ConnectionError):  # turned away in a crowd
                now = self.metrics()
            return now.items() >= wanted.items()

        try:
            wait_for(found, bool, seconds)
        except AssertionError:
            raise AssertionError(f"not {wanted} within {seconds} s: {now}") from None

    def dropped(self, reason: str) -> int:
        """Connections that it ended for this reason."""
        text = self.ask("/metrics")[1].decode()
        found = re.search(rf'evergrid_dropped_total{{reason="{reason}"}} (\d+)', text)
        return int(found[1]) if found else 0

    def memory(self) -> int:
        """Bytes that the process has in memory."""
        command = ["ps", "-o", "rss=", "-p", str(self.process.pid)]
        return 1024 * int(subprocess.run(command, capture_output=True, check=True).stdout)
