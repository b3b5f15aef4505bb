"""The `kafka` section: the clusters, with secrets put in where the values refer to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from evergrid.config import references
from evergrid.config.kafka_security import Lines, read_security
from evergrid.config.secrets import LOCATION, SecretReader
from evergrid.config.section import Section
from evergrid.config.settings import Connection, ConnectionTemplate, Kafka
from evergrid.config.values import BOOTSTRAP, PROPERTY, PROPERTY_VALUE, from_base
from evergrid.config.yaml_tree import ScalarNode
from evergrid.model.errors import ConfigError

_MAPS = ("properties", "java", "python")
_LIBRARY = "ssl.engine.location"  # no file of ours: it is looked for as the system does
_PROBE = "probe"  # librdkafka's word for looking itself


class _Given(msgspec.Struct, frozen=True):
    """What one section says, as it stands there; None where it says nothing."""

    bootstrap: str | None
    security: Lines | None
    maps: Mapping[str, Mapping[str, str] | None]


class _Reader:
    """Reads connections; what a reference stands for is looked at, and left where it is."""

    def __init__(self, base: Path, secrets: SecretReader) -> None:
        self._base = base
        self.secrets = secrets

    def read(self, section: Section) -> _Given:
        security = section.section("security")
        return _Given(
            bootstrap=self._bootstrap(section) if "bootstrap" in section else None,
            security=self._security(security) if "security" in section else None,
            maps={
                kind: self._map(section.section(kind)) if kind in section else None
                for kind in _MAPS
            },
        )

    def _bootstrap(self, section: Section) -> str:
        found = references.value(section, "bootstrap", BOOTSTRAP, self.secrets)
        node = section.node("bootstrap")
        return node.text if isinstance(node, ScalarNode) else found

    def _security(self, section: Section) -> Lines:
        self._look(section)
        self._look(section.section("extensions"))
        return read_security(section, self._base, self.secrets)

    def _look(self, section: Section) -> None:
        for key in section.names:
            node = section.node(key)
            if isinstance(node, ScalarNode):
                references.reveal(section, key, node.text, self.secrets)

    def _map(self, section: Section) -> dict[str, str]:
        return {name: self._property(section, name) for name in section.names}

    def _property(self, section: Section, name: str) -> str:
        section.read(name, name, PROPERTY)
        if name == "bootstrap.servers":
            remedy = "Set 'bootstrap' instead."
            section.report("the brokers' addresses have a key of their own", remedy, name)
        text = section.value(name, PROPERTY_VALUE)
        references.reveal(section, name, text, self.secrets)
        is_path = name.endswith(LOCATION) and name != _LIBRARY and text not in ("", _PROBE)
        return self._path(text) if is_path and not references.refers(section, name) else text

    def _path(self, text: str) -> str:
        """A path from where the file is, in which nothing looks like a reference."""
        return str(from_base(self._base, text)).replace("${", "$${")


def read_kafka(section: Section, base: Path, secrets: SecretReader) -> Kafka:
    """The three connections; each takes from the common keys what its own section leaves out."""
    reader = _Reader(base, secrets)
    common = reader.read(section)
    return Kafka(
        **{
            name: _connection(section.section(name), reader, common)
            for name in ("source", "control", "internal")
        }
    )


def _connection(section: Section, reader: _Reader, common: _Given) -> Connection:
    name, own = section.path[-1], reader.read(section)
    lines = own.security or common.security or Lines()
    chosen = lines.under(Lines(**{kind: _chosen(own, common, kind) for kind in _MAPS}))
    template = ConnectionTemplate(
        reader=reader.secrets,
        bootstrap=own.bootstrap or common.bootstrap or "",
        properties=chosen.properties,
        java=chosen.java,
        python=chosen.python,
    )
    try:
        return Connection.of(name, template)
    except ConfigError as error:
        if not section.problems:  # or it was reported where it was read
            section.report(error.what, error.remedy)
        return Connection(name, "")


def _chosen(own: _Given, common: _Given, kind: str) -> Mapping[str, str]:
    mine = own.maps[kind]
    return (common.maps[kind] or {}) if mine is None else mine
