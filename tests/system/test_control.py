"""The pipeline is changed under open screens: nobody sees a blank, an error or a stale row.

One world for all tests of this file, in their order: a start of Spark costs half a minute.
"""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.client import Timeouts
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.generation import State
from evergrid.pipeline.plan import queries_of
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import START_MS, Send
from tests.browser.reader import TableReader
from tests.browser.visitor import Guest, open_browser
from tests.support.free_ports import free_port
from tests.support.reference_viewer import ViewerGroup, WindowOptions
from tests.support.soak import Counted, Soak
from tests.system.conftest import PATIENCE
from tests.system.gateways import GatewayProcess
from tests.system.judging import Judge
from tests.system.painted import painted
from tests.system.swapping import Load, Operator, Watch, config

SEED = 20_261_201
NAME = "swap"
EAGER = Timeouts(first_wait=0.1, longest_wait=1.0)
GRACE_SECONDS = 20
STORM = 50
LET_GO_SECONDS = 5.0
EVER = {"rows": 10_000_000, "age": "never"}
SCREEN = {"width": 1700, "height": 700}
OLDER = {"column": "age", "op": "greater", "value": 30}
PAGE_VIEW: WindowOptions = {"where": OLDER, "order": "-balance,ts", "limit": 300}
PLACE = 12  # the first row in view
PAGE = f"/tables/final_ui?order=-balance,ts&filter={quote(json.dumps([OLDER]))}"
COUNT_BLANKS = """() => {
    window.blanks = 0;
    const look = () => {
        if (!document.querySelector('[role=row] [role=gridcell]')) window.blanks += 1;
        requestAnimationFrame(look);
    };
    look();
}"""


@dataclass
class Stage:
    """The pipeline is another process after a kill."""

    world: Installation
    load: Load
    judge: Judge
    operator: Operator
    gateways: list[GatewayProcess]
    pipeline: EvergridProcess


@pytest.fixture(scope="module")
def stage(broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    print(f"seed {SEED}")
    ports = [free_port(), free_port()]
    settings = config(NAME, ports[0], grace=f"{GRACE_SECONDS}s", drain="3s", generations=3)
    settings["internal_topics"] = {"prefix": "eg-swap"}
    # Old messages that cannot be read are not even in quarantine.
    settings["retention"] = {"default": EVER, "tables": {"quarantine": {"age": "7d"}}}
    world = Installation(tmp_path_factory.mktemp("swap"), broker.connection(), settings)
    load = Load(world, NAME, random.Random(SEED))
    load.make_topics()
    load.send(30)
    judge = Judge(world)
    operator = Operator(world, judge, f"control-{NAME}")
    older_than_the_start(world, operator)
    with ExitStack() as parts:
        gateways = [
            parts.enter_context(GatewayProcess(world, port, f"gateway{number}"))
            for number, port in enumerate(ports)
        ]
        pipeline = parts.enter_context(world.start_live())
        yield Stage(world, load, judge, operator, gateways, pipeline)


def older_than_the_start(world: Installation, operator: Operator) -> None:
    """Of what was asked for before there was a pipeline, only the result is ever started."""
    topics.create(world.connection, [NewTopicSpec(f"control-{NAME}", 1, 1)])
    operator.send(b'{"joinType": "inner"}', b"garbage", b'{"usersTopic": "users-swap.v2"}')
    operator.send(b'{"joinType": "asof", "usersTopic": "users-swap"}')
    operator.applied(1, joinType="asof")


def test_what_was_asked_for_before_the_start_is_put_together(stage: Stage) -> None:
    operator = stage.operator
    assert operator.wait_for("0:3", "applied")["generation"] == 1
    verdicts = [operator.verdict(f"0:{number}")["verdict"] for number in range(3)]
    assert verdicts == ["superseded", "invalid", "superseded"]
    assert operator.status(1)["joinType"] == "asof"
    assert stage.pipeline.said().count("Preparing generation") == 1
    stage.world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])


def test_five_swaps_under_load_with_viewers_and_a_browser(stage: Stage) -> None:
    operator = stage.operator
    began = len(operator.currents) - 1
    with ExitStack() as parts:
        audiences = at_all_gateways(stage, parts)
        watch = Watch(audiences)
        watch.wait_until_right(stage.judge)
        guest = in_a_browser(stage, parts)
        page = guest.open(PAGE)
        table = TableReader(page, "final_ui")
        table.go_to(PLACE)
        table.starts_at(PLACE)
        page.evaluate(COUNT_BLANKS)
        with stage.load.steady.going():
            swap_five_times(operator)
        watch.wait_until_right(stage.judge)
        paints_what_is_right(stage, table)
        assert page.evaluate("window.blanks") == 0
        assert json.loads(parse_qs(urlsplit(page.url).query)["filter"][0]) == [OLDER]
        assert guest.unforeseen() == []
        for audience in audiences:
            audience.check()
    watch.check(operator.currents[began:], stage.world.table("orchestrator_status"))
    stage.world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])


