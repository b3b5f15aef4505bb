"""The `joins` section: two sources, their keys, the type, the columns and the history."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from evergrid.config.declaration import DeclaredKeys, Group, Key, NamedSections, setting, subsection
from evergrid.config.join_columns import join_columns, named_columns
from evergrid.config.section import Section, described
from evergrid.config.source_section import report_float_key
from evergrid.config.value_types import (
    JOINED_COLUMN,
    SOURCE,
    TABLE,
    Value,
    choice,
    one_of,
    text_value,
    whole,
)
from evergrid.config.yaml_tree import ListNode, MapNode, ScalarNode
from evergrid.model.field_types import FieldType
from evergrid.model.join import MOST_PAIRS, History, Join, JoinColumn, JoinType, Side
from evergrid.model.source import Source

_HISTORY = whole(1, 1_000_000_000)
_NO_LIMIT = "no limit: as far back as the table's retention"
_A_SOURCE = text_value(bool, "a source", "")
_A_FIELD = text_value(bool, "a field; both of exactly the same type", "")


class HistoryKeys(DeclaredKeys, frozen=True):
    """How many of a key's latest messages the join looks back on."""

    left: int | None = setting(
        _HISTORY, "latest messages of a key that it looks back on, on the left", unset=_NO_LIMIT
    )
    right: int | None = setting(
        _HISTORY, "the same on the right; for a left join always 1", unset=_NO_LIMIT
    )


class JoinKeys(DeclaredKeys, frozen=True):
    """Tables that join two sources by a common key."""

    table: str = setting(TABLE, "the table that shows the result", unset="the join's name")
    type: JoinType = setting(choice(JoinType), "which rows are paired (docs/joins.md)", "left")
    left: str = setting(_A_SOURCE, "the left source")
    right: str = setting(_A_SOURCE, "the right source, another one than the left")
    left_key: str = setting(
        _A_FIELD, "the field of the left source that is compared", unset="its `key`"
    )
    right_key: str = setting(
        _A_FIELD, "the field of the right source that is compared", unset="its `key`"
    )
    pairs: int = setting(
        whole(1, 1_000_000),
        "rows of an inner join that one message may make, the newest first",
        str(MOST_PAIRS),
    )
    columns: Mapping[str, str] = subsection(
        NamedSections(
            Key(text_value(bool, "source.field", ""), "the field that a column shows"),
            "the columns of the result as `{shown_name: source.field}` or `[source.field]`",
            "all columns of both sides",
        )
    )
    history: HistoryKeys = subsection(Group(HistoryKeys))


def read_joins(section: Section, sources: Mapping[str, Source | None]) -> dict[str, Join]:
    """Every join by its name, with all that it left to the defaults filled in."""
    section.check_names(SOURCE)
    return {name: _read_join(section.section(name), sources) for name in section.names}


def _read_join(section: Section, sources: Mapping[str, Source | None]) -> Join:
    name, before = section.path[-1], len(section.problems)
    kind = section.field(JoinKeys, "type")
    type_is_known = len(section.problems) == before
    join = Join(
        name=name,
        table=section.field(JoinKeys, "table") or name,
        type=kind,
        left=section.value("left", one_of(sources, "a source:")),
        right=section.value("right", one_of(sources, "a source:")),
        left_key="",
        right_key="",
        history=_read_history(section.section("history"), kind if type_is_known else None),
        columns=(),
        pairs=section.field(JoinKeys, "pairs"),
    )
    if join.left and join.left == join.right:
        section.report(
            f"found '{join.right}', the left source too", "Join two different sources.", "right"
        )
        return join
    left, right = sources.get(join.left), sources.get(join.right)
    if not left or not right:  # each was reported where it stands
        return join
    join = _with_keys(section, join, left, right)
    return msgspec.structs.replace(
        join, columns=_read_columns(section, join, {left.name: left, right.name: right})
    )


def _read_history(section: Section, kind: JoinType | None) -> History:
    """`kind` is None when the type is not known, and with it what the right side may be."""
    given = section.read(HistoryKeys)
    if kind is JoinType.LEFT and given.right not in (None, 1):
        section.report(
            f"found '{given.right}', but a left join looks at the one latest row of its right side",
            "Remove this key, or choose the type asof or inner.",
            "right",
        )
    return History(given.left, None if kind is JoinType.LEFT else given.right)


def _with_keys(section: Section, join: Join, left: Source, right: Source) -> Join:
    before = len(section.problems)
    left_key = _read_key(section, "left_key", left)
    right_key = _read_key(section, "right_key", right)
    if len(section.problems) == before:
        types = left.field(left_key).type, right.field(right_key).type
        if _comparable(types[0]) != _comparable(types[1]):
            section.report(
                f"the keys differ in type: {left.name}.{left_key} is {types[0]}, "
                f"{right.name}.{right_key} is {types[1]}",
                "Give both fields the same type.",
            )
    return msgspec.structs.replace(join, left_key=left_key, right_key=right_key)


def _read_key(section: Section, name: str, source: Source) -> str:
    fields = {field.name: field for field in source.fields}
    key = section.value(name, one_of(fields, f"a field of {source.name}:"), source.key)
    if name in section:
        report_float_key(section, name, fields.get(key))
    return key


def _comparable(kind: FieldType) -> tuple[object, int, int]:
    """What makes two types equal; a timestamp's unit is gone once it is read."""
    return kind.kind, kind.precision, kind.scale


def _read_columns(
    section: Section, join: Join, sources: Mapping[str, Source]
) -> tuple[JoinColumn, ...]:
    node = section.node("columns")
    if node is None:
        return join_columns(join, sources)
    known = {
        f"{join.source_of(side)}.{field.name}": (side, field.name)
        for side in Side
        for field in sources[join.source_of(side)].fields
    }
    reference = one_of(known)
    if isinstance(node, ListNode) and node.items:
        return named_columns(join, _listed(section, node, reference, known))
    if isinstance(node, MapNode) and node.entries:
        columns = section.section("columns")
        columns.check_names(JOINED_COLUMN)
        fields = {name: known.get(columns.value(name, reference)) for name in columns.names}
        return tuple(JoinColumn(name, *field) for name, field in fields.items() if field)
    found = described(node) if isinstance(node, ScalarNode) else "none"
    section.report(
        f"found {found}, expected columns as {{shown_name: source.field}} or [source.field]",
        "Name at least one, or leave 'columns' out to show all.",
        "columns",
    )
    return ()


def _listed(
    section: Section, node: ListNode, reference: Value[str], known: Mapping[str, tuple[Side, str]]
) -> tuple[tuple[Side, str], ...]:
    listing = section.items("columns", node)
    fields: dict[tuple[Side, str], str] = {}
    for number in listing.names:
        name = listing.value(number, reference)
        if name and fields.setdefault(known[name], number) != number:
            listing.report(f"found '{name}' a second time", "Remove one of the two.", number)
    return tuple(fields)
