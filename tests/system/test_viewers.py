"""Many viewers, bad viewers and bad networks before a real gateway with real Kafka behind it."""

from __future__ import annotations

import base64
import itertools
import json
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.client import Live, LiveWindow, Timeouts
from evergrid.process.open_files import raise_open_files
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.installation import Installation
from tests.gateway.caller import TEXT, frame
from tests.support.fault_proxy import HOST, Direction, FaultProxy
from tests.support.free_ports import free_port
from tests.support.pauses import Pauses
from tests.support.reference_viewer import Viewer, ViewerGroup, WindowOptions, never_blank
from tests.support.soak import Counted, Soak
from tests.system.conftest import PATIENCE, MakeWorld
from tests.system.crowd import Crowd
from tests.system.gateways import GatewayProcess
from tests.system.staged import TABLE, Stage, config, never_younger

MIB = 2**20
JUDGES = (never_blank, never_younger)
EAGER = Timeouts(first_wait=0.1, longest_wait=1.0)

# Four views: the first and the last are two windows of one.
VIEWS: list[WindowOptions] = [
    {"limit": 20},
    {"order": "-age,name", "limit": 20},
    {"where": {"column": "age", "op": "greater", "value": 1}, "offset": -10, "limit": 10},
    {"search": "ann", "columns": ["name", "age"], "limit": 15},
    {"limit": 20, "offset": 30},
]
DIFFERENT_VIEWS = 4
LATE_SECONDS = 5.0  # who stands still for so long, and did not read before, may be given up
PEOPLE = 100
MOST = 250  # viewers in one process


@pytest.fixture
def port() -> int:
    return free_port()


@contextmanager
def staged(
    make_world: MakeWorld, port: int, *others: int
) -> Iterator[tuple[Stage, GatewayProcess]]:
    """A gateway that has loaded a table of some people."""
    world = make_world(config("viewers", port, *others))
    stage = Stage(world)
    stage.change(range(PEOPLE))
    stage.change(range(0, PEOPLE, 2))
    with GatewayProcess(world, port) as gateway:
        gateway.wait_until_ready()
        yield stage, gateway