def at_all_gateways(stage: Stage, parts: ExitStack) -> list[ViewerGroup]:
    return [
        parts.enter_context(ViewerGroup(gateway.address, gateway.secret, EAGER))
        for gateway in stage.gateways
    ]


def in_a_browser(stage: Stage, parts: ExitStack) -> Guest:
    browser = parts.enter_context(open_browser())
    gateway = stage.gateways[1]
    manners = {"locale": "en-US", "timezone_id": "UTC", "viewport": SCREEN}
    guest = Guest(browser, gateway.address, gateway.secret, **manners)
    parts.callback(guest.close)
    return guest


def swap_five_times(operator: Operator) -> None:
    """Topics, types, both at once; and back to one that is kept, which is quick."""
    assert operator.swap(joinType="left") == 2
    assert operator.swap(usersTopic="users-swap.v2") == 3
    assert operator.swap(accountsTopic="accounts-swap.v2", joinType="inner") == 4
    back = operator.swap(accountsTopic="accounts-swap", joinType="left")
    assert back == 3, "it was kept, and need not be made again"
    assert operator.swap(usersTopic="users-swap", joinType="asof") == 5


def paints_what_is_right(stage: Stage, table: TableReader) -> None:
    """The rows of now, at the place that was looked at before."""
    wanted = painted(stage.judge.tables["final_ui"], stage.world.expected("final_ui"), PAGE_VIEW)

    def same(seen: list[dict[str, str]]) -> bool:
        return len(seen) >= 10 and seen == wanted[PLACE - 1 :][: len(seen)]

    table.wait(table.lines, same)
    table.is_live()


@pytest.mark.soak(part="swaps")
def test_a_hundred_swaps_under_load_with_viewers(stage: Stage, soak: Soak) -> None:
    rng = random.Random(soak.seed)
    operator = stage.operator
    began = len(operator.currents) - 1
    asked = {"usersTopic": "users-swap", "accountsTopic": "accounts-swap", "joinType": "asof"}
    with ExitStack() as parts:
        audiences = at_all_gateways(stage, parts)
        watch = Watch(audiences)
        watch.wait_until_right(stage.judge)
        with stage.load.steady.going():
            for fields in islice(stage.load.changes(rng, asked), soak.figure(100)):
                operator.swap(**fields)
                soak.count(Counted.SWAPS)
        watch.wait_until_right(stage.judge)
        for audience in audiences:
            audience.check()
    watch.check(operator.currents[began:], stage.world.table("orchestrator_status"))
    stage.world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])


def test_what_cannot_be_done_harms_nothing(stage: Stage) -> None:
    operator, world = stage.operator, stage.world
    unreadable(world, "users-swap_bad")
    current = world.manifest().current
    for message, verdict, words in (
        (b'{"usersTopic": "payroll"}', "invalid", "not allowed"),
        (b'{"usersTopic": "users-swap_none"}', "failed", "users-swap_none does not exist"),
        (b'{"usersTopic": "users-swap_bad"}', "failed", "none of the messages"),
        (b'{"joinType": "asof"}', "ignored", "which runs, is just that"),
        (None, "invalid", "no value"),
    ):
        (row_id,) = operator.send(message)
        row = operator.wait_for(row_id, "applied", "failed", "invalid", "ignored")
        assert (row["verdict"], words in str(row["reason"])) == (verdict, True), row
        assert world.manifest().current == current
        if verdict == "failed":
            number = int(str(row["generation"]))
            status = operator.status(number)
            assert (status["state"], status["lastError"]) == ("failed", row["reason"])
            assert world.manifest().generations[number].error == row["reason"]
            assert words in stage.pipeline.said()
    stage.load.send(3)
    world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])


def unreadable(world: Installation, topic: str) -> None:
    topics.create(world.connection, [NewTopicSpec(topic, 1, 1, {"retention.ms": "-1"})])
    world.send([Send(topic, 0, START_MS, None, b"\x00avro?") for _ in range(30)])


def test_a_failure_is_that_of_its_own_message(stage: Stage) -> None:
    """Whenever the next one comes: before, when and after the first is found impossible."""
    operator, world = stage.operator, stage.world
    current = world.manifest().current
    for wait in range(8):
        hopeless = operator.ask(usersTopic="users-swap_none")
        time.sleep(0.1 * wait)  # whatever is going on then
        good = operator.ask(usersTopic="users-swap")
        assert operator.wait_for(good, "ignored", "failed")["verdict"] == "ignored"
        assert operator.wait_for(hopeless, "superseded", "failed")
        assert world.manifest().current == current


