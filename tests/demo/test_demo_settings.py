"""The demo runs an ordinary configuration, pointed at its own broker and directory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evergrid.config import load
from evergrid.config.settings import Connection
from evergrid.demo.demo_settings import DemoOptions, demo_settings
from evergrid.model.errors import ConfigError
from evergrid.model.join import JoinType

HERE = Connection("demo", "127.0.0.1:20000")


def test_its_file_gives_the_same_settings_to_every_command(tmp_path: Path) -> None:
    demo = demo_settings(DemoOptions(data_dir=tmp_path / "my demo", join=JoinType.ASOF.value), {})
    settings = demo.with_addresses(HERE, 20001)
    demo.directory.mkdir()
    demo.write(settings, {"bootstrap": "127.0.0.1:20000"})
    again = load(demo.config_file, {})
    assert again.kafka == settings.kafka
    assert (again.sources, again.joins) == (settings.sources, settings.joins)
    assert again.data_dir == settings.data_dir == tmp_path / "my demo" / "pipeline"
    assert again.joins["final"].type is JoinType.ASOF


def test_what_belongs_to_another_cluster_is_left_behind(tmp_path: Path) -> None:
    file = tmp_path / "evergrid.yaml"
    file.write_text("kafka: {bootstrap: 'far:9092', properties: {security.protocol: SSL}}\n")
    settings = demo_settings(DemoOptions(config=file), {}).with_addresses(HERE, 20001)
    assert {c.bootstrap for c in settings.kafka.connections} == {"127.0.0.1:20000"}
    assert all(not c.properties for c in settings.kafka.connections)


def test_memory_is_modest_unless_someone_says_otherwise() -> None:
    assert demo_settings(DemoOptions(), {}).settings.spark.driver_memory == "1g"
    chosen = {"EVERGRID_SPARK__DRIVER_MEMORY": "3g"}
    assert demo_settings(DemoOptions(), chosen).settings.spark.driver_memory == "3g"


def test_the_command_it_suggests_can_be_pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = _program_in(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(found.parent))
    files = "-c .evergrid/demo/evergrid.yaml --key-file .evergrid/demo/key"
    assert demo_settings(DemoOptions(), {}).tail_command == f"evergrid tail final_ui {files}"
    spaced = demo_settings(DemoOptions(data_dir=tmp_path / "a b"), {})
    files = "-c 'a b/evergrid.yaml' --key-file 'a b/key'"
    assert spaced.tail_command == f"evergrid tail final_ui {files}"


def test_where_the_shell_would_not_find_the_command_its_path_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    found = _program_in(tmp_path / ".venv" / "bin")
    monkeypatch.setattr(sys, "executable", str(found.with_name("python")))
    command = demo_settings(DemoOptions(), {}).tail_command
    assert command.startswith(".venv/bin/evergrid tail final_ui ")


def _program_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    program = folder / "evergrid"
    program.touch(mode=0o755)
    return program


def test_a_configuration_without_the_demos_sources_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "evergrid.yaml"
    file.write_text("sources: {orders: {topic: orders, key: id, fields: {id: text}}}\n")
    with pytest.raises(ConfigError, match="no source named users or accounts"):
        demo_settings(DemoOptions(config=file), {})
