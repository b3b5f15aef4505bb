"""How long a change of the pipeline takes, and what a viewer notices of it."""

from __future__ import annotations

import json
import time
from functools import partial

from tests.support.reference_viewer import Observation, Viewer, ViewerGroup

from bench.arithmetic import longest_gap
from bench.figure import Bench, Cases, Value
from bench.helper import Helper
from bench.load import Loaded, Steady
from bench.screen import say
from bench.server import GatewayServer
from bench.stage import TABLE, Stage, open_stage
from evergrid.changelog.reader import load_manifest
from evergrid.config import load
from evergrid.kafka.message_sender import Sender
from evergrid.model.errors import LinkError
from evergrid.model.join import JoinType

_FULL = ((10_000, 90_000, 2_000), (100_000, 1_000_000, 20_000))
_QUICK = ((2_000, 8_000, 500),)
_RATE = 200  # messages a second, so that every frame is due
_LIMIT_SECONDS = 900.0
_COUNT = round(_RATE * 2 * _LIMIT_SECONDS)  # more than the case lasts
_WARM_SECONDS = 20.0
_CALM_SECONDS = 10.0  # before the change, to know how long a frame waits anyway
_AROUND_SECONDS = 3.0
_LOOK_SECONDS = 0.1


def cases(quick: bool) -> Cases:
    return {
        f"left to asof and back, {users + accounts:,} messages": partial(
            _measure, users, accounts, keys
        )
        for users, accounts, keys in (_QUICK if quick else _FULL)
    }


def _measure(users: int, accounts: int, keys: int) -> tuple[Value, ...]:
    with open_stage() as stage:
        say(f"  {users + accounts:,} messages of the past")
        stage.fill(users, accounts, keys)
        say("  starting pipeline and gateway")
        stage.start(JoinType.LEFT)
        stage.wait_until_live()
        with (
            GatewayServer(stage.config, stage.folder) as gateway,
            ViewerGroup(gateway.address, gateway.key) as audience,
        ):
            gateway.wait_until_ready(_LIMIT_SECONDS)
            viewer = audience.add(TABLE, order="-ts", limit=100)
            viewer.wait_for(lambda window: window.live, _LIMIT_SECONDS)
            with Helper(Steady(stage.bootstrap, _COUNT, _RATE, keys), Loaded, stage.folder):
                time.sleep(_WARM_SECONDS + _CALM_SECONDS)
                say("  changing the join")
                there = _change(stage, viewer, JoinType.ASOF)
                time.sleep(_CALM_SECONDS)
                say("  and back")
                back = _change(stage, viewer, JoinType.LEFT)
                time.sleep(_CALM_SECONDS)
            audience.check()
            return (*_values(viewer, there, ""), *_values(viewer, back, "back: "))


def _change(stage: Stage, viewer: Viewer, join: JoinType) -> tuple[float, float, int]:
    """When it was asked for and when it was live, by the steady clock; and the generation."""
    settings = load(stage.config, {})
    before = load_manifest(stage.connection, "evergrid").current
    sender = Sender(stage.connection)
    sender.send(settings.control.topic, json.dumps({"joinType": join.value}).encode())
    sender.flush()
    asked = time.monotonic()
    deadline = asked + _LIMIT_SECONDS
    while (current := load_manifest(stage.connection, "evergrid").current) == before:
        stage.check()
        if time.monotonic() > deadline:
            raise LinkError(f"no change within {_LIMIT_SECONDS:.0f} seconds")
        time.sleep(_LOOK_SECONDS)
    live = time.monotonic()
    assert current is not None
    viewer.wait_for(lambda window: window.generation == current, _LIMIT_SECONDS)
    return asked, live, current


def _values(viewer: Viewer, change: tuple[float, float, int], name: str) -> tuple[Value, ...]:
    asked, live, generation = change
    shown = next(s.at for s in viewer.sights if s.generation == generation and s.at > asked)
    calm = _longest_wait(viewer.sights, asked - _CALM_SECONDS, asked)
    switch = _longest_wait(viewer.sights, shown - _AROUND_SECONDS, shown + _AROUND_SECONDS)
    return (
        Value(f"{name}asked to live", live - asked, "s", digits=1),
        Value(f"{name}asked to on screen", shown - asked, "s", digits=1),
        Value(f"{name}longest wait for a frame before", 1000 * calm, "ms"),
        Value(f"{name}and around the switch", 1000 * switch, "ms"),
    )


def _longest_wait(sights: list[Observation], start: float, end: float) -> float:
    """The longest time without a frame, from edge to edge."""
    times = [sight.at for sight in sights if start <= sight.at <= end]
    return longest_gap([start, *times, end])


BENCH = Bench(
    "swap",
    "A change under open screens",
    "A control message asks for another type of join while a viewer looks at the newest rows of "
    f"`{TABLE}` and {_RATE} messages come a second. Live: the manifest names the new generation. "
    "On screen: the viewer has its first frame. The longest wait between two frames is taken "
    f"from the {_CALM_SECONDS:.0f} s before the change and from {_AROUND_SECONDS:.0f} s on "
    "either side of the switch. Going back finds the first generation kept.",
    cases,
)
