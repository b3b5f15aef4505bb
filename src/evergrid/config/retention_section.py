"""The names and the retention of all tables: of sources, of joins, and of the system."""

from __future__ import annotations

from collections.abc import Iterator

from evergrid.config.problems import quoted, suggestion
from evergrid.config.section import Section
from evergrid.config.settings import SystemTables
from evergrid.config.values import AGE, TABLE, whole
from evergrid.config.yaml_tree import ScalarNode
from evergrid.model.table import Retention

ROWS = whole(1, 1_000_000_000)
# Of what was asked and done: few rows, which say something however old they are.
_HISTORY = Retention(rows=10_000)


def read_system_tables(section: Section) -> SystemTables:
    return SystemTables(
        quarantine=section.value("quarantine", TABLE),
        control_raw=section.value("control_raw", TABLE),
        orchestrator_status=section.value("orchestrator_status", TABLE),
    )


def read_table_names(root: Section) -> tuple[str, ...]:
    """The name of every table, after reporting those that two tables want."""
    owners: dict[str, str] = {}
    names: list[str] = []
    for section, key, table in _wanted(root):
        here = ".".join((*section.path, key))
        owner = owners.setdefault(table.casefold(), here)
        if owner != here:
            what = f"found '{table}', the name of another table too ({owner})"
            section.report(what, "Give each table a name of its own.", key)
        names.append(table)
    return tuple(names)


def _wanted(root: Section) -> Iterator[tuple[Section, str, str]]:
    """Which section wants which table, under which key; names are checked by their readers."""
    system = root.section("system_tables")
    for key in system.names:
        if isinstance(node := system.node(key), ScalarNode):
            yield system, key, node.text
    for part in ("sources", "joins"):
        owners = root.section(part)
        for name in owners.names:
            section = owners.section(name)
            node = section.node("table")
            if node is None or isinstance(node, ScalarNode):
                yield section, "table", node.text if node else name


def read_retention(
    section: Section, tables: tuple[str, ...], system: SystemTables
) -> dict[str, Retention]:
    """What each table keeps: its own numbers where given, else the default ones.

    The default speaks of messages; the pipeline's own history is kept otherwise.
    """
    default = section.section("default")
    common = Retention(default.value("rows", ROWS), default.value("age", AGE))
    own = section.section("tables")
    for name in own.names:
        if name not in tables:
            remedy = suggestion(name, tables, f"Known tables: {', '.join(tables)}.")
            own.report(f"there is no table {quoted(name)}", remedy, name)
    history = (system.control_raw, system.orchestrator_status)
    return {
        table: _retention(own.section(table), _HISTORY if table in history else common)
        for table in dict.fromkeys(tables)
    }


def _retention(section: Section, common: Retention) -> Retention:
    return Retention(
        rows=section.value("rows", ROWS) if "rows" in section else common.rows,
        age_seconds=section.value("age", AGE) if "age" in section else common.age_seconds,
    )
