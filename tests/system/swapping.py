"""A pipeline that is changed under load, with viewers at two gateways who remember it all."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evergrid.changelog.codec import Row
from evergrid.client import LiveWindow
from evergrid.kafka import topics
from evergrid.kafka.message_sender import Sender, SentPosition
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.control_request import Request
from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType
from evergrid.testing import oracle
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import START_MS, Send
from tests.support.reference_viewer import Judge, Viewer, ViewerGroup, WindowOptions, never_blank
from tests.system.conftest import PATIENCE, two_sources
from tests.system.gateways import gateway_section
from tests.system.judging import Judge as Oracle
from tests.system.steady import Steady

# In which columns the messages say which topic they were sent to.
TELLING = {
    "users_ui": ("email",),
    "accounts_ui": ("accountType",),
    "final_ui": ("email", "accountType"),
}
VIEWS: list[tuple[str, WindowOptions]] = [
    ("users_ui", {"offset": -50, "limit": 50}),
    ("accounts_ui", {"order": "-balance", "limit": 100}),
    ("final_ui", {"order": "-ts", "limit": 60}),
    (
        "final_ui",
        {
            "where": {"column": "age", "op": "greater", "value": 30},
            "order": "-balance,name",
            "offset": 12,
            "limit": 40,
        },
    ),
]
_LOT = 5  # messages to each topic
_BAD = 0.03
_KEYS_AT_A_TIME = 30
_SPAN_MS = 4_000


def config(name: str, port: int, **control: object) -> dict[str, object]:
    return {
        "sources": two_sources(name),
        "joins": {"final": {"table": "final_ui", "left": "users", "right": "accounts"}},
        "spark": {"batch": "10s"},
        "gateway": gateway_section(port, linger="1s"),
        "control": {"topic": f"control-{name}", **control},
    }


def turn_to(world: Installation, chosen: Mapping[str, str], types: Mapping[str, str]) -> None:
    """Expect other topics and join types than those of the file from now on."""
    changed: Any = copy.deepcopy(world.config)
    for name, topic in chosen.items():
        changed["sources"][name]["topic"] = topic
    for name, kind in types.items():
        changed["joins"][name]["type"] = kind
    world.spec = oracle.from_config(changed)


class Load:
    """Messages to two topics of each source, whether anybody reads them or not."""

    def __init__(self, world: Installation, name: str, rng: random.Random) -> None:
        self._world = world
        self._rng = rng
        self._lots = 0
        self.users = [f"users-{name}", f"users-{name}.v2"]
        self.accounts = [f"accounts-{name}", f"accounts-{name}.v2"]
        self.steady = Steady(self.send)

    def make_topics(self) -> None:
        specs = [
            NewTopicSpec(topic, 2, 1, {"retention.ms": "-1"})
            for topic in (*self.users, *self.accounts)
        ]
        topics.create(self._world.connection, specs)

    def send(self, lots: int = 1) -> None:
        for _ in range(lots):
            self._lots += 1
            sends = [
                self._message(topic) for topic in (*self.users, *self.accounts) for _ in range(_LOT)
            ]
            self._world.send(sends)

    def changes(self, rng: random.Random, runs: dict[str, str]) -> Iterator[dict[str, str]]:
        """What may be asked for, over and over: anything but what runs."""
        while True:
            fields = {
                "usersTopic": rng.choice(self.users),
                "accountsTopic": rng.choice(self.accounts),
                "joinType": rng.choice(["asof", "left", "inner"]),
            }
            if fields != runs:
                yield fields
                runs = fields

    def _message(self, topic: str) -> Send:
        rng = self._rng
        # Few messages of one key, so that the live joins look back on all of them.
        key = f"u{self._lots + rng.randrange(_KEYS_AT_A_TIME)}"
        fields: dict[str, object] = {"userId": key, "email": topic, "accountType": topic}
        fields |= {"name": f"n{rng.randrange(1000)}", "age": rng.randrange(90)}
        fields["balance"] = f"{rng.randrange(10**6) / 100:.2f}"
        value = b"not JSON" if rng.random() < _BAD else json.dumps(fields).encode()
        at = START_MS + self._lots * 200 + rng.randrange(_SPAN_MS)
        return Send(topic, rng.randrange(2), at, key.encode(), value)


class Operator:
    """Asks for changes by control messages, and reads what became of them."""

    def __init__(self, world: Installation, oracle: Oracle, topic: str) -> None:
        self._world = world
        self._oracle = oracle
        self._topic = topic
        self._asked = Request()
        self._sender = Sender(world.connection)
        self.currents: list[int] = []

    def send(self, *values: bytes | None) -> list[str]:
        """Any bytes; the row ids of the messages in `control_raw`."""
        sent: list[SentPosition | None] = []
        for value in values:
            self._sender.send(self._topic, value, sent=sent)
        self._sender.flush(PATIENCE)
        return [f"{place.partition}:{place.offset}" for place in sent if place is not None]

    def ask(self, **fields: str) -> str:
        return self.send(json.dumps(fields).encode())[0]

    def verdict(self, row_id: str) -> Row:
        """The row of a message; empty while there is none."""
        try:
            return self._world.table("control_raw").get(row_id, {})
        except LinkError:
            return {}

    def wait_for(self, row_id: str, *verdicts: str) -> Row:
        """The row of a message once it has one of these verdicts."""
        return wait_for(
            lambda: self.verdict(row_id), lambda row: row.get("verdict") in verdicts, PATIENCE
        )

    def status(self, generation: int) -> Row:
        return self._world.table("orchestrator_status").get(str(generation), {})

    def swap(self, **fields: str) -> int:
        """Ask, wait until it is live, and know what is right from now on; the generation."""
        row = self.wait_for(self.ask(**fields), "applied", "failed", "invalid")
        assert row["verdict"] == "applied", row
        return self.applied(int(str(row["generation"])), **fields)

    def applied(self, generation: int, **fields: str) -> int:
        """What was asked for is live under this number."""
        request = Request(
            {name.removesuffix("Topic"): v for name, v in fields.items() if name != "joinType"},
            {"final": JoinType(fields["joinType"])} if "joinType" in fields else {},
        )
        self._asked = request.over(self._asked)
        types = {name: kind.value for name, kind in self._asked.types.items()}
        turn_to(self._world, self._asked.topics, types)
        self._oracle.turn_to(self._asked)
        self.currents.append(generation)
        return generation


class Watch:
    """The same windows at each of several gateways, and what was seen in them."""

    def __init__(self, audiences: Sequence[ViewerGroup]) -> None:
        self.viewers: list[tuple[Viewer, str, WindowOptions]] = []
        self._seen: list[tuple[Viewer, list[tuple[int, frozenset[str]]]]] = []
        for audience in audiences:
            for table, view in VIEWS:
                seen: list[tuple[int, frozenset[str]]] = []
                viewer = audience.add(table, (never_blank, _witness(table, seen)), **view)
                self.viewers.append((viewer, table, view))
                self._seen.append((viewer, seen))

    def wait_until_right(self, oracle: Oracle) -> None:
        for viewer, table, view in self.viewers:
            oracle.wait_until_shown(viewer, table, view)

    def check(self, currents: Sequence[int], status: Mapping[str, Row]) -> None:
        """Each saw the generations in their order, up to the last, and of each nothing but its own
        rows. One that was followed by the next before a gateway had it is shown to nobody there."""
        for viewer, seen in self._seen:
            shown = [one for i, (one, _) in enumerate(seen) if not i or seen[i - 1][0] != one]
            ahead = iter(currents)
            assert all(one in ahead for one in shown), f"{viewer.name}: {shown}"
            assert shown[-1] == currents[-1], f"{viewer.name}: {shown}"
            for generation, told in seen:
                row = status[str(generation)]
                own = {row["usersTopic"], row["accountsTopic"]}
                assert told <= own, f"{viewer.name}: rows of {told - own} in {generation}"


def _witness(table: str, seen: list[tuple[int, frozenset[str]]]) -> Judge:
    def judge(_before: LiveWindow, now: LiveWindow) -> str:
        if now.sequence:
            told = {
                value
                for column in TELLING[table]
                for value in now.rows.column(column).unique().to_pylist()
            }
            seen.append((now.generation, frozenset(told - {None})))
        return ""

    return judge
