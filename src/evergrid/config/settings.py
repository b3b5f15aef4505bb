"""What Evergrid runs with, once file, environment and defaults are put together.

All values here are checked and frozen; nothing downstream validates again.
"""

from __future__ import annotations

import enum
import fnmatch
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Self

import msgspec

from evergrid.config.secrets import SecretReader, shown
from evergrid.model.control import topic_words, type_words
from evergrid.model.errors import ConfigError
from evergrid.model.join import Join
from evergrid.model.source import Source
from evergrid.model.table import (
    Retention,
    Table,
    control_table,
    joined_table,
    quarantine_table,
    raw_table,
    status_table,
)


class _Guarded(msgspec.Struct, frozen=True):
    """Settings that may hold secrets: printing them, by whatever road, prints `shown()`."""

    def shown(self) -> Self:
        """The same settings with every secret replaced, safe to show to anybody."""
        raise NotImplementedError

    def __rich_repr__(self) -> list[tuple[str, object]]:
        safe = self.shown()
        return [(name, getattr(safe, name)) for name in self.__struct_fields__]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({fields})"


def _shown(properties: Mapping[str, str], secrets: Set[str] = frozenset()) -> dict[str, str]:
    return {name: shown(name, value, secrets) for name, value in properties.items()}


class ConnectionTemplate(msgspec.Struct, frozen=True):
    """A connection as the configuration has it, with references in place of its secrets."""

    reader: SecretReader
    bootstrap: str
    properties: Mapping[str, str]
    java: Mapping[str, str]
    python: Mapping[str, str]

    def __repr__(self) -> str:
        return "ConnectionTemplate()"  # a person may have written a password


class Connection(_Guarded, frozen=True):
    """How to reach one Kafka cluster.

    `properties` carry the Java client's names and go to both clients, translated for
    the Python one; `java` and `python` carry what only that client knows. `secrets`
    are the values that must never be shown, wherever they ended up in the properties.
    """

    name: str
    bootstrap: str
    properties: Mapping[str, str] = {}
    java: Mapping[str, str] = {}
    python: Mapping[str, str] = {}
    secrets: frozenset[str] = frozenset()
    template: ConnectionTemplate | None = None

    @classmethod
    def of(cls, name: str, template: ConnectionTemplate) -> Connection:
        """The connection with its secrets in place; ConfigError when one is not there."""
        secrets: set[str] = set()

        def reveal(text: str, key: str = "") -> str:
            found = template.reader.reveal(text, key)
            secrets.update(found.secrets)
            return found.text

        def reveal_all(properties: Mapping[str, str]) -> dict[str, str]:
            return {key: reveal(value, key) for key, value in properties.items()}

        return cls(
            name=name,
            bootstrap=reveal(template.bootstrap),
            properties=reveal_all(template.properties),
            java=reveal_all(template.java),
            python=reveal_all(template.python),
            secrets=frozenset(secrets),
            template=template if secrets else None,  # without references it never changes
        )

    def renewed(self) -> Connection:
        """The same with the secrets that their files hold now, which is how they are rotated.

        While one of them cannot be read, perhaps because it is being written, it is as it was then.
        """
        if self.template is None:
            return self
        try:
            return Connection.of(self.name, self.template)
        except ConfigError:
            return self

    def shown(self) -> Connection:
        return Connection(
            name=self.name,
            bootstrap=shown("bootstrap", self.bootstrap, self.secrets),
            properties=_shown(self.properties, self.secrets),
            java=_shown(self.java, self.secrets),
            python=_shown(self.python, self.secrets),
        )


class Kafka(msgspec.Struct, frozen=True):
    """The clusters of the source topics, of the control topic and of our own topics."""

    source: Connection
    control: Connection
    internal: Connection

    @property
    def connections(self) -> tuple[Connection, ...]:
        return (self.source, self.control, self.internal)


class InternalTopics(msgspec.Struct, frozen=True):
    """How the topics that Evergrid creates are made; replication -1 is the broker's default."""

    prefix: str
    partitions: int
    replication: int


class SystemTables(msgspec.Struct, frozen=True):
    """Names of the tables that belong to no generation."""

    quarantine: str
    control_raw: str
    orchestrator_status: str


