"""A broker with a large joined table on it, written by hand, ready for a gateway to serve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from tests.handwritten_pipeline import HandwrittenPipeline

from bench.changes import Fill, Written
from bench.helper import Helper
from bench.screen import say
from bench.server import GatewayServer
from bench.stage import TABLE, open_stage
from evergrid.config import load

_FILL_SECONDS = 600.0
_ROOM = 1.2  # what the table may have beyond the rows it begins with


class Served:
    """`config` is what a gateway is started with; `topic` is the joined table's changelog."""

    def __init__(self, folder: Path, bootstrap: str, topic: str, config: Path) -> None:
        self.folder = folder
        self.bootstrap = bootstrap
        self.topic = topic
        self.config = config

    def gateway(self) -> GatewayServer:
        return GatewayServer(self.config, self.folder)


@contextmanager
def served(rows: int) -> Iterator[Served]:
    """The default join's table with so many rows; all of it ends with the block."""
    with open_stage() as stage:
        config = stage.folder / "gateway.yaml"
        settings = {
            "data_dir": str(stage.data),
            "kafka": {"bootstrap": stage.bootstrap},
            "retention": {"default": {"rows": int(rows * _ROOM)}},
            "gateway": {"port": 0, "memory_per_table": "4g"},
        }
        config.write_text(yaml.safe_dump(settings, sort_keys=False))
        hand = HandwrittenPipeline(load(config, {}))
        generation = hand.prepare(1)
        topic = generation.tables[TABLE].topic
        say(f"  {rows:,} rows onto its changelog")
        with Helper(Fill(stage.bootstrap, topic, rows), Written, stage.folder) as filling:
            filling.result(_FILL_SECONDS)
        hand.switch(generation)
        yield Served(stage.folder, stage.bootstrap, topic, config)
