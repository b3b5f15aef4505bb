"""The recipe of docs/operations.md: an installation goes on from a copy of its files."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from tests.support.free_ports import free_port
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.gateways import GatewayProcess
from tests.system.test_faults import JOINED, Messages, config


def test_a_copy_goes_on_and_without_checkpoints_all_is_made_anew(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    world = make_world(config("backup"))
    world.make_topics()
    messages = Messages(world)
    with world.start_live(), GatewayProcess(world, free_port()) as gateway:
        world.send(messages.some())
        world.wait_until_exact(JOINED)
        assert gateway.ask("/api/tables")[0] == 200
    archive = tmp_path / "backup.tar"
    parts = ("generations", "keys.yaml", "keys.used.json", "log")
    subprocess.run(["tar", "-C", str(world.data_dir), "-cf", str(archive), *parts], check=True)
    world.send(messages.some())  # while it is away
    shutil.rmtree(world.data_dir)
    world.data_dir.mkdir()  # on another machine, under the same path
    subprocess.run(["tar", "-C", str(world.data_dir), "-xf", str(archive)], check=True)
    with world.start_live() as process, GatewayProcess(world, free_port(), "new") as there:
        there.secret = gateway.secret  # the keys are the same
        world.wait_until_exact(JOINED)
        world.wait_until(lambda: there.ask("/readyz")[0] == 200, PATIENCE)
        assert there.ask("/api/tables")[0] == 200
        assert world.manifest().current == 1
        assert "Going on with generation 1 from its checkpoint" in process.said()
    lines = (world.data_dir / "log" / "audit.jsonl").read_text().splitlines()
    assert len({json.loads(line)["gateway"] for line in lines}) == 2  # before and after
    shutil.rmtree(world.data_dir / "generations")
    with world.start_live() as process:
        process.wait_for_words("Generation 2 is live", PATIENCE)
        assert "the checkpoint of generation 1 is missing" in process.said()
        world.wait_until_exact(JOINED)
