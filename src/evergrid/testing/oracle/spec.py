"""The part of a configuration that decides what the tables hold.

`from_config` reads the same mapping as a YAML configuration file, and does not validate it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class JoinType(enum.Enum):
    ASOF = "asof"
    LEFT = "left"
    INNER = "inner"


@dataclass(frozen=True)
class LimitsSpec:
    message_bytes: int = 262144
    nesting: int = 64
    quarantine_characters: int = 4096


@dataclass(frozen=True)
class SourceSpec:
    """`fields` is column → type spelling; `json_names` holds only names that differ."""

    name: str
    topic: str
    table: str
    fields: Mapping[str, str]
    key: str
    time: str | None = None
    json_names: Mapping[str, str] = field(default_factory=dict)

    def json_name(self, column: str) -> str:
        return self.json_names.get(column, column)

    @cached_property
    def names(self) -> frozenset[str]:
        """The members of a message that the configuration names."""
        return frozenset(self.json_name(column) for column in self.fields)


@dataclass(frozen=True)
class JoinSpec:
    """`columns` is shown name → (source, field); None shows all fields of both sides.

    `age` is that of the joined table, in microseconds; None keeps rows for ever. Messages that are
    further apart make no row of an inner join. `pairs` is how many partners before it a message of
    an inner join is paired with, the newest ones; exact for messages that come in order.
    """

    name: str
    table: str
    type: JoinType
    left: str
    right: str
    left_key: str
    right_key: str
    columns: Mapping[str, tuple[str, str]] | None = None
    age: int | None = None
    pairs: int = 10_000

    @property
    def driving(self) -> str:
        return self.right if self.type is JoinType.ASOF else self.left

    @property
    def other(self) -> str:
        return self.left if self.type is JoinType.ASOF else self.right


@dataclass(frozen=True)
class Spec:
    sources: Mapping[str, SourceSpec]
    joins: Mapping[str, JoinSpec]
    limits: LimitsSpec


def from_config(config: Mapping[str, object]) -> Spec:
    """The specification of a configuration."""
    sources = {
        name: _source(name, _section(section))
        for name, section in _section(config["sources"]).items()
    }
    joins = {name: _join(name, config, sources) for name in _section(config.get("joins"))}
    limits = {name: int(str(value)) for name, value in _section(config.get("limits")).items()}
    return Spec(sources, joins, LimitsSpec(**limits))


def shown_columns(join: JoinSpec, sources: Mapping[str, SourceSpec]) -> dict[str, tuple[str, str]]:
    """Each data column of the joined table, in order, with the source and field it shows."""
    if join.columns is not None:
        return dict(join.columns)
    sides = (join.driving, join.other)
    return _named(join, [(side, column) for side in sides for column in sources[side].fields])


def _canonical_type(spelling: str) -> str:
    """A type as quarantine's reasons spell it."""
    plain = re.sub(r"\s", "", spelling)
    return "timestamp(ms)" if plain == "timestamp" else plain


def _source(name: str, section: Mapping[str, object]) -> SourceSpec:
    fields: dict[str, str] = {}
    json_names: dict[str, str] = {}
    for column, described in _section(section["fields"]).items():
        details = {"type": described} if isinstance(described, str) else _section(described)
        fields[column] = _canonical_type(str(details["type"]))
        if "from" in details:
            json_names[column] = str(details["from"])
    time = str(section.get("time", "kafka"))
    return SourceSpec(
        name=name,
        topic=str(section.get("topic", name)),
        table=str(section.get("table", name)),
        fields=fields,
        key=str(section["key"]),
        time=None if time == "kafka" else time,
        json_names=json_names,
    )


def _join(name: str, config: Mapping[str, object], sources: Mapping[str, SourceSpec]) -> JoinSpec:
    section = _section(_section(config["joins"])[name])
    left, right = str(section["left"]), str(section["right"])
    table = str(section.get("table", name))
    join = JoinSpec(
        name=name,
        table=table,
        type=JoinType(section.get("type", "left")),
        left=left,
        right=right,
        left_key=str(section.get("left_key", sources[left].key)),
        right_key=str(section.get("right_key", sources[right].key)),
        age=_age(_section(config.get("retention")), table),
        pairs=int(str(section.get("pairs", 10_000))),
    )
    return replace(join, columns=_chosen(join, section.get("columns")))


def _age(retention: Mapping[str, object], table: str) -> int | None:
    """The age of a table's rows in microseconds, if the configuration gives one."""
    own = _section(_section(retention.get("tables")).get(table))
    age = str(own.get("age", _section(retention.get("default")).get("age", "never")))
    return None if age == "never" else int(age[:-1]) * _SECONDS[age[-1]] * 1_000_000


def _chosen(join: JoinSpec, columns: object) -> dict[str, tuple[str, str]] | None:
    if not columns:
        return None
    if isinstance(columns, Mapping):
        return {str(shown): _path(str(path)) for shown, path in columns.items()}
    assert isinstance(columns, Sequence)
    return _named(join, [_path(str(path)) for path in columns])


def _path(path: str) -> tuple[str, str]:
    source, _, column = path.partition(".")
    return source, column


def _named(join: JoinSpec, chosen: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """The driving side's columns keep their names; the other side's give way to them."""
    taken = {column for source, column in chosen if source == join.driving}
    named: dict[str, tuple[str, str]] = {}
    for source, column in chosen:
        clashes = source != join.driving and column in taken
        named[f"{source}_{column}" if clashes else column] = (source, column)
    return named


def _section(value: object) -> Mapping[str, object]:
    if value is None:
        return {}
    assert isinstance(value, Mapping), f"expected a mapping, not {value!r}"
    return value
