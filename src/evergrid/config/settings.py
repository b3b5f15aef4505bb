"""What Evergrid runs with, once file, environment and defaults are put together.

All values here are checked and frozen; nothing downstream validates again. The annotations
declare the configuration's keys.
"""

from __future__ import annotations

import enum
import fnmatch
from collections.abc import Mapping
from pathlib import Path

import msgspec

from evergrid.config.connection import Connection, HidesSecrets, Kafka, shown_properties
from evergrid.config.declaration import (
    DeclaredKeys,
    Group,
    NamedSections,
    Properties,
    setting,
    setting_list,
    subsection,
)
from evergrid.config.join_section import JoinKeys, retyped
from evergrid.config.kafka_section import KafkaKeys
from evergrid.config.retention_section import RetentionKeys, SystemTables
from evergrid.config.source_section import SourceKeys
from evergrid.config.value_types import (
    AGE,
    BOOLEAN,
    DIRECTORY_PATH,
    DRIVER_MEMORY,
    FILE_PATH,
    MASTER,
    PREFIX,
    SETTING,
    TOPIC,
    TOPIC_PATTERN,
    choice,
    duration,
    in_seconds,
    memory,
    short_duration,
    whole,
)
from evergrid.config.web_addresses import HIGHEST_PORT, HOST, LISTEN, ORIGIN
from evergrid.model.control_request import Request, topic_words, type_words
from evergrid.model.errors import DataError
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

__all__ = ["Connection", "Kafka", "Settings"]

