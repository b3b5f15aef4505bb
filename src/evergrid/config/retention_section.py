"""The `system_tables` and `retention` sections: names and retention of all tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evergrid.config.declaration import DeclaredKeys, Group, NamedSections, setting, subsection
from evergrid.config.problems import quoted, suggestion
from evergrid.config.section import Section
from evergrid.config.value_types import AGE, TABLE, whole
from evergrid.config.yaml_tree import ScalarNode
from evergrid.model.table import Retention

_ROWS = whole(1, 1_000_000_000)
_ROWS_PURPOSE = "how many of its newest rows a table keeps"
_AGE_PURPOSE = "how old its rows may get"
# Of what was asked and done: few rows, which say something however old they are.
_HISTORY = Retention(rows=10_000)


class SystemTables(DeclaredKeys, frozen=True):
    """Names of the tables that belong to no generation."""

    quarantine: str = setting(
        TABLE, "the table of messages that could not become rows", "quarantine"
    )
    control_raw: str = setting(
        TABLE, "the table of control messages with their verdicts", "control_raw"
    )
    orchestrator_status: str = setting(TABLE, "the table of generations", "orchestrator_status")


class DefaultRetention(DeclaredKeys, frozen=True):
    """What a table keeps unless `tables` says otherwise."""

    rows: int | None = setting(_ROWS, _ROWS_PURPOSE, "1000000")
    age: int | None = setting(AGE, _AGE_PURPOSE, "7d")


class TableRetention(DeclaredKeys, frozen=True):
    """What one table keeps, whatever its kind."""

    rows: int | None = setting(
        _ROWS,
        _ROWS_PURPOSE,
        unset="`default.rows`; for `control_raw` and `orchestrator_status` `10000`",
    )
    age: int | None = setting(
        AGE,
        _AGE_PURPOSE,
        unset="`default.age`; for `control_raw` and `orchestrator_status` `never`",
    )


class RetentionKeys(DeclaredKeys, frozen=True):
    """What each table keeps: its newest rows, none older than its age."""

    default: DefaultRetention = subsection(Group(DefaultRetention))
    tables: Mapping[str, TableRetention] = subsection(
        NamedSections(
            Group(TableRetention),
            "what single tables keep instead: `{final_ui: {rows: 5000000}}`",
            "none",
        )
    )


def wanted_tables(root: Section) -> Iterator[tuple[Section, str, str]]:
    """Which section wants which table, under which key; names are checked by their readers."""
    system = root.section("system_tables")
    wanted = [(system, key, key) for key in SystemTables.__struct_fields__]
    for part in (root.section("sources"), root.section("joins")):
        wanted += [(part.section(name), "table", name) for name in part.names]
    for section, key, default in wanted:
        node = section.node(key)
        if node is None or isinstance(node, ScalarNode):
            yield section, key, node.text if node else default


def read_table_names(root: Section) -> tuple[str, ...]:
    """The name of every table, after reporting those that two tables want."""
    owners: dict[str, str] = {}
    names: list[str] = []
    for section, key, table in wanted_tables(root):
        here = ".".join((*section.path, key))
        owner = owners.setdefault(table.casefold(), here)
        if owner != here:
            what = f"found '{table}', the name of another table too ({owner})"
            section.report(what, "Give each table a name of its own.", key)
        names.append(table)
    return tuple(names)


def read_retention(
    section: Section, tables: tuple[str, ...], system: SystemTables
) -> dict[str, Retention]:
    """What each table keeps: its own numbers where given, else the default ones.

    The default is for tables of messages; those of the pipeline's history have their own.
    """
    default = section.section("default").read(DefaultRetention)
    own = section.section("tables")
    for name in own.names:
        if name not in tables:
            remedy = suggestion(name, tables, f"Known tables: {', '.join(tables)}.")
            own.report(f"there is no table {quoted(name)}", remedy, name)
    history = (system.control_raw, system.orchestrator_status)
    common = Retention(default.rows, default.age)
    return {
        table: _retention(own.section(table), _HISTORY if table in history else common)
        for table in dict.fromkeys(tables)
    }


def _retention(section: Section, common: Retention) -> Retention:
    own = section.read(TableRetention)
    return Retention(
        rows=own.rows if "rows" in section else common.rows,
        age_seconds=own.age if "age" in section else common.age_seconds,
    )
