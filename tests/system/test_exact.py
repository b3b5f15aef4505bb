"""Exact without a bound: hot keys, backlogs, sides that run ahead, kills, a broker that goes.

Starting Spark costs most of the time, so the tests of one pipeline go on where the one before
ended: by hot keys, by Zipf keys under fire, and by what is written.
"""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.kafka import topics
from evergrid.testing import oracle
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send
from tests.support.fault_proxy import HOST, FaultProxy
from tests.support.free_ports import free_port
from tests.support.soak import Counted, Soak
from tests.support.traffic import Traffic
from tests.system.bulk import MessageFiles, RowDigests
from tests.system.busy import (
    HOT,
    IDLE_SECONDS,
    JOINED,
    SIDES,
    Messages,
    Moments,
    busy_config,
    changes,
    wait_until_exact,
)
from tests.system.conftest import PATIENCE, MakeWorld, row_count, two_sources
from tests.system.judging import Judge
from tests.system.state_size import config, stops_growing
from tests.system.swapping import Operator

SEED = 20_261_214
ZIPF = replace(HOT, keys=300, skew=1.1)
IN_ORDER = Traffic(seed=SEED, keys=4, left_share=0.3, ties=1, step_ms=20)
KILLS = 6
OUTAGE_SECONDS = 8.0
AHEAD_SECONDS = 4.0
DAY = 86_400


@dataclass
class Stage:
    """One pipeline's world; the process is another after each stop."""

    world: Installation
    messages: Messages
    process: EvergridProcess | None = None

    def start(self) -> None:
        self.process = self.world.start_live()

    def stop(self) -> None:
        if self.process is not None:
            self.process.stop()
            self.process = None


@contextmanager
def staged(
    folder: Path, broker: EmbeddedBroker, name: str, traffic: Traffic, **more: object
) -> Iterator[Stage]:
    config = {"internal_topics": {"prefix": f"eg-{name}"}, **busy_config(name, **more)}
    world = Installation(folder, broker.connection(), config)
    world.make_topics(partitions=2)
    stage = Stage(world, Messages(world, traffic))
    try:
        yield stage
    finally:
        stage.stop()


# Few keys with thousands of messages each


