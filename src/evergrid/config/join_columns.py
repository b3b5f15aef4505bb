"""What a join has when nobody says otherwise: its columns, by its type.

Pure and total, because a join's type can change while Evergrid runs: the same rules then
give the new join, and cannot fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from evergrid.model.join import Join, JoinColumn, JoinType, Side
from evergrid.model.source import Source


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
