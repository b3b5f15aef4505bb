"""The `kafka` section: the clusters, with references in place of the secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evergrid.config.connection import ClientProperties, Connection, ConnectionTemplate, Kafka
from evergrid.config.declaration import DeclaredKeys, Group, Properties, setting, subsection
from evergrid.config.kafka_security import (
    SecurityKeys,
    read_security,
    refers,
    reveal,
    revealed_value,
)
from evergrid.config.secrets import LOCATION, SecretReader
from evergrid.config.section import Section, from_base
from evergrid.config.value_types import BOOTSTRAP, PROPERTY
from evergrid.config.yaml_tree import ScalarNode
from evergrid.model.errors import ConfigError

_BOOTSTRAP_PURPOSE = "where the brokers are"
_DEFAULT_BOOTSTRAP = "127.0.0.1:9092"
_LIBRARY = "ssl.engine.location"  # no file of ours: it is looked for as the system does
_PROBE = "probe"  # librdkafka's word for looking itself


def _client_properties(purpose: str) -> Properties:
    own_key = "the brokers' addresses have a key of their own", "Set 'bootstrap' instead."
    return Properties(purpose, PROPERTY, {"bootstrap.servers": own_key}, is_lower=True)


class ConnectionKeys(DeclaredKeys, frozen=True):
    """Another cluster; each key given here replaces the common one as a whole."""

    bootstrap: str = setting(BOOTSTRAP, _BOOTSTRAP_PURPOSE, unset="`kafka.bootstrap`")
    security: SecurityKeys = subsection(Group(SecurityKeys, is_optional=True))
    properties: Mapping[str, str] = subsection(
        _client_properties(
            "client properties by the names of the Java client, translated for the Python client; "
            "lines of a .properties file can be pasted after `properties: |`"
        )
    )
    java: Mapping[str, str] = subsection(
        _client_properties("what only the Java client inside Spark knows")
    )
    python: Mapping[str, str] = subsection(
        _client_properties("what only the Python client (librdkafka) knows")
    )


class KafkaKeys(ConnectionKeys, frozen=True):
    """How to reach Kafka. Source topics, control topic and Evergrid's own topics may be on
    different clusters: a key given in `source`, `control` or `internal` replaces the common one
    as a whole."""

    bootstrap: str = setting(BOOTSTRAP, _BOOTSTRAP_PURPOSE, _DEFAULT_BOOTSTRAP)
    source: ConnectionKeys = subsection(
        Group(ConnectionKeys, "the source topics' cluster, where it is another")
    )
    control: ConnectionKeys = subsection(
        Group(ConnectionKeys, "the control topic's cluster, where it is another")
    )
    internal: ConnectionKeys = subsection(
        Group(ConnectionKeys, "Evergrid's own topics' cluster, where it is another")
    )


def read_kafka(section: Section, secrets: SecretReader) -> Kafka:
    """The three connections; each takes from the common keys what its own section leaves out."""
    defaults = {"bootstrap": _DEFAULT_BOOTSTRAP, "security": ClientProperties()}
    common = {**defaults, **_read(section, secrets)}
    names = Kafka.__struct_fields__
    return Kafka(*(_connection(section.section(name), common, secrets) for name in names))


def _connection(section: Section, common: Mapping[str, Any], secrets: SecretReader) -> Connection:
    name, given = section.path[-1], {**common, **_read(section, secrets)}
    bootstrap, security = given.pop("bootstrap"), given.pop("security")
    template = ConnectionTemplate(secrets, bootstrap, security.under(ClientProperties(**given)))
    try:
        return Connection.of(name, template)
    except ConfigError as error:
        if not section.problems:  # or it was reported where it was read
            section.report(error.what, error.remedy)
        return Connection(name, "")


def _read(section: Section, secrets: SecretReader) -> dict[str, Any]:
    """What the section gives; what references stand for is looked at, and they stay in place."""
    given: dict[str, Any] = {
        kind: _properties(section, kind, secrets)
        for kind in ClientProperties.__struct_fields__
        if kind in section
    }
    if "bootstrap" in section:
        found = revealed_value(section, "bootstrap", BOOTSTRAP, secrets)
        node = section.node("bootstrap")
        given["bootstrap"] = node.text if isinstance(node, ScalarNode) else found
    if "security" in section:
        given["security"] = read_security(section.section("security"), secrets)
    return given


def _properties(section: Section, kind: str, secrets: SecretReader) -> dict[str, str]:
    """What is given under `kind`; paths start from where the file is."""
    below = section.section(kind)
    properties: dict[str, str] = section.field(ConnectionKeys, kind)
    for name, text in properties.items():
        reveal(below, name, text, secrets)
        is_path = name.endswith(LOCATION) and name != _LIBRARY and text not in ("", _PROBE)
        if is_path and not refers(below, name):
            # In a path nothing is a reference.
            properties[name] = str(from_base(section.base, text)).replace("${", "$${")
    return properties