@contextmanager
def crowds_at(addresses: list[str], secret: str, count: int) -> Iterator[list[Crowd]]:
    """So many viewers, in processes of at most `MOST` each; the addresses go round among these."""
    groups = max(len(addresses), -(-count // MOST))
    with ExitStack() as stack:
        yield [
            stack.enter_context(Crowd(address, secret, VIEWS, len(range(first, count, groups))))
            for first, address in zip(range(groups), itertools.cycle(addresses), strict=False)
        ]


def expected(stage: Stage) -> list[list[dict[str, object]]]:
    return [[dict(row) for row in stage.expected(view)] for view in VIEWS]


def all_right(stage: Stage, crowds: list[Crowd], seconds: float = PATIENCE) -> int:
    """Return when every viewer shows what it must; how many states they have seen."""
    states = 0
    for crowd in crowds:
        crowd.ask(expected(stage), seconds)
    for crowd in crowds:
        report = crowd.hear()
        assert not report.stories, "\n".join(report.stories)
        assert report.right == crowd.count
        states += report.states
    return states


def change_often(stage: Stage, probe: Viewer, times: int, email: str = "") -> None:
    """Change some people again and again, each time when the last change has been seen."""
    for number in range(times):
        stage.change(range(number % 5, PEOPLE, 5), email)
        probe.wait_for(lambda window: stage.shows(window, VIEWS[0]), PATIENCE)


def test_500_viewers_of_a_few_views(make_world: MakeWorld, port: int) -> None:
    with staged(make_world, port) as (stage, gateway):
        with Crowd(gateway.address, gateway.secret, VIEWS, 100) as first:
            all_right(stage, [first])
            first.leave()
        empty(gateway)
        before = gateway.memory()
        with crowds_at([gateway.address], gateway.secret, 500) as crowds:
            states = all_right(stage, crowds)
            held = {"subscribers": 500.0, "views": DIFFERENT_VIEWS, "windows": len(VIEWS)}
            gateway.wait_for_metrics(PATIENCE, connections=500, **held)
            with ViewerGroup(gateway.address, gateway.secret) as audience:
                probe = audience.add(TABLE, JUDGES, **VIEWS[0])
                change_often(stage, probe, 20)
                audience.check()
            assert all_right(stage, crowds) > states
            gateway.wait_for_metrics(PATIENCE, connections=500, **held)
            for crowd in crowds:
                crowd.leave()
        empty(gateway)
        wait_for(gateway.memory, lambda now: now < before + 40 * MIB, PATIENCE)


def empty(gateway: GatewayProcess) -> None:
    """When all have left, nothing is held for them."""
    gateway.wait_for_metrics(PATIENCE, connections=0, subscribers=0, views=0, windows=0)


class Deaf:
    """Opens a large window and never reads a byte of it; some go on saying that they live."""

    def __init__(self, gateway: GatewayProcess, port: int, *, hearts: bool) -> None:
        self.hearts = hearts
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(20)
        self._socket.connect(("127.0.0.1", port))
        lines = [
            "GET /api/live HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            f"Authorization: Bearer {gateway.secret}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
            "Sec-WebSocket-Protocol: evergrid.v1",
        ]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self._socket.recv(1)
        assert b" 101 " in head
        self.say(type="hello", protocol=1)
        self.say(type="open", sub=1, table=TABLE, limit=PEOPLE)

    def say(self, **message: object) -> None:
        self._socket.sendall(frame(TEXT, json.dumps(message).encode()))

    def close(self) -> None:
        self._socket.close()


@contextmanager
def beating(deaf: list[Deaf]) -> Iterator[None]:
    """Hearts of those who send them, until they are shown out."""
    over = threading.Event()

    def beat() -> None:
        alive = [one for one in deaf if one.hearts]
        while not over.wait(2.0):
            for one in list(alive):
                try:
                    one.say(type="heart")
                except OSError:
                    alive.remove(one)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for one in deaf:
            one.close()


def shown_out(gateway: GatewayProcess) -> int:
    """How many the gateway gave up, because they do not read or do not say that they live."""
    return gateway.dropped("too_slow") + gateway.dropped("silent")


def test_50_who_read_slowly_or_not_at_all_among_300(make_world: MakeWorld, port: int) -> None:
    slow_readers_harm_nobody(make_world, port, half=25, healthy=250)


@pytest.mark.soak(part="slow-readers")
def test_200_who_read_slowly_or_not_at_all_among_1000(
    make_world: MakeWorld, port: int, soak: Soak
) -> None:
    half = soak.figure(100)
    slow_readers_harm_nobody(make_world, port, half, healthy=8 * half)
    soak.count(Counted.SLOW_READERS, 2 * half)


def slow_readers_harm_nobody(make_world: MakeWorld, port: int, half: int, healthy: int) -> None:
    """One half of them reads slowly, the other never."""
    with FaultProxy(port) as thin, staged(make_world, port, thin.port) as (stage, gateway):
        thin.limit(100_000, Direction.DOWN)
        with (
            Pauses() as pauses,
            crowds_at([gateway.address], gateway.secret, healthy) as crowds,
            ViewerGroup(thin.address, gateway.secret) as slow,
            ViewerGroup(gateway.address, gateway.secret) as fast,
        ):
            all_right(stage, crowds)
            probe = fast.add(TABLE, JUDGES, **VIEWS[0])
            large: WindowOptions = {"limit": PEOPLE}
            for _ in range(half):
                slow.add(TABLE, JUDGES, **large)
            deaf = [Deaf(gateway, port, hearts=number % 2 == 0) for number in range(half)]
            # Rows of some size fill what the kernel takes for those who do not read.
            with beating(deaf), ThreadPoolExecutor(1) as pool:
                dead = pool.submit(
                    wait_for, lambda: shown_out(gateway), lambda count: count >= half, PATIENCE
                )
                while not dead.done():
                    change_often(stage, probe, 2, email="e" * 1500)
                    all_right(stage, crowds)  # or a busy machine makes them slow, too
                dead.result()
            change_often(stage, probe, 1)
            assert all_right(stage, crowds) > healthy
            for viewer in slow.viewers:
                viewer.wait_for(lambda window: stage.shows(window, large), PATIENCE)
                stale = [sight for sight in viewer.sights if sight.state is Live.STALE]
                given_up = [sight for sight in stale if "the gateway" in sight.message]
                assert not given_up or pauses.longest > LATE_SECONDS, "they only read slowly"
            fast.check()
            slow.check()


def test_half_open_connections_are_noticed_at_both_ends(make_world: MakeWorld, port: int) -> None:
    with ExitStack() as stack:
        ways = {
            way: stack.enter_context(FaultProxy(port))
            for way in (Direction.UP, Direction.DOWN, Direction.BOTH)
        }
        others = [proxy.port for proxy in ways.values()]
        stage, gateway = stack.enter_context(staged(make_world, port, *others))
        viewers: list[Viewer] = []
        for proxy in ways.values():
            audience = stack.enter_context(ViewerGroup(proxy.address, gateway.secret, EAGER))
            viewers.append(audience.add(TABLE, JUDGES, **VIEWS[0]))
        for viewer in viewers:
            viewer.wait_for(lambda window: stage.shows(window, VIEWS[0]), PATIENCE)
        for way, proxy in ways.items():
            proxy.hold(way)
        stage.change(range(5))
        for viewer in viewers:
            stale = viewer.wait_for(lambda window: window.state is Live.STALE, PATIENCE)
            assert stale.stale_since is not None
        # Where not even the client's goodbye arrives, the gateway finds out by itself.
        wait_for(lambda: gateway.dropped("silent"), lambda count: count >= 2, PATIENCE)
        for proxy in ways.values():
            proxy.heal()
        for viewer in viewers:
            viewer.wait_for(lambda window: stage.shows(window, VIEWS[0]), PATIENCE)
            assert not viewer.faults


Fault = Callable[[FaultProxy], None]


def after_a_reset(fault: Fault) -> Fault:
    """A fault that meets the client when it comes back."""

    def act(way: FaultProxy) -> None:
        fault(way)
        way.reset()

    return act


def refuse_for_a_while(way: FaultProxy) -> None:
    seen = way.connections
    way.refuse()
    way.reset()
    wait_for(lambda: way.connections, lambda now: now > seen + 1, PATIENCE)
    way.heal()


# What each breaks, and whether it lasts until it is healed.
FAULTS: dict[str, tuple[Fault, bool]] = {
    "ended": (lambda way: way.cut(), False),
    "broken off": (lambda way: way.reset(), False),
    "ended within a frame": (lambda way: way.break_after(700, Direction.DOWN, reset=False), False),
    "broken off within a frame": (lambda way: way.break_after(2000, Direction.DOWN), False),
    "within the request": (after_a_reset(lambda way: way.break_after(100, Direction.UP)), False),
    "within the login": (after_a_reset(lambda way: way.break_after(400, Direction.UP)), False),
    "within the answer": (after_a_reset(lambda way: way.break_after(60, Direction.DOWN)), False),
    "within the welcome": (after_a_reset(lambda way: way.break_after(900, Direction.DOWN)), False),
    "nobody there": (refuse_for_a_while, False),
    "held for a moment": (lambda way: way.hold(), True),
    "held for a moment upwards": (lambda way: way.hold(Direction.UP), True),
    "slow both ways": (lambda way: way.delay(0.3), False),
    "slow login": (after_a_reset(lambda way: way.delay(0.7, Direction.UP)), False),
    "thin downwards": (lambda way: way.limit(20_000, Direction.DOWN), False),
    "thin upwards at login": (after_a_reset(lambda way: way.limit(800, Direction.UP)), False),
}


def test_after_every_network_fault_the_windows_are_right(make_world: MakeWorld, port: int) -> None:
    with ExitStack() as stack:
        way = stack.enter_context(FaultProxy(port))
        stage, gateway = stack.enter_context(staged(make_world, port, way.port))
        with ViewerGroup(way.address, gateway.secret, EAGER) as audience:
            viewers = [audience.add(TABLE, JUDGES, **view) for view in VIEWS[:2]]
            for name in FAULTS:
                right_after(name, stage, way, viewers)
            audience.check()
            assert way.connections > len(FAULTS), "most of them break connections"


def right_after(
    name: str, stage: Stage, way: FaultProxy, viewers: list[Viewer], held: float | None = None
) -> None:
    """One fault, with changes under it; return when the viewers show them.

    What lasts is healed after the changes; where they must pass it too, after `held` seconds.
    """
    print(f"network fault: {name}")
    fault, lasts = FAULTS[name]
    fault(way)
    healing = threading.Timer(held or 0.0, way.heal)
    if lasts and held is not None:
        healing.start()
    stage.change(range(PEOPLE), email=name * 10)
    stage.change(range(10), email=name)
    if lasts and held is None:
        healing.start()
    for viewer in viewers:
        viewer.name = name
    all_shown(stage, viewers)
    if lasts:
        healing.join()
    way.heal()


@pytest.mark.soak(part="network")
def test_faults_between_viewers_and_gateway_in_any_order(
    make_world: MakeWorld, port: int, soak: Soak
) -> None:
    rng = random.Random(soak.seed)
    with ExitStack() as stack:
        way = stack.enter_context(FaultProxy(port))
        stage, gateway = stack.enter_context(staged(make_world, port, way.port))
        with ViewerGroup(way.address, gateway.secret, EAGER) as audience:
            viewers = [audience.add(TABLE, JUDGES, **view) for view in VIEWS]
            for name in rng.choices(list(FAULTS), k=soak.figure(180)):
                right_after(name, stage, way, viewers)
                soak.count(Counted.NETWORK_FAULTS)
            audience.check()


@pytest.mark.soak(part="network")
def test_faults_between_gateway_and_broker_in_any_order(
    tmp_path: Path, port: int, soak: Soak
) -> None:
    """Of all clients of the broker, the writer of the changes among them."""
    rng, broker_port = random.Random(soak.seed), free_port()
    with FaultProxy(broker_port) as way:
        advertised = {"advertised.listeners": f"PLAINTEXT://{HOST}:{way.port}"}
        with EmbeddedBroker(tmp_path / "broker", broker_port, extra=advertised) as broker:
            world = Installation(tmp_path, broker.connection(), config("broken", port))
            stage = Stage(world)
            stage.change(range(PEOPLE))
            with (
                GatewayProcess(world, port) as gateway,
                ViewerGroup(gateway.address, gateway.secret, EAGER) as audience,
            ):
                viewers = [audience.add(TABLE, JUDGES, **view) for view in VIEWS]
                all_shown(stage, viewers)
                # Thin for requests, which hold all that is written, is only slow.
                names = [name for name in FAULTS if not name.startswith("thin upwards")]
                for name in rng.choices(names, k=soak.figure(60)):
                    right_after(name, stage, way, viewers, rng.uniform(0, 5))
                    soak.count(Counted.NETWORK_FAULTS)
                audience.check()


@pytest.mark.soak(part="viewers")
def test_2000_viewers_are_held_through_faults(
    make_world: MakeWorld, port: int, broker: EmbeddedBroker, soak: Soak
) -> None:
    count = soak.figure(2_000, least=2)
    raise_open_files(2 * count, print)  # each viewer behind the proxy takes two
    with (
        FaultProxy(port) as way,
        staged(make_world, port, way.port) as (stage, gateway),
        crowds_at([gateway.address, way.address], gateway.secret, count) as crowds,
    ):
        all_right(stage, crowds)
        gateway.wait_for_metrics(PATIENCE, connections=count, views=DIFFERENT_VIEWS)
        for _ in range(soak.figure(3)):
            for part in (gateway, broker):
                part.kill()
                part.start()
                soak.count(Counted.KILLS)
                changed_for_all(stage, crowds)
            for fault in (FaultProxy.cut, FaultProxy.reset, refuse_for_a_while):
                fault(way)
                soak.count(Counted.NETWORK_FAULTS)
                changed_for_all(stage, crowds)
        gateway.wait_for_metrics(PATIENCE, connections=count, views=DIFFERENT_VIEWS)
        soak.count(Counted.VIEWERS, count)
        for crowd in crowds:
            crowd.leave()
        empty(gateway)


def changed_for_all(stage: Stage, crowds: list[Crowd]) -> None:
    stage.change(range(PEOPLE))
    all_right(stage, crowds)


def has_no_table(window: LiveWindow) -> bool:
    there_is_none = f"There is no table {TABLE} now."
    return window.state is Live.WAITING and window.message.startswith(there_is_none)


def test_a_gateway_before_its_pipeline_and_without_its_broker(
    make_world: MakeWorld, port: int, broker: EmbeddedBroker
) -> None:
    world = make_world(config("early", port))
    with GatewayProcess(world, port) as gateway:
        nothing_yet = (503, "There are no tables yet: waiting for a pipeline.")
        wait_for(gateway.readiness, lambda ready: ready == nothing_yet, PATIENCE)
        with ViewerGroup(gateway.address, gateway.secret, EAGER) as audience:
            viewers = [audience.add(TABLE, JUDGES, **view) for view in VIEWS]
            viewer = viewers[0]
            for one in viewers:
                one.wait_for(has_no_table, PATIENCE)
            stage = Stage(world)
            stage.change(range(50))
            stage.change(range(50))
            all_shown(stage, viewers)
            gateway.wait_until_ready()

            broker.kill()
            try:
                silence = f"({broker.bootstrap}) does not answer"
                stale = viewer.wait_for(
                    lambda window: window.state is Live.STALE and silence in window.message,
                    PATIENCE,
                )
                assert stale.stale_since is not None
                assert stale.time is not None
                assert stale.stale_since >= stale.time
                assert gateway.ask(f"/api/tables/{TABLE}/rows")[0] == 200, "old rows are rows"
                without_its_broker(gateway, viewer)
            finally:
                broker.start()
            all_shown(stage, viewers)
            gateway.wait_until_ready()
            stage.change(range(20))
            all_shown(stage, viewers)
            audience.check()


def all_shown(stage: Stage, viewers: list[Viewer]) -> None:
    """Return when these viewers of the first views show what they must."""
    for viewer, view in zip(viewers, VIEWS, strict=False):
        viewer.wait_for(lambda window, v=view: stage.shows(window, v), PATIENCE)  # type: ignore[misc]


def without_its_broker(gateway: GatewayProcess, viewer: Viewer) -> None:
    """A gateway that is started now serves, and says what it waits for."""
    gateway.kill()
    viewer.wait_for(lambda window: "the gateway" in window.message, PATIENCE)
    gateway.start()
    status, sentence = wait_for(gateway.readiness, lambda answer: "Kafka" in answer[1], PATIENCE)
    assert status == 503
    assert sentence.endswith("does not answer. Going on when it is back.")
    waiting = viewer.wait_for(
        lambda window: window.state is Live.WAITING and "Kafka" in window.message, PATIENCE
    )
    assert waiting.rows.num_rows, "what was on the screen stays on it"