_MANY = whole(1, 1_000_000)
_FRAME = memory(2**16, 2**30)
_BYTES = memory(2**20, 2**40)
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
    min_insync: int = setting(
        whole(1, 100, also=-1),
        "copies that must have a record before it counts as written; -1: more than half of "
        "`replication` if that is 3 or more, else what the broker is set to",
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


class Control(DeclaredKeys, frozen=True):
    """Change sources' topics and joins' types while people watch: docs/control.md."""

    topic: str = setting(
        TOPIC,
        "where control messages are read from, the first one first; made when it is missing",
        "evergrid-control",
    )
    allow: tuple[str, ...] = setting_list(
        TOPIC_PATTERN,
        "which topics control messages may name",
        unset="the sources' own topics, and those called like a later version of them: "
        "`users_v2`, `users.new`, `users-2`",
    )
    grace_seconds: int | None = setting(
        AGE,
        "how long what a replaced generation left is kept, so that going back is quick; "
        "`never`: it is kept as long as there is room",
        "15m",
        name="grace",
    )
    drain_seconds: int = setting(
        duration(1, 3600, "10s"),
        "how long a replaced generation's queries still run, for gateways that are late",
        "10s",
        name="drain",
    )
    generations: int = setting(
        whole(2, 20),
        "how many there may be at a time: the current one, one that is coming, replaced ones",
        "3",
    )

    def allows(self, topic: str) -> bool:
        return any(fnmatch.fnmatchcase(topic, pattern) for pattern in self.allow)


class Tls(DeclaredKeys, frozen=True):
    """PEM files for https; without them the gateway serves plain http."""

    certificate: Path = setting(FILE_PATH, "the certificate with its chain")
    key: Path = setting(FILE_PATH, "its private key")


class GatewayLimits(DeclaredKeys, frozen=True):
    """What one client, one key and all of them together may ask of a gateway."""

    # A login and a filter of a few conditions must fit.
    message_bytes: int = setting(
        whole(1024, 1024 * 1024), "size of one message from a client", "16384"
    )
    messages_per_second: int = setting(
        whole(1, 10_000), "messages from one connection; twice as many in a burst", "50"
    )
    windows_per_connection: int = setting(whole(1, 10_000), "open windows of one connection", "64")
    window_rows: int = setting(whole(1, 100_000), "rows of one window", "5000")
    connections: int = setting(_MANY, "connections in total", "5000")
    connections_per_key: int = setting(_MANY, "connections of one key", "2500")
    strangers: int = setting(_MANY, "connections that have not logged in", "100")
    login_seconds: int = setting(
        duration(1, 60, "5s"), "how long they have to log in", "5s", name="login"
    )
    views: int = setting(_MANY, "different views at a time", "500")
    views_per_key: int = setting(
        _MANY, "different views of one key; a view that many share counts once", "250"
    )
    frame_bytes: int = setting(
        _FRAME, "bytes of one frame; a window with wider rows is cut to fewer of them", "8m"
    )
    bytes_per_connection: int = setting(_BYTES, "bytes of one connection's windows", "64m")
    bytes_per_key: int = setting(
        _BYTES, "bytes of one key's windows, and of what is being sent to it", "512m"
    )
    total_bytes: int = setting(_BYTES, "bytes of all windows, and of all that is being sent", "1g")
    exports: int = setting(whole(1, 1000), "large downloads at a time", "4")
    exports_per_key: int = setting(whole(1, 1000), "large downloads of one key at a time", "2")


class Audit(DeclaredKeys, frozen=True):
    """The gateway's audit log: who logged in, was refused, asked for what; docs/security.md."""

    file: Path = setting(
        FILE_PATH, "its file, one JSON object a line", unset="`log/audit.jsonl` inside `data_dir`"
    )
    file_bytes: int = setting(
        memory(2**16, 2**40), "before it grows larger, it is renamed to `.1`", "16m", name="size"
    )
    files: int = setting(whole(2, 1000), "files that are kept, this one included", "10")


class Gateway(DeclaredKeys, frozen=True):
    """Who may look at the tables, from where, and how much they may ask for; docs/security.md."""

    host: str = setting(
        LISTEN,
        "where it listens; beyond this machine only with `tls` or `behind_proxy`; `0.0.0.0` "
        "and `::` are all addresses of this machine",
        "127.0.0.1",
    )
    port: int = setting(whole(0, HIGHEST_PORT), "the port there; 0: any free one", "8080")
    hosts: tuple[str, ...] = setting_list(
        HOST, "other names by which browsers may address it", "[]"
    )
    origins: tuple[str, ...] = setting_list(
        ORIGIN, "other sites whose pages may send requests to it", "[]"
    )
    tls: Tls | None = subsection(Group(Tls, is_optional=True))
    behind_proxy: bool = setting(BOOLEAN, "whether a proxy in front of it serves https", "false")
    keys: Path = setting(
        FILE_PATH, "the file that `evergrid key` writes", unset="`keys.yaml` inside `data_dir`"
    )
    table_bytes: int = setting(
        memory(2**20, 2**40),
        "memory of one table; one that needs more drops its oldest rows",
        "2g",
        name="memory_per_table",
    )
    frame_interval_ms: int = setting(
        short_duration(1, 10_000, "25ms"),
        "changes within it reach the viewers together",
        "25ms",
        name="frame_interval",
    )
    linger_seconds: float = setting(
        in_seconds(short_duration(0, 3_600_000, "10s")),
        "how long a view stays after its last viewer left",
        "10s",
        name="linger",
    )
    limits: GatewayLimits = subsection(Group(GatewayLimits))
    audit: Audit = subsection(Group(Audit))


class LogFormat(enum.Enum):
    TEXT = "text"
    JSON = "json"


class LogLevel(enum.Enum):
    INFO = "info"
    DEBUG = "debug"


class Log(DeclaredKeys, frozen=True):
    """What pipeline and gateway print while they run; docs/operations.md."""

    format: LogFormat = setting(choice(LogFormat), "lines of text, or JSON objects", "text")
    level: LogLevel = setting(
        choice(LogLevel),
        "`debug`: also each row that the gateway applies and each frame that it sends, by ids",
        "info",
    )


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
    log: Log = subsection(Group(Log))

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


def requested_settings(settings: Settings, request: Request) -> Settings:
    """`settings` with the requested changes; DataError when two sources would read one topic.

    Requests for sources and joins that no longer exist are ignored.
    """
    sources = {
        name: msgspec.structs.replace(source, topic=request.topics.get(name, source.topic))
        for name, source in settings.sources.items()
    }
    owners: dict[str, str] = {}
    for name, source in sources.items():
        owner = owners.setdefault(source.topic, name)
        if owner != name:
            raise DataError(f"sources {owner} and {name} would both read topic {source.topic}")
    joins = {
        name: retyped(join, request.types.get(name, join.type), sources)
        for name, join in settings.joins.items()
    }
    return msgspec.structs.replace(settings, sources=sources, joins=joins)