@pytest.fixture(scope="module")
def hot(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    traffic = replace(HOT, seed=SEED)
    with staged(tmp_path_factory.mktemp("hot"), broker, "hot", traffic) as stage:
        stage.messages.send(1_000)
        stage.start()
        wait_until_exact(stage.world)
        yield stage


def test_a_backlog_on_hot_keys_after_a_stop(hot: Stage) -> None:
    hot.stop()
    hot.messages.send(12_000)
    hot.start()
    wait_until_exact(hot.world)


@pytest.mark.parametrize("left_first", [True, False], ids=["left first", "right first"])
def test_a_backlog_of_one_side_before_the_other(hot: Stage, left_first: bool) -> None:
    hot.stop()
    hot.messages.send_sides(6_000, left_first=left_first)
    hot.start()
    wait_until_exact(hot.world)
    hot.stop()  # there is no room for two of them


def test_one_side_is_held_back_while_the_other_runs_ahead(tmp_path: Path) -> None:
    """In real time, by a proxy before the broker: nobody gets messages of one topic."""
    port = free_port()
    with FaultProxy(port) as way:
        advertised = {"advertised.listeners": f"PLAINTEXT://{HOST}:{way.port}"}
        folder = tmp_path / "world"
        folder.mkdir()
        with (
            EmbeddedBroker(tmp_path / "broker", port, extra=advertised) as broker,
            staged(folder, broker, "ahead", replace(HOT, seed=SEED + 1)) as stage,
        ):
            marks = {side: topic_id(stage.world, f"{side}-ahead") for side in SIDES.values()}
            for mark in marks.values():
                way.mark(mark)
            stage.messages.send(1_000)
            stage.start()
            for side, ahead in (("users", "accounts_ui"), ("accounts", "users_ui")):
                way.hold_marked(marks[side])
                stage.messages.send(4_000)
                stage.world.wait_until_exact([ahead])
                # So that the joins, too, have what is ahead, and nothing of the rest.
                time.sleep(AHEAD_SECONDS)
                held = stage.world.table(f"{side}_ui")
                assert len(held) < len(stage.world.expected(f"{side}_ui"))
                way.heal()
                wait_until_exact(stage.world)


def topic_id(world: Installation, topic: str) -> bytes:
    """As it stands in a consumer's requests."""
    text = topics.describe(world.connection, [topic])[topic].topic_id
    return base64.urlsafe_b64decode(text + "==")


# Zipf keys, and whatever can happen to the processes


@pytest.fixture(scope="module")
def fire(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    traffic = replace(ZIPF, seed=SEED + 2)
    with staged(tmp_path_factory.mktemp("fire"), broker, "fire", traffic) as stage:
        yield stage


def test_a_bootstrap_while_messages_arrive(fire: Stage) -> None:
    fire.messages.send(8_000)
    with fire.messages.flowing(80):
        fire.start()
    wait_until_exact(fire.world)


def test_kills_in_catching_up_at_the_hand_over_and_in_real_time(fire: Stage) -> None:
    assert fire.process is not None
    moments = Moments(fire.world, random.Random(SEED))
    with fire.messages.flowing(60):
        time.sleep(3)  # some of it in real time
        fire.process.kill()
        moments.kill_by_turns(KILLS)
        fire.messages.send(1_000)
        fire.start()
    wait_until_exact(fire.world)


def test_a_broker_that_stops_and_starts(fire: Stage, broker: EmbeddedBroker) -> None:
    assert fire.process is not None
    fire.messages.send(1_000)
    broker.kill()
    time.sleep(OUTAGE_SECONDS)  # the outage itself
    broker.start()
    fire.messages.send(3_000)
    wait_until_exact(fire.world)
    assert fire.process.is_running()
    fire.stop()


# What is written, and what is said


@pytest.fixture(scope="module")
def quiet(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The joins without a bound, and an as-of join with one that the user set."""
    joins = busy_config("quiet")["joins"]
    assert isinstance(joins, dict)
    limited = {"table": "limited_ui", "type": "asof", **SIDES, "history": {"left": 4, "right": 4}}
    more = {"joins": {**joins, "limited": limited}}
    with staged(tmp_path_factory.mktemp("quiet"), broker, "quiet", IN_ORDER, **more) as stage:
        stage.messages.send(8_000)
        stage.start()
        yield stage


def test_no_change_is_written_that_changes_nothing(quiet: Stage) -> None:
    world = quiet.world
    world.wait_until_exact(["users_ui", "accounts_ui", *JOINED], idle_seconds=IDLE_SECONDS)
    rows = {name: len(world.expected(name)) for name in JOINED}
    written = {name: changes(world, name) for name in rows}
    print(f"rows {rows}, changes {written}")
    assert written["asof_ui"] == rows["asof_ui"]
    assert written["inner_ui"] == rows["inner_ui"]
    assert written["left_ui"] <= 1.5 * rows["left_ui"]


def test_a_backlog_writes_each_row_about_once(quiet: Stage) -> None:
    """A left join's rows all change with the newest account of their key, but not with each."""
    world = quiet.world
    quiet.stop()
    before = {name: (changes(world, name), len(world.expected(name))) for name in JOINED}
    quiet.messages.send(4_000)
    quiet.start()
    try:
        world.wait_until_exact(JOINED, idle_seconds=IDLE_SECONDS)
    finally:
        written = {name: changes(world, name) - before[name][0] for name in JOINED}
        print(f"changes by a backlog of 4,000 messages: {written}")
    rows = {name: len(world.expected(name)) for name in JOINED}
    assert written["asof_ui"] <= 1.5 * (rows["asof_ui"] - before["asof_ui"][1])
    assert written["inner_ui"] <= 1.5 * (rows["inner_ui"] - before["inner_ui"][1])
    assert written["left_ui"] <= 3 * rows["left_ui"]


def test_a_limit_of_the_user_is_said_where_it_may_cost_rows(quiet: Stage) -> None:
    """Late messages of a hot key lie before what the limited join still has."""
    world = quiet.world
    assert hasattr(world.manifest(), "gaps"), "the manifest has no record of gaps"
    late = replace(IN_ORDER, seed=SEED + 3, late_share=0.5, late_ms=60_000)
    Messages(world, late).send(2_000)
    world.wait_until_exact(JOINED, idle_seconds=IDLE_SECONDS)
    tables = world.manifest().tables()
    world.wait_until(lambda: gaps(world, tables["limited_ui"].topic) != (), PATIENCE)
    (gap,) = gaps(world, tables["limited_ui"].topic)
    print(f"gap: {gap}")
    assert getattr(gap, "reason", None) == "history"
    assert getattr(gap, "messages", 0) > 0
    assert getattr(gap, "keys", None)
    for name in JOINED:
        assert gaps(world, tables[name].topic) == (), name


def gaps(world: Installation, topic: str) -> tuple[object, ...]:
    record = getattr(world.manifest(), "gaps", None)
    found = record.topics.get(topic, ()) if record is not None else ()
    return tuple(found)


# An inner join needs messages that are older than its rows


def test_an_inner_join_pairs_messages_up_to_its_age_apart(
    broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """Far more rows than the table keeps, and messages of almost two ages ago."""
    sides = {"left": "users", "right": "accounts"}
    world = Installation(
        tmp_path,
        broker.connection(),
        {
            "internal_topics": {"prefix": "eg-apart"},
            "sources": two_sources("apart"),
            "joins": {"inner": {"table": "inner_ui", "type": "inner", **sides}},
            "retention": {"default": {"rows": 50, "age": "1d"}},
        },
    )
    world.make_topics(partitions=2)
    now = time.time()

    def send(side: str, days_ago: float, count: int) -> None:
        at = int((now - days_ago * DAY) * 1000)
        sends = (keyed(side, f"k{number % 20}", number, at) for number in range(count))
        world.send(sends)

    send("users", 1.6, 20)
    send("users", 0.9, 20)
    send("accounts", 0.8, 200)
    with world.start_live():
        world.wait_until_exact(["inner_ui"], PATIENCE)
        send("accounts", 0.0, 200)
        send("users", 1.7, 20)  # late: for the accounts of 0.8 days ago alone
        world.wait_until_exact(["inner_ui"], PATIENCE)
    send("accounts", 0.0, 100)
    send("users", 0.0, 20)
    with world.start_live():
        world.wait_until_exact(["inner_ui"], PATIENCE)
    pairs = len(world.expected("inner_ui"))
    assert pairs == 1400


def keyed(side: str, key: str, number: int, at: int) -> Send:
    value = {"userId": key, "name": str(number), "accountType": str(number)}
    topic = f"{side}-apart"
    return Send(topic, number % 2, at, key.encode(), json.dumps(value).encode())


# Hours


@pytest.mark.soak(part="stream-kills")
@pytest.mark.parametrize("number", range(3))
def test_twenty_kills_of_each_join(
    broker: EmbeddedBroker, tmp_path: Path, soak: Soak, number: int
) -> None:
    seed = soak.seed + number
    with staged(tmp_path, broker, f"kills{number}", replace(ZIPF, seed=seed)) as stage:
        stage.messages.send(5_000)
        stage.start()
        stage.stop()
        with stage.messages.flowing(100):
            Moments(stage.world, random.Random(seed), soak).kill_by_turns(soak.figure(20))
            stage.start()
        wait_until_exact(stage.world)
        soak.count(Counted.ROWS, row_count(stage.world))


@pytest.mark.soak(part="streams")
def test_a_hundred_streams_of_any_kind(broker: EmbeddedBroker, tmp_path: Path, soak: Soak) -> None:
    """Each with keys of its own, some of them as a backlog."""
    with staged(tmp_path, broker, "hundred", replace(HOT, seed=soak.seed)) as stage:
        stage.start()
        for seed in range(soak.seed, soak.seed + soak.figure(100)):
            rng = random.Random(seed)
            messages = Messages(stage.world, any_traffic(rng, seed))
            if rng.random() < 0.2:
                stage.stop()
                messages.send_sides(rng.randint(1, 3_000), left_first=rng.random() < 0.5)
                stage.start()
            messages.send(rng.randint(1, 1_000))
            wait_until_exact(stage.world)
            soak.count(Counted.MESSAGES, messages.sent)
        soak.count(Counted.ROWS, row_count(stage.world))


def any_traffic(rng: random.Random, seed: int) -> Traffic:
    share = partial(rng.choice, (0.0, 0.02, 0.2))
    return Traffic(
        seed,
        keys=rng.choice((1, 3, 10, 1_000)),
        skew=rng.choice((0.0, 0.8, 1.5)),
        left_share=rng.choice((0.05, 0.5, 0.95)),
        late_share=share(),
        late_ms=rng.choice((10, 10_000, 600_000)),
        ties=rng.choice((1, 2, 50)),
        step_ms=rng.choice((1, 100)),
        repeat_share=share(),
        no_key_share=share(),
        bad_share=share(),
        prefix=f"s{seed}-",
        group_span=rng.choice((20, 100)),
    )


@pytest.mark.soak(part="swaps")
def test_swaps_there_and_back_under_load(
    broker: EmbeddedBroker, tmp_path: Path, soak: Soak
) -> None:
    by_order = {"left_key": "orderId", "right_key": "orderId"}
    joins = {"final": {"table": "final_ui", "type": "asof", **SIDES, **by_order}}
    more = {"joins": joins, "control": {"topic": "control-back"}}
    traffic = replace(HOT, seed=SEED + 4, group_span=400, long_group_share=0.01)
    with staged(tmp_path, broker, "back", traffic, **more) as stage:
        stage.messages.send(5_000)
        stage.start()
        operator = Operator(stage.world, Judge(stage.world), "control-back")
        rng, now = random.Random(soak.seed), "asof"
        for _ in range(soak.figure(20)):
            there = rng.choice([kind for kind in ("asof", "left", "inner") if kind != now])
            with stage.messages.flowing(60):
                operator.swap(joinType=there)
                soak.count(Counted.SWAPS)
                if rng.random() < 0.5:
                    operator.swap(joinType=now)
                    soak.count(Counted.SWAPS)
                    there = now
            wait_until_exact(stage.world)
            now = there


@pytest.mark.parametrize(
    ("millions", "keys"),
    [
        pytest.param(10, 100_000, marks=pytest.mark.soak(part="millions")),
        pytest.param(4, 1_000_000, marks=pytest.mark.soak(part="million-keys")),
        pytest.param(2, 1, marks=pytest.mark.soak(part="one-key")),
    ],
)
def test_millions_of_messages(
    broker: EmbeddedBroker, tmp_path: Path, soak: Soak, millions: int, keys: int
) -> None:
    """Half of them before the start, the rest while it runs and is killed; by digests."""
    skew = 1.0 if keys == 100_000 else 0.0
    count = 20 * soak.figure(millions * 50_000)
    traffic = replace(HOT, seed=soak.seed, keys=keys, skew=skew, ties=10, step_ms=10)
    joins = {"asof": {"table": "asof_ui", "type": "asof", **SIDES}}
    with staged(tmp_path, broker, f"many{keys}", traffic, joins=joins) as stage:
        files = MessageFiles(stage.world, tmp_path / "messages", files=32)
        for _ in range(10):
            files.send(stage.messages.take(count // 20))
        stage.start()
        for _ in range(10):
            files.send(stage.messages.take(count // 20))
            if stage.messages.sent * 5 % count == 0:
                assert stage.process is not None
                stage.process.kill()
                soak.count(Counted.KILLS)
                stage.start()
        soak.count(Counted.MESSAGES, count)
        soak.count(Counted.ROWS, is_the_same(stage, files))


def is_the_same(stage: Stage, files: MessageFiles) -> int:
    """How many rows were compared, all of them the same."""
    spec = stage.world.spec
    table = RowDigests(stage.world, "asof_ui")
    rested = time.monotonic()
    while time.monotonic() - rested < IDLE_SECONDS:
        if table.catch_up():
            rested = time.monotonic()
        time.sleep(1)
    rows = wrong = 0
    for messages in files.read():
        for row_id, row in oracle.join(messages, spec.joins["asof"], spec.sources).items():
            rows += 1
            wrong += not table.is_same(row_id, row)
    print(f"{stage.messages.sent} messages, {rows} rows, {table.rows()} there, {wrong} wrong")
    assert (wrong, table.rows()) == (0, rows)
    return rows


# Spark removes old files once a minute; tests/pipeline/test_state.py is quick.
@pytest.mark.soak(part="checkpoints")
def test_checkpoints_stop_growing(make_world: MakeWorld) -> None:
    stops_growing(make_world(config("size-long", "60s")), seconds=1_200, lot=400)
