"""The recipe of docs/operations.md: an installation goes on from a copy of its files elsewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from evergrid.testing.installation import Installation
from tests.support.free_ports import free_port
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.gateways import GatewayProcess
from tests.system.test_faults import JOINED, Messages, config


def test_a_copy_goes_on_elsewhere_and_without_checkpoints_all_is_made_anew(
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
    parts = ("data/generations", "data/keys.yaml", "data/keys.used.json", "data/log/audit.jsonl")
    subprocess.run(["tar", "-C", str(world.folder), "-cf", str(archive), *parts], check=True)
    world.send(messages.some())  # while it is away
    shutil.rmtree(world.data_dir)
    moved = restored(world, archive, tmp_path / "elsewhere")
    messages = Messages(moved)
    with moved.start_live() as process, GatewayProcess(moved, free_port(), "new") as there:
        there.secret = gateway.secret  # the keys are the same
        moved.wait_until_exact(JOINED)
        moved.wait_until(lambda: there.ask("/readyz")[0] == 200, PATIENCE)
        assert there.ask("/api/tables")[0] == 200
        assert moved.manifest().current == 1
        assert "Going on with generation 1 from its checkpoint" in process.said()
    lines = (moved.data_dir / "log" / "audit.jsonl").read_text().splitlines()
    assert len({json.loads(line)["gateway"] for line in lines}) == 2  # before and after
    shutil.rmtree(moved.data_dir / "generations")
    with moved.start_live() as process:
        process.wait_for_words("Generation 2 is live", PATIENCE)
        assert "the checkpoint of generation 1 is missing" in process.said()
        moved.wait_until_exact(JOINED)


def restored(world: Installation, archive: Path, folder: Path) -> Installation:
    """The same configuration in another folder, with what the archive has."""
    folder.mkdir()
    subprocess.run(["tar", "-C", str(folder), "-xf", str(archive)], check=True)
    data_dir = str(folder / "data")
    moved = Installation(folder, world.connection, {**world.config, "data_dir": data_dir})
    moved.messages = world.messages
    return moved
