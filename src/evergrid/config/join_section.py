"""The `joins` section: two sources, their keys, the type, the columns and the history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from evergrid.config.declaration import DeclaredKeys, Group, Key, NamedSections, setting, subsection
from evergrid.config.section import Section, described
from evergrid.config.source_section import report_float_key
from evergrid.config.value_types import (
    JOINED_COLUMN,
    SOURCE,
    TABLE,
    Value,
    choice,
    one_of,
    whole,
)
from evergrid.config.yaml_tree import ListNode, MapNode, ScalarNode
from evergrid.model.field_types import TimeUnit
from evergrid.model.join import BACKLOG_PAIRS, MOST_PAIRS, History, Join, JoinColumn, JoinType, Side
from evergrid.model.source import Source

_HISTORY = whole(1, 1_000_000_000)
_NO_LIMIT = "no limit: as far back as the table's retention"
_A_SOURCE = Value(str, "a source", "", "")
_A_FIELD = Value(str, "a field; both of exactly the same type", "", "")


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
    backlog_pairs: int = setting(
        whole(1, 1_000_000_000_000),
        "rows of an inner join that history or a backlog may make: a control message that would "
        "make more fails; otherwise each key makes at most so many, the newest",
        str(BACKLOG_PAIRS),
    )
    columns: Mapping[str, str] = subsection(
        NamedSections(
            Key(Value(str, "source.field", "", ""), "the field that a column shows"),
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
        backlog_pairs=section.field(JoinKeys, "backlog_pairs"),
    )
    left, right = sources.get(join.left), sources.get(join.right)
    if join.left and join.left == join.right:
        what = f"found '{join.right}', the left source too"
        section.report(what, "Join two different sources.", "right")
    elif left and right:  # or each was reported where it stands
        join = _with_keys(section, join, left, right)
        columns = _read_columns(section, join, {left.name: left, right.name: right})
        return msgspec.structs.replace(join, columns=columns)
    return join


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
        # A timestamp's unit is gone once it is read.
        comparable = [msgspec.structs.replace(kind, unit=TimeUnit.MILLISECONDS) for kind in types]
        if comparable[0] != comparable[1]:
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
        listing = section.items("columns", node)
        numbers: dict[str, str] = {}
        for number in listing.names:
            name = listing.value(number, reference)
            if name and numbers.setdefault(name, number) != number:
                listing.report(f"found '{name}' a second time", "Remove one of the two.", number)
        return named_columns(join, [known[name] for name in numbers])
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


# A join's type can change while Evergrid runs: the rules below then give the new join, and
# cannot fail.


def join_columns(join: Join, sources: Mapping[str, Source]) -> tuple[JoinColumn, ...]:
    """All columns of the driving side, then all of the other; `join.columns` is not looked at."""
    fields = [
        (side, field.name)
        for side in (join.driving, join.driving.other)
        for field in sources[join.source_of(side)].fields
    ]
    return named_columns(join, fields)


def named_columns(join: Join, fields: Iterable[tuple[Side, str]]) -> tuple[JoinColumn, ...]:
    """`fields` under their own names; the other side's prefixed with its source on a clash.

    Upper and lower case do not tell names apart, since Spark does not. The prefix is put
    on until the name is free, so that the names of the result are always unique.
    """
    wanted = tuple(fields)
    taken = {name.casefold() for side, name in wanted if side is join.driving}
    columns: list[JoinColumn] = []
    for side, field in wanted:
        name = field
        if side is not join.driving:
            while name.casefold() in taken:
                name = f"{join.source_of(side)}_{name}"
            taken.add(name.casefold())
        columns.append(JoinColumn(name, side, field))
    return tuple(columns)


def retyped(join: Join, kind: JoinType, sources: Mapping[str, Source]) -> Join:
    """`join` with another type: what was a default follows the new type, the rest stays."""
    bare = msgspec.structs.replace(join, type=kind)
    default = join.columns == join_columns(join, sources)
    columns = join_columns(bare, sources) if default else join.columns
    return msgspec.structs.replace(bare, columns=columns)
