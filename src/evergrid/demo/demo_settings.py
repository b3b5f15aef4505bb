"""What the demo runs with: an ordinary configuration, pointed at a broker of its own.

Everything is in one directory:

    evergrid.yaml      the configuration in effect
    key                the gateway's key; with these two `evergrid tail` shows the tables
    broker/            the Kafka broker's files
    security/          certificates and passwords, where the broker is a secured one
    pipeline/          the pipeline's data_dir
    keys.yaml          the key's hash, for the gateway
    log/               what pipeline and gateway said
    lock               held while a demo runs here
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml

from evergrid.config import load, retyped, show
from evergrid.config.settings import Connection, Kafka, Settings
from evergrid.demo.demo_broker import KafkaSecurity
from evergrid.demo.sample_events import ACCOUNTS, USERS
from evergrid.demo.view import Words
from evergrid.model.errors import ConfigError
from evergrid.model.join import JoinType

_MEMORY = "EVERGRID_SPARK__DRIVER_MEMORY"
_DEMO_MEMORY = "1g"
_HEADING = "# The settings of this demo; its secrets are in the files that they refer to.\n"


class Choices(msgspec.Struct, frozen=True):
    """What a person can choose."""

    config: Path | None = None
    directory: Path | None = None
    join: JoinType | None = None
    rate: float = 50.0
    seed: int = 1
    port: int | None = None
    fresh: bool = False
    security: KafkaSecurity = KafkaSecurity.NONE


class Scene(msgspec.Struct, frozen=True):
    """The demo before its broker has an address."""

    settings: Settings
    directory: Path
    choices: Choices

    @property
    def config_file(self) -> Path:
        return self.directory / "evergrid.yaml"

    @property
    def key_file(self) -> Path:
        return self.directory / "key"

    def log(self, part: str) -> Path:
        """Where one of the processes writes what it says."""
        return self.directory / "log" / f"{part}.log"

    @property
    def focus(self) -> str:
        """The table whose rows are shown: a joined one if there is any."""
        tables = (*self.settings.joined_tables(), *self.settings.raw_tables())
        return tables[0].name

    @property
    def quarantine(self) -> str:
        return self.settings.system_tables.quarantine

    @property
    def tables(self) -> tuple[str, ...]:
        settings = self.settings
        tables = (*settings.generation_tables(), settings.quarantine())
        return tuple(table.name for table in tables)

    @property
    def words(self) -> Words:
        files = ("-c", _short(self.config_file), "--key-file", _short(self.key_file))
        return Words(
            directory=_short(self.directory),
            tail_command=shlex.join((_program(), "tail", self.focus, *files)),
            rate=self.choices.rate,
        )

    def at(self, connection: Connection, gateway_port: int) -> Settings:
        """The settings once broker and gateway have their addresses."""
        names = ("source", "control", "internal")
        return msgspec.structs.replace(
            self.settings,
            gateway=msgspec.structs.replace(
                self.settings.gateway, port=gateway_port, keys=self.directory / "keys.yaml"
            ),
            kafka=Kafka(*(msgspec.structs.replace(connection, name=name) for name in names)),
        )

    def write(self, settings: Settings, kafka: Mapping[str, object]) -> None:
        """Write the configuration file, with that `kafka` section: `show` has no secrets."""
        document = yaml.safe_load(show(settings))
        text = yaml.safe_dump(
            {**document, "kafka": dict(kafka)}, sort_keys=False, allow_unicode=True, width=100
        )
        self.config_file.write_text(_HEADING + text, encoding="utf-8")


def make_scene(choices: Choices, environ: Mapping[str, str]) -> Scene:
    """The default configuration, or the one that was chosen, made fit for the demo."""
    if choices.config is None:
        environ = {_MEMORY: _DEMO_MEMORY, **environ}
    settings = load(choices.config, environ)
    if not {USERS, ACCOUNTS} & settings.sources.keys():
        raise ConfigError(
            "there is neither a source named users nor one named accounts, and the demo's "
            "events are of those",
            where=str(choices.config),
            remedy="Run the demo without -c; for topics of your own, run evergrid pipeline.",
        )
    directory = Path(os.path.abspath(choices.directory or settings.data_dir / "demo"))
    kind = choices.join
    joins = settings.joins
    if kind is not None:
        joins = {name: retyped(join, kind, settings.sources) for name, join in joins.items()}
    changed = msgspec.structs.replace(settings, data_dir=directory / "pipeline", joins=joins)
    return Scene(changed, directory, choices)


def _short(path: Path) -> str:
    """As one would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _program() -> str:
    """Evergrid's command as one would type it here: by its name only where that finds it."""
    if shutil.which("evergrid"):
        return "evergrid"
    beside = Path(sys.executable).with_name("evergrid")
    return _short(beside) if beside.exists() else "evergrid"
