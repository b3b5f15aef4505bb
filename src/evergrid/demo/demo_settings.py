"""The demo's settings: an ordinary configuration with a broker of its own.

Its directory holds:

    evergrid.yaml      the configuration in effect
    key                the gateway's key; with these two `evergrid tail` shows the tables
    broker/            the Kafka broker's files
    security/          certificates and passwords, if the broker is secured
    pipeline/          the pipeline's data_dir
    keys.yaml          the key's hash, for the gateway
    log/               the logs of pipeline and gateway, and the audit log
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
from evergrid.demo.demo_broker import NO_SECURITY
from evergrid.demo.sample_events import ACCOUNTS, USERS
from evergrid.model.errors import ConfigError
from evergrid.model.join import JoinType

_MEMORY = "EVERGRID_SPARK__DRIVER_MEMORY"
_DEMO_MEMORY = "1g"
_HEADING = "# The settings of this demo; its secrets are in the files that it names.\n"


class DemoOptions(msgspec.Struct, frozen=True):
    """The options of `evergrid demo`."""

    config: Path | None = None
    data_dir: Path | None = None
    join: str | None = None
    rate: float = 50.0
    seed: int = 1
    port: int | None = None
    fresh: bool = False
    kafka_security: str = NO_SECURITY


class DemoSettings(msgspec.Struct, frozen=True):
    """The settings before broker and gateway have their addresses."""

    settings: Settings
    directory: Path
    options: DemoOptions

    @property
    def config_file(self) -> Path:
        return self.directory / "evergrid.yaml"

    @property
    def key_file(self) -> Path:
        return self.directory / "key"

    def log_file(self, part: str) -> Path:
        return self.directory / "log" / f"{part}.log"

    @property
    def tail_command(self) -> str:
        """The command that follows the first joined table, to be copied into a shell."""
        tables = (*self.settings.joined_tables(), *self.settings.raw_tables())
        files = ("-c", _relative(self.config_file), "--key-file", _relative(self.key_file))
        return shlex.join((_program(), "tail", tables[0].name, *files))

    def with_addresses(self, connection: Connection, gateway_port: int) -> Settings:
        names = ("source", "control", "internal")
        gateway, audit = self.settings.gateway, self.directory / "log" / "audit.jsonl"
        return msgspec.structs.replace(
            self.settings,
            gateway=msgspec.structs.replace(
                gateway,
                port=gateway_port,
                keys=self.directory / "keys.yaml",
                audit=msgspec.structs.replace(gateway.audit, file=audit),
            ),
            kafka=Kafka(*(connection.called(name) for name in names)),
        )

    def write(self, settings: Settings, kafka: Mapping[str, object]) -> None:
        """Write the configuration file with this `kafka` section; `show` leaves secrets out."""
        document = yaml.safe_load(show(settings))
        text = yaml.safe_dump(
            {**document, "kafka": dict(kafka)}, sort_keys=False, allow_unicode=True, width=100
        )
        self.config_file.write_text(_HEADING + text, encoding="utf-8")


def demo_settings(options: DemoOptions, environ: Mapping[str, str]) -> DemoSettings:
    """The default configuration, or the one that `options` names, changed for the demo."""
    if options.config is None:
        environ = {_MEMORY: _DEMO_MEMORY, **environ}
    settings = load(options.config, environ)
    if not {USERS, ACCOUNTS} & settings.sources.keys():
        raise ConfigError(
            "no source named users or accounts, for which the demo has sample events",
            where=str(options.config),
            remedy="Run the demo without -c; for topics of your own, use `evergrid run`.",
        )
    directory = Path(os.path.abspath(options.data_dir or settings.data_dir / "demo"))
    joins = settings.joins
    if options.join:
        kind = JoinType(options.join)
        joins = {name: retyped(join, kind, settings.sources) for name, join in joins.items()}
    changed = msgspec.structs.replace(settings, data_dir=directory / "pipeline", joins=joins)
    return DemoSettings(changed, directory, options)


def _relative(path: Path) -> str:
    """As one would type it in the current directory."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _program() -> str:
    """How to call Evergrid from a shell here: by its path if PATH does not have it."""
    if shutil.which("evergrid"):
        return "evergrid"
    beside = Path(sys.executable).with_name("evergrid")
    return _relative(beside) if beside.exists() else "evergrid"
