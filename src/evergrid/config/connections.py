"""The `kafka` section: the clusters, with secrets put in where the values refer to them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.config.document import Scalar
from evergrid.config.secrets import Revealed, Vault
from evergrid.config.section import Section
from evergrid.config.settings import Connection, Kafka
from evergrid.config.values import BOOTSTRAP, PROPERTY, PROPERTY_VALUE
from evergrid.model.errors import ConfigError

_MAPS = ("properties", "java", "python")
_REFERS = "${"


class _Given(msgspec.Struct, frozen=True):
    """What one section says; None where it says nothing."""

    bootstrap: Revealed | None
    maps: Mapping[str, Mapping[str, Revealed] | None]


def read_kafka(section: Section, vault: Vault) -> Kafka:
    """The three connections; each takes from the common keys what its own section leaves out."""
    common = _read(section, vault)
    return Kafka(
        **{
            name: _connection(name, _read(section.section(name), vault), common)
            for name in ("source", "control", "internal")
        }
    )


def _connection(name: str, own: _Given, common: _Given) -> Connection:
    bootstrap = own.bootstrap or common.bootstrap or Revealed("")
    chosen: dict[str, Mapping[str, Revealed]] = {}
    for kind in _MAPS:
        mine = own.maps[kind]
        chosen[kind] = (common.maps[kind] or {}) if mine is None else mine
    everything = [bootstrap, *(value for values in chosen.values() for value in values.values())]
    return Connection(
        name=name,
        bootstrap=bootstrap.text,
        properties=_texts(chosen["properties"]),
        java=_texts(chosen["java"]),
        python=_texts(chosen["python"]),
        secrets=frozenset().union(*(value.secrets for value in everything)),
    )


def _texts(values: Mapping[str, Revealed]) -> dict[str, str]:
    return {name: value.text for name, value in values.items()}


def _read(section: Section, vault: Vault) -> _Given:
    return _Given(
        bootstrap=_read_bootstrap(section, vault) if "bootstrap" in section else None,
        maps={
            kind: _read_map(section.section(kind), vault) if kind in section else None
            for kind in _MAPS
        },
    )


def _read_bootstrap(section: Section, vault: Vault) -> Revealed:
    node = section.node("bootstrap")
    if not (isinstance(node, Scalar) and _REFERS in node.text):
        return Revealed(section.value("bootstrap", BOOTSTRAP))
    found = _reveal(section, "bootstrap", node.text, vault)
    if found.text and not BOOTSTRAP.accepts(found.text):
        what = f"what the references stand for is not {BOOTSTRAP.expected}"
        section.report(what, BOOTSTRAP.remedy, "bootstrap")
    return found


def _read_map(section: Section, vault: Vault) -> dict[str, Revealed]:
    return {name: _read_property(section, name, vault) for name in section.names}


def _read_property(section: Section, name: str, vault: Vault) -> Revealed:
    section.read(name, name, PROPERTY)
    if name == "bootstrap.servers":
        remedy = "Set 'bootstrap' instead."
        section.report("the brokers' addresses have a key of their own", remedy, name)
    return _reveal(section, name, section.value(name, PROPERTY_VALUE), vault)


def _reveal(section: Section, key: str, text: str, vault: Vault) -> Revealed:
    try:
        return vault.reveal(text)
    except ConfigError as error:
        section.report(error.what, error.remedy, key)
        return Revealed("")
