"""An audience in front of a gateway: beats on the changelog, probes, and viewers by the hundred."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TypeVar

import msgspec

from bench.arithmetic import delays
from bench.changes import Beat, Written
from bench.crowd import Counted, Crowd, Probed, Probes, Sight
from bench.helper import Helper
from bench.served import Served
from bench.server import GatewayServer
from bench.stage import TABLE
from evergrid.model.errors import LinkError

PROBES = 10  # opened before all others, and as many after them
_CONNECT_SECONDS = 120.0
_END_SECONDS = 60.0

Result = TypeVar("Result")


class Scene(msgspec.Struct, frozen=True):
    """`rows` of a window of `window` rows change `per_second` times, for so many viewers."""

    viewers: int
    processes: int
    window: int
    rows: int
    per_second: float


class Span(msgspec.Struct, frozen=True):
    """A measured part, in microseconds of the wall clock."""

    begin_us: int
    end_us: int

    def __contains__(self, moment: int) -> bool:
        return self.begin_us <= moment < self.end_us


class Seen(msgspec.Struct, frozen=True):
    """The stamps of the beats, what each probe saw, and what the crowds counted."""

    beats: Sequence[int]
    probes: Sequence[Sequence[Sight]]
    crowds: Sequence[Counted]

    def from_change(self, spans: Sequence[Span]) -> list[float]:
        """Milliseconds from each beat in the spans to each probe, sorted."""
        beats = [beat for beat in self.beats if any(beat in span for span in spans)]
        return sorted(
            delay / 1000
            for sights in self.probes
            for delay in delays(beats, [(s.arrived_us, s.stamp_us) for s in sights])
        )

    def from_state(self, spans: Sequence[Span]) -> list[float]:
        """Milliseconds from each state that the gateway took to its frame at each probe, sorted."""
        return sorted(
            (sight.arrived_us - sight.state_us) / 1000
            for sights in self.probes
            for sight in sights
            if any(sight.state_us in span for span in spans)
        )


class Audience:
    """Who looks at one gateway; probes sit in the first and in the last rows."""

    def __init__(self, tables: Served, gateway: GatewayServer, scene: Scene) -> None:
        self._tables = tables
        self._gateway = gateway
        self._scene = scene
        self._stop = tables.folder / "audience.stop"
        self._probes: list[Helper[Probed]] = []
        self._crowds: list[Helper[Counted]] = []
        self._beat: Helper[Written] | None = None
        self._stack = ExitStack()
        self.size = 0

    def gather(self) -> None:
        """Have everybody in their seats and the table beating."""
        scene = self._scene
        self._seat_probes()
        share = scene.viewers // scene.processes
        for _ in range(scene.processes):
            crowd = Crowd(*self._asking(), share, str(self._stop))
            self._crowds.append(self._begin(Helper(crowd, Counted, self._tables.folder)))
        self._wait_for(share * scene.processes)
        self._seat_probes()
        place = (self._tables.bootstrap, self._tables.topic)
        beat = Beat(*place, scene.rows, scene.per_second, str(self._stop))
        self._beat = self._begin(Helper(beat, Written, self._tables.folder))

    def wait_for_connections(self, count: int, seconds: float = _CONNECT_SECONDS) -> None:
        self._gateway.wait_for(
            lambda: self._gateway.metrics()["connections"] == count,
            f"{count} connections",
            seconds,
        )

    def dismiss(self) -> Seen:
        """What they saw; LinkError when one of them was sent away."""
        assert self._beat is not None
        self._stop.touch()
        beats = self._beat.result(_END_SECONDS).beats
        probed = [probes.result(_END_SECONDS) for probes in self._probes]
        counted = [crowd.result(_END_SECONDS) for crowd in self._crowds]
        gone = sum(part.gone for part in probed) + sum(part.gone for part in counted)
        if gone:
            raise LinkError(f"{gone} viewers were dropped who did nothing wrong")
        return Seen(beats, [sights for part in probed for sights in part.sights], counted)

    def __enter__(self) -> Audience:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _seat_probes(self) -> None:
        probes = Probes(*self._asking(), PROBES, str(self._stop))
        self._probes.append(self._begin(Helper(probes, Probed, self._tables.folder)))
        self._wait_for(PROBES)

    def _wait_for(self, more: int) -> None:
        self.size += more
        self.wait_for_connections(self.size)

    def _asking(self) -> tuple[str, str, str, int]:
        return self._gateway.address, self._gateway.key, TABLE, self._scene.window

    def _begin(self, helper: Helper[Result]) -> Helper[Result]:
        return self._stack.enter_context(helper)
