"""What Evergrid runs with, once file, environment and defaults are put together.

All values here are checked and frozen; nothing downstream validates again. The annotations
declare the configuration's keys.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path

import msgspec

from evergrid.config.connection import (
    ClientProperties,
    Connection,
    ConnectionTemplate,
    HidesSecrets,
    Kafka,
    shown_properties,
)
from evergrid.config.control_section import Control
from evergrid.config.declaration import (
    DeclaredKeys,
    Group,
    NamedSections,
    Properties,
    setting,
    subsection,
)
from evergrid.config.gateway_section import Gateway, GatewayLimits, Tls
from evergrid.config.join_section import JoinKeys
from evergrid.config.kafka_section import KafkaKeys
from evergrid.config.quantities import DRIVER_MEMORY, duration
from evergrid.config.retention_section import RetentionKeys, SystemTables
from evergrid.config.source_section import SourceKeys
from evergrid.config.value_types import DIRECTORY_PATH, MASTER, PREFIX, SETTING, choice, whole
from evergrid.model.control_request import topic_words, type_words
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

__all__ = [
    "CONFIGURATION",
    "ClientProperties",
    "Connection",
    "ConnectionTemplate",
    "Control",
    "Gateway",
    "GatewayLimits",
    "InternalTopics",
    "Kafka",
    "Limits",
    "MissingTopics",
    "Settings",
    "Spark",
    "SystemTables",
    "Tls",
]

_OWN_KEY = "this setting has a key of its own"
_RESERVED = {
    "spark.master": (_OWN_KEY, "Set spark.master instead."),
    "spark.driver.memory": (_OWN_KEY, "Set spark.driver_memory instead."),
    "spark.sql.shuffle.partitions": (_OWN_KEY, "Set spark.shuffle_partitions instead."),
}


class InternalTopics(DeclaredKeys, frozen=True):
    """Evergrid's own topics: `<prefix>.manifest`, `<prefix>.g<N>.<table>` and so on."""

    prefix: str = setting(PREFIX, "start of the name of each topic that Evergrid makes", "evergrid")
    partitions: int = setting(whole(1, 1000), "partitions of each of these topics", "2")
    replication: int = setting(
        whole(1, 100, also=-1),
        "copies of each partition; -1: as many as the broker is set to",
        "-1",
    )


class Limits(DeclaredKeys, frozen=True):
    """Bounds on one source message, and on how much of a bad one is shown."""

    message_bytes: int = setting(
        whole(1024, 16 * 1024 * 1024), "a larger source message goes to quarantine", "262144"
    )
    nesting: int = setting(whole(1, 1000), "so does one that nests deeper", "64")
    # Quarantined text goes into one Kafka message, in which it may grow sixfold.
    quarantine_characters: int = setting(
        whole(1, 65536), "how much of a bad message's text is shown", "4096"
    )


class MissingTopics(enum.Enum):
    """What a pipeline does when a source topic does not exist at its start."""

    FAIL = "fail"
    WAIT = "wait"


class Spark(HidesSecrets, frozen=True):
    """Where and how Spark runs."""

    master: str = setting(
        MASTER,
        "where Spark runs; `local`: in this process, with the slots that the topics need; a "
        "cluster has to have them, docs/operations.md",
        "local",
    )
    driver_memory: str = setting(DRIVER_MEMORY, "memory of the driver", "2g")
    shuffle_partitions: int = setting(
        whole(1, 1000), "parts that a join's state is split into", "2"
    )
    # Spark's real-time mode refuses batches under 5 seconds.
    batch_seconds: int = setting(
        duration(5, 3600, "5m"),
        "how much input a crash replays; each end of a batch costs a short pause",
        "5m",
        name="batch",
    )
    settings: Mapping[str, str] = subsection(
        Properties("other Spark settings, as in Spark's documentation", SETTING, _RESERVED)
    )

    def shown(self) -> Spark:
        return msgspec.structs.replace(self, settings=shown_properties(self.settings))


class Settings(DeclaredKeys, frozen=True):
    """One whole, valid configuration."""

    file: Path | None
    data_dir: Path = setting(
        DIRECTORY_PATH,
        "where checkpoints, logs and the demo's broker keep their files",
        ".evergrid",
    )
    kafka: Kafka = subsection(Group(KafkaKeys, has_secrets=True))
    internal_topics: InternalTopics = subsection(Group(InternalTopics))
    sources: Mapping[str, Source] = subsection(NamedSections(Group(SourceKeys)))
    joins: Mapping[str, Join] = subsection(NamedSections(Group(JoinKeys)))
    system_tables: SystemTables = subsection(Group(SystemTables))
    retention: Mapping[str, Retention] = subsection(Group(RetentionKeys))
    limits: Limits = subsection(Group(Limits))
    missing_topics: MissingTopics = setting(
        choice(MissingTopics), "what to do when a source topic does not exist at the start", "fail"
    )
    control: Control = subsection(Group(Control))
    spark: Spark = subsection(Group(Spark))
    gateway: Gateway = subsection(Group(Gateway))

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


CONFIGURATION = Group(Settings)  # every key that a configuration can have