def test_who_asks_for_the_same_again_is_told_when_it_is_there(stage: Stage) -> None:
    operator = stage.operator
    first = operator.ask(joinType="inner")
    operator.wait_for(first, "preparing")
    second = operator.ask(joinType="inner")
    row = operator.wait_for(second, "applied", "ignored", "failed")
    assert row == {**operator.verdict(first), "_offset": row["_offset"], "ts": row["ts"]} | {
        "decided": row["decided"]
    }
    assert row["verdict"] == "applied"
    operator.applied(int(str(row["generation"])), joinType="inner")
    operator.swap(joinType="asof")


def test_what_was_called_off_and_is_asked_for_again_is_another_generation(stage: Stage) -> None:
    operator, wanted = stage.operator, {"usersTopic": "users-swap.v2", "joinType": "left"}
    first = operator.ask(**wanted)
    called_off = operator.wait_for(first, "preparing")["generation"]
    operator.wait_for(operator.ask(usersTopic="users-swap", joinType="asof"), "ignored")
    row = operator.wait_for(operator.ask(**wanted), "applied", "failed")
    assert (row["verdict"], row["generation"] != called_off) == ("applied", True), row
    operator.applied(int(str(row["generation"])), **wanted)
    time.sleep(LET_GO_SECONDS)  # until what was called off is taken away
    stage.load.send(2)
    stage.world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])
    operator.swap(usersTopic="users-swap", joinType="asof")


def test_topics_that_need_too_many_slots_are_refused(stage: Stage) -> None:
    wide = "users-swap_wide"
    topics.create(stage.world.connection, [NewTopicSpec(wide, 40, 1, {"retention.ms": "-1"})])
    row = stage.operator.wait_for(stage.operator.ask(usersTopic=wide), "failed", "applied")
    assert "Spark's slots" in str(row["reason"])
    assert "Restart the pipeline" in str(row["reason"])


def test_a_topic_that_appears_later_can_be_retried(stage: Stage) -> None:
    operator, world = stage.operator, stage.world
    late = "users-swap_late"
    operator.wait_for(operator.ask(usersTopic=late), "failed")
    topics.create(world.connection, [NewTopicSpec(late, 1, 1, {"retention.ms": "-1"})])
    operator.swap(usersTopic=late)
    value = b'{"userId": "u1", "email": "users-swap_late", "age": 7}'
    world.send([Send(late, 0, START_MS, b"u1", value)])
    world.wait_until_exact(["users_ui", "final_ui"])


def test_of_a_storm_only_the_last_message_is_carried_out(stage: Stage) -> None:
    operator, world = stage.operator, stage.world
    rng = random.Random(SEED)
    kinds = [rng.choice(["asof", "left", "inner"]) for _ in range(STORM)]
    messages = [json.dumps({"joinType": kind}).encode() for kind in kinds]
    final = {"joinType": "left", "usersTopic": "users-swap.v2"}
    before = stage.pipeline.said().count("is live")
    called_off = operator.ask(accountsTopic="accounts-swap.v2")
    operator.wait_for(called_off, "preparing")
    final["accountsTopic"] = "accounts-swap"
    row_ids = operator.send(*messages, json.dumps(final).encode())
    row = operator.wait_for(row_ids[-1], "applied", "failed")
    operator.applied(int(str(row["generation"])), **final)
    assert stage.pipeline.said().count("is live") == before + 1
    verdicts = {str(operator.verdict(row_id)["verdict"]) for row_id in row_ids[:-1]}
    assert verdicts <= {"superseded", "ignored"}
    assert operator.verdict(called_off)["verdict"] == "superseded"
    stage.load.send(2)
    world.wait_until_exact(["users_ui", "accounts_ui", "final_ui"])


def test_nothing_is_left_behind_when_the_grace_time_is_over(stage: Stage) -> None:
    world = stage.world

    def left() -> list[State]:
        return [one.state for one in world.manifest().generations.values()]

    wait_for(left, lambda states: states == [State.CURRENT], PATIENCE)
    current = world.manifest().current_generation
    assert current is not None
    own = [name for name in topics.partitions(world.connection) if name.startswith("eg-swap.g")]
    assert set(own) == {table.topic for table in current.tables.values()}
    folders = world.data_dir / "generations"
    needed = {f"g{query.generation}/{query.name}" for query in queries_of(current)}
    wait_for(
        lambda: {str(folder.relative_to(folders)) for folder in folders.glob("*/*/")},
        lambda names: names == needed,
        PATIENCE,
    )
    assert live_queries(stage.pipeline.pid) == len(needed) == 3  # two raw tables, and the join
    for gateway in stage.gateways:
        tables = json.loads(gateway.ask("/api/tables")[1])["tables"]
        shown = {table["generation"] for table in tables} - {0}
        assert shown == {current.number}


def live_queries(pid: int) -> int:
    """Streaming queries, counted by the threads that run them in processes below this one."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    names = []
    for one in family:
        for thread in Path(f"/proc/{one}/task").glob("*/comm"):
            with contextlib.suppress(OSError):
                names.append(thread.read_text())
    return sum(name.startswith("stream executi") for name in names)
