"""A gateway as a user runs it, with a key to it and what it says of itself."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from bench.stage import environment
from bench.usage import Usage, usage
from evergrid.config import load
from evergrid.gateway.access.key_file import create_key
from evergrid.model.errors import LinkError
from evergrid.testing.evergrid_process import EvergridProcess

_SERVING = re.compile(r"Serving at (http://\S+)")
_SAMPLE = re.compile(r"^evergrid_(\w+(?:\{[^}]*\})?) (\S+)$", re.MULTILINE)
_START_SECONDS = 60.0
_ANSWER_SECONDS = 30.0
_LOOK_SECONDS = 0.05

Metrics = dict[str, float]


class GatewayServer:
    """`evergrid gateway` with the configuration in `config`; stopped with the block."""

    def __init__(self, config: Path, folder: Path) -> None:
        self.began = time.monotonic()
        _, self.key = create_key(load(config, {}).gateway.keys, "bench")
        self._process = EvergridProcess(
            ["gateway", "-c", str(config)], folder / "gateway.txt", env=environment()
        )
        self._process.wait_for_words("Serving at", _START_SECONDS)
        found = _SERVING.search(self._process.said())
        assert found is not None
        self.began_serving = time.monotonic() - self.began
        self.address = found[1]

    @property
    def pid(self) -> int:
        return self._process.pid

    def usage(self) -> Usage:
        return usage(self.pid)

    def wait_until_ready(self, seconds: float) -> float:
        """How many seconds after its start all tables were there."""
        self.wait_for(self._is_ready, "all tables", seconds)
        return time.monotonic() - self.began

    def wait_for(self, condition: Callable[[], bool], words: str, seconds: float) -> None:
        """LinkError when the gateway ends or the condition is not met in time."""
        deadline = time.monotonic() + seconds
        while not condition():
            self.check()
            if time.monotonic() > deadline:
                raise LinkError(f"{seconds:.0f} seconds were not enough for {words}")
            time.sleep(_LOOK_SECONDS)

    def metrics(self) -> Metrics:
        """What /metrics says, by name and labels, without the prefix that all have."""
        return read_metrics(self._get("/metrics"))

    def check(self) -> None:
        if not self._process.is_running():
            raise LinkError(f"the gateway ended: {self._process.said().strip()[-500:]}")

    def _is_ready(self) -> bool:
        try:
            self._get("/readyz")
        except urllib.error.HTTPError:
            return False
        return True

    def _get(self, path: str) -> str:
        headers = {"Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(self.address + path, headers=headers)
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
            text: str = answer.read().decode()
            return text

    def __enter__(self) -> GatewayServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.stop()


def read_metrics(text: str) -> Metrics:
    return {name: float(value) for name, value in _SAMPLE.findall(text)}


def mean_delay(before: Metrics, after: Metrics) -> float:
    """How late the event loop was between two looks, in milliseconds on average."""
    late = after["loop_delay_seconds_sum"] - before["loop_delay_seconds_sum"]
    return 1000 * late / (after["loop_delay_seconds_count"] - before["loop_delay_seconds_count"])
