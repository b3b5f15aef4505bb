"""What the pages say is what is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.gateway.engine.hub_types import HubCounts
from evergrid.gateway.engine.table_engine import EngineLoad
from evergrid.gateway.http.metrics import LoopDelays, MetricsSnapshot, metrics
from evergrid.protocol.error_codes import Code
from tests.gateway.conftest import person
from tests.support.local_gateway import LocalGateway

DOCS = Path(__file__).parents[3] / "docs"
PROTOCOL = (DOCS / "protocol.md").read_text()
HTTP = (DOCS / "http.md").read_text()


def test_every_code_is_listed_as_it_is() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+|–) \| (yes|no) \|", PROTOCOL, re.MULTILINE)
    written = {name: (int(http), close, retry) for name, http, close, retry in rows}
    assert written == {
        code.value: (code.http, str(code.close) if code.close else "–", _yes(code.retry))
        for code in Code
    }


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def test_every_route_is_listed(gateway: LocalGateway) -> None:
    listed = re.findall(r"^\| `(/[^`]*)` \|", HTTP, re.MULTILINE)
    routes = (route.replace("{name}", "NAME") for route in gateway.running.routes)
    assert set(listed) == {route.replace("{id}", "ID") for route in routes}


def test_every_metric_is_listed() -> None:
    load = EngineLoad(HubCounts(0, 0, 0, 0), 0.0, 0, True, "", "")
    shown = metrics(MetricsSnapshot("", "", [], load, TrafficCounters(), LoopDelays(), 0, 0, 0))
    _, _, section = HTTP.partition("## Metrics")
    listed = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"`([^`]*)`", section))))
    for name in re.findall(r"# TYPE evergrid_(\w+)", shown):
        assert name in listed, name


def test_the_client_of_the_protocols_page_works(gateway: LocalGateway, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PROTOCOL, re.DOTALL)
    (tmp_path / "client.py").write_text(program)
    environ = {**os.environ, "EVERGRID_URL": gateway.address, "EVERGRID_KEY": gateway.secret}
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "client.py"), "people"],
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    ) as client:
        assert client.stdout is not None
        try:
            assert client.stdout.readline() == "10 ['0:5', '0:6', '0:7', '0:8', '0:9']\n"
            gateway.upsert("people", [person(10)])
            assert client.stdout.readline() == "11 ['0:6', '0:7', '0:8', '0:9', '0:10']\n"
            gateway.delete("people", ["0:8", "0:9"])
            assert client.stdout.readline() == "9 ['0:4', '0:5', '0:6', '0:7', '0:10']\n"
        finally:
            client.kill()
