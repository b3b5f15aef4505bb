"""One real broker for all system tests; each test brings topics and a prefix of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.testing.installation import Installation

# What comes within seconds on an idle machine has minutes on a busy one; waiting for it costs
# nothing when it comes.
PATIENCE = 600.0

MakeWorld = Callable[[Mapping[str, object]], Installation]

USERS = {"userId": "text", "name": "text", "email": "text", "age": "integer"}
ACCOUNTS = {"userId": "text", "accountType": "text", "balance": "decimal(18,2)"}


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    extra = {"log.retention.check.interval.ms": "1000", "file.delete.delay.ms": "500"}
    with EmbeddedBroker(tmp_path_factory.mktemp("broker"), extra=extra) as broker:
        yield broker


@pytest.fixture
def make_world(broker: EmbeddedBroker, tmp_path: Path, request: pytest.FixtureRequest) -> MakeWorld:
    """A world whose topics carry the test's name, so that tests cannot meet."""
    name = re.sub(r"\W+", "-", request.node.name)[:80]

    def make(config: Mapping[str, object]) -> Installation:
        return Installation(
            tmp_path, broker.connection(), {"internal_topics": {"prefix": f"eg-{name}"}, **config}
        )

    return make


def row_count(world: Installation) -> int:
    """How many rows a comparison of all tables with the oracle's looks at."""
    return sum(len(world.expected(name)) for name in world.tables())


def two_sources(name: str) -> dict[str, object]:
    """Users and accounts, on topics of their own."""
    return {
        "users": {"topic": f"users-{name}", "table": "users_ui", "key": "userId", "fields": USERS},
        "accounts": {
            "topic": f"accounts-{name}",
            "table": "accounts_ui",
            "key": "userId",
            "fields": ACCOUNTS,
        },
    }