class Limits(msgspec.Struct, frozen=True):
    """Bounds on one source message, and on how much of a bad one is shown."""

    message_bytes: int
    nesting: int
    quarantine_characters: int


class MissingTopics(enum.Enum):
    """What a pipeline does when a source topic does not exist at its start."""

    FAIL = "fail"
    WAIT = "wait"


class Control(msgspec.Struct, frozen=True):
    """How the pipeline may be changed while it runs.

    `topic` carries the control messages; `allow` are patterns of topics that they may name.
    What a replaced generation leaves stays for `grace_seconds` (None: for ever), up to
    `generations` in all; its queries run on for `drain_seconds`, for gateways that are late.
    """

    topic: str
    allow: tuple[str, ...]
    grace_seconds: int | None
    drain_seconds: int
    generations: int

    def allows(self, topic: str) -> bool:
        return any(fnmatch.fnmatchcase(topic, pattern) for pattern in self.allow)


class Spark(_Guarded, frozen=True):
    """`master` ``local`` means: in this process, with as many slots as the topics need."""

    master: str
    driver_memory: str
    shuffle_partitions: int
    batch_seconds: int
    settings: Mapping[str, str]

    def shown(self) -> Spark:
        return msgspec.structs.replace(self, settings=_shown(self.settings))


class Tls(msgspec.Struct, frozen=True):
    """PEM files: the certificate with its chain, and its private key."""

    certificate: Path
    key: Path


class GatewayLimits(msgspec.Struct, frozen=True):
    """What one client, one key and all of them together may ask of a gateway.

    `strangers` are connections that have not logged in; they have `login_seconds` to do so.
    """

    message_bytes: int
    messages_per_second: int
    windows_per_connection: int
    window_rows: int
    connections: int
    connections_per_key: int
    strangers: int
    login_seconds: int
    views: int
    exports: int


class Gateway(msgspec.Struct, frozen=True):
    """Where and to whom a gateway serves the tables, and what it may use for that.

    `hosts` are names beyond its own under which it may be asked for, as ``name`` or
    ``name:port``; `origins` are the pages beyond its own that may ask. Port 0 is any free
    one. `table_bytes` caps the memory of each table, and a view stays for `linger_seconds`
    after its last viewer left.
    """

    host: str
    port: int
    hosts: tuple[str, ...]
    origins: tuple[str, ...]
    tls: Tls | None
    behind_proxy: bool
    keys: Path
    table_bytes: int
    frame_interval_ms: int
    linger_seconds: float
    limits: GatewayLimits


class Settings(msgspec.Struct, frozen=True):
    """One whole, valid configuration."""

    file: Path | None
    data_dir: Path
    kafka: Kafka
    internal_topics: InternalTopics
    sources: Mapping[str, Source]
    joins: Mapping[str, Join]
    system_tables: SystemTables
    retention: Mapping[str, Retention]
    limits: Limits
    missing_topics: MissingTopics
    control: Control
    spark: Spark
    gateway: Gateway

    def raw_tables(self) -> tuple[Table, ...]:
        return tuple(
            raw_table(source, self.retention[source.table]) for source in self.sources.values()
        )

    def joined_tables(self) -> tuple[Table, ...]:
        return tuple(
            joined_table(join, self.sources, self.retention[join.table])
            for join in self.joins.values()
        )

    def generation_tables(self) -> tuple[Table, ...]:
        """The tables that each generation has of its own."""
        return (*self.raw_tables(), *self.joined_tables())

    def system(self) -> tuple[Table, ...]:
        """The tables that belong to no generation."""
        return (self.quarantine(), self.control_raw(), self.orchestrator_status())

    def control_raw(self) -> Table:
        name = self.system_tables.control_raw
        return control_table(name, self.retention[name])

    def orchestrator_status(self) -> Table:
        name = self.system_tables.orchestrator_status
        chosen = (*topic_words(self.sources).values(), *type_words(self.joins).values())
        return status_table(name, chosen, self.retention[name])

    def quarantine(self) -> Table:
        name = self.system_tables.quarantine
        return quarantine_table(name, self.retention[name])
