"""What happens to generations that are not wanted any more."""

from __future__ import annotations

import time
from collections.abc import Callable

from evergrid.config.settings import Settings
from evergrid.kafka import topics
from evergrid.model.generation import Generation, State
from evergrid.orchestrator import generations
from evergrid.orchestrator.generation_rules import (
    failed,
    interrupted,
    made_good,
    needed_queries,
    orphans,
    overdue,
)
from evergrid.orchestrator.registry import Registry
from evergrid.orchestrator.supervisor import Supervisor
from evergrid.pipeline.checkpoint import all_checkpoints, remove

_LET_GO_SECONDS = 3.0
_SWEEP_SECONDS = 10.0


class Retirement:
    """Drains, keeps for a while, and takes away. Each turn does what is due, and can be
    repeated when the broker did not answer."""

    def __init__(self, settings: Settings, registry: Registry, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._registry = registry
        self._say = say
        self._draining: list[tuple[Supervisor, float]] = []
        self._clearing: list[tuple[Generation, float]] = []
        self._sweep_at = 0.0
        self._may_have_orphans = True

    def drain(self, supervisor: Supervisor) -> None:
        """Have its queries run on for a while."""
        stop_at = time.monotonic() + self._settings.control.drain_seconds
        self._draining.append((supervisor, stop_at))

    def look_for_orphans(self) -> None:
        """A preparation ended, perhaps with topics that the manifest never knew."""
        self._may_have_orphans = True

    def turn(self, busy: int | None) -> None:
        """`busy` is the number of a generation that is being prepared."""
        self.stop_drained()
        self._clear_what_was_let_go()
        manifest = self._registry.manifest
        others = [
            one
            for number, one in manifest.generations.items()
            if number not in (manifest.current, busy)
        ]
        for one in others:
            if one.state is State.CURRENT:
                self._registry.put(generations.ended(one, State.RETIRING))
        in_use = {busy, *(supervisor.generation.number for supervisor, _ in self._draining)}
        for one in overdue(self._registry.manifest, self._settings.control, generations.now()):
            if one.number not in in_use:
                self._remove(one)
        for one in made_good(self._registry.manifest):
            if one.number not in in_use:
                self._remove(one)
        self._sweep(busy)

    def _sweep(self, busy: int | None) -> None:
        """Spark may still write a file or two after a query was stopped, and a preparation may
        end between making its topics and saying so."""
        if time.monotonic() < self._sweep_at:
            return
        self._sweep_at = time.monotonic() + _SWEEP_SECONDS
        with self._registry.sharing:
            self._remove_what_nobody_needs(busy)

    def _remove_what_nobody_needs(self, busy: int | None) -> None:
        manifest = self._registry.manifest
        needed = needed_queries(manifest)
        draining = {supervisor.generation.number for supervisor, _ in self._draining}
        for query in all_checkpoints(self._settings):
            if query not in needed and query.generation not in {busy, *draining}:
                remove(self._settings, query)
        if self._may_have_orphans:
            connection, own = self._settings.kafka.internal, self._settings.internal_topics
            left = orphans(topics.partitions(connection), own.prefix, manifest, busy)
            topics.delete(connection, left)
            self._may_have_orphans = busy is not None

    def stop_drained(self, *, at_once: bool = False) -> None:
        """Stop the queries whose time is over, or all of them: Spark's slots are needed."""
        for supervisor, stop_at in list(self._draining):
            if at_once or time.monotonic() >= stop_at:
                supervisor.stop()
                self._draining.remove((supervisor, stop_at))

    def make_room(self, kept: int | None) -> None:
        """Before another generation is prepared; `kept` is one that stays for it."""
        self.stop_drained(at_once=True)
        manifest, control = self._registry.manifest, self._settings.control
        for one in overdue(manifest, control, generations.now(), coming=kept is None):
            if one.number != kept:
                self._remove(one)

    def discard(self, generation: Generation) -> None:
        """Take away one that was called off."""
        self._let_go(generations.ended(generation, State.GONE))

    def fail(self, generation: Generation, error: str) -> None:
        """Take away all but the record, which says why."""
        self._let_go(generations.ended(generation, State.FAILED, error))

    def after_a_kill(self) -> None:
        """What a pipeline left that ended in the middle: halves go, whole ones are kept, and of
        what failed the record."""
        half, whole = interrupted(self._registry.manifest)
        for one in failed(self._registry.manifest):
            self._clear(one)
        for one in half:
            self._say(f"Generation {one.number} was not ready when the pipeline ended.")
            self._remove(one)
        for one in whole:
            self._registry.put(generations.ended(one, State.RETIRING))

    def _let_go(self, generation: Generation) -> None:
        """Gateways read what is being prepared, so they hear of its end before it is gone."""
        self._registry.put(generation)
        self._clearing.append((generation, time.monotonic() + _LET_GO_SECONDS))

    def _clear_what_was_let_go(self) -> None:
        for generation, due in list(self._clearing):
            if time.monotonic() >= due:
                self._clear(generation)
                if generation.state is State.GONE:
                    self._registry.forget(generation)
                self._clearing.remove((generation, due))

    def _remove(self, generation: Generation) -> None:
        self._clear(generation)
        self._registry.forget(generation)

    def _clear(self, generation: Generation) -> None:
        """Remove what it left, but for what another generation needs."""
        with self._registry.sharing:
            generations.clear(self._settings, generation, self._registry.manifest)
