"""A gateway with the tables of the default configuration, written to by the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evergrid.config import load
from evergrid.model.table import Table
from tests.client.people import person
from tests.support.local_gateway import LocalGateway


@pytest.fixture(scope="session")
def users() -> Table:
    """The table users_ui: userId, name, email, age."""
    return next(table for table in load(None, {}).raw_tables() if table.name == "users_ui")


@pytest.fixture
def gateway(tmp_path: Path, users: Table) -> Iterator[LocalGateway]:
    made = LocalGateway(tmp_path)
    made.new_key("ops", control=True)
    with made as running:
        running.place(users, [person(number) for number in range(10)])
        yield running
