"""Stops, keeps and removes generations that were replaced, cancelled or failed."""

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
    may_be_needed,
    needed_queries,
    orphans,
    overdue,
)
from evergrid.orchestrator.registry import Registry
from evergrid.orchestrator.supervisor import Supervisor
from evergrid.pipeline.checkpoint import all_checkpoints, remove

_ANNOUNCED_SECONDS = 3.0
_LEFTOVERS_SECONDS = 10.0


class Retirement:
    """Drains a replaced generation, keeps it for the grace time, then removes it.

    Each turn does what is due, and can be repeated when the broker did not answer.
    """

    def __init__(self, settings: Settings, registry: Registry, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._registry = registry
        self._say = say
        self._draining: list[tuple[Supervisor, float]] = []
        self._clearing: list[tuple[Generation, float]] = []
        self._leftovers_at = 0.0
        self._may_have_orphans = True

    def drain(self, supervisor: Supervisor) -> None:
        """Let its queries run on for the drain time."""
        stop_at = time.monotonic() + self._settings.control.drain_seconds
        self._draining.append((supervisor, stop_at))

    def look_for_orphans(self) -> None:
        """A preparation ended, perhaps with topics that the manifest never knew."""
        self._may_have_orphans = True

    def turn(self, busy: int | None) -> None:
        """`busy` is the number of a generation that is being prepared."""
        self.stop_drained()
        self._clear_announced()
        manifest = self._registry.manifest
        for number, one in manifest.generations.items():
            if number not in (manifest.current, busy) and one.state is State.CURRENT:
                self._registry.put(generations.ended(one, State.RETIRING))
        in_use = {busy, *(supervisor.generation.number for supervisor, _ in self._draining)}
        manifest = self._registry.manifest
        old = overdue(manifest, self._settings.control, generations.now())
        for one in (*old, *made_good(manifest)):
            if one.number not in in_use:
                self._remove(one)
        if time.monotonic() >= self._leftovers_at:
            self._leftovers_at = time.monotonic() + _LEFTOVERS_SECONDS
            with self._registry.sharing:
                self._remove_leftovers(busy, in_use)

    def _remove_leftovers(self, busy: int | None, in_use: set[int | None]) -> None:
        """Spark may still write a file after a query was stopped, and a preparation may end between
        creating its topics and recording them."""
        manifest = self._registry.manifest
        needed = needed_queries(manifest)
        for query in all_checkpoints(self._settings):
            is_needed = query in needed or may_be_needed(manifest, query.generation)
            if not is_needed and query.generation not in in_use:
                remove(self._settings, query)
        if self._may_have_orphans:
            connection, own = self._settings.kafka.internal, self._settings.internal_topics
            left = orphans(topics.partitions(connection), own.prefix, manifest, busy)
            if left:
                self._registry.prove_ownership()
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

    def end(self, generation: Generation, state: State, error: str = "") -> None:
        """Remove one whose preparation was cancelled (GONE), or all but the record of one that
        FAILED. Record its end first, so that gateways stop reading it before it is deleted."""
        ended = generations.ended(generation, state, error)
        self._registry.put(ended)
        self._clearing.append((ended, time.monotonic() + _ANNOUNCED_SECONDS))

    def clean_up_after_a_crash(self) -> None:
        """Delete incomplete generations, keep complete ones and the records of failed ones."""
        incomplete, complete = interrupted(self._registry.manifest)
        for one in failed(self._registry.manifest):
            self._clear(one)
        for one in incomplete:
            self._say(f"Generation {one.number} was not ready when the pipeline ended.")
            self._remove(one)
        for one in complete:
            self._registry.put(generations.ended(one, State.RETIRING))

    def _clear_announced(self) -> None:
        for generation, due in list(self._clearing):
            if time.monotonic() >= due:
                self._clear(generation)
                if generation.state is State.GONE:
                    self._registry.forget(generation)
                self._clearing.remove((generation, due))

    def _remove(self, generation: Generation) -> None:
        """Record its end first: a pipeline that takes over just then neither continues nor shares
        what is deleted here, even if that happens later."""
        if generation.state is State.FAILED:  # which is recorded
            self._clear(generation)
            self._registry.forget(generation)
            return
        gone = generations.ended(generation, State.GONE, generation.error)
        self._registry.put(gone)
        self._clearing.append((gone, 0.0))
        self._clear_announced()

    def _clear(self, generation: Generation) -> None:
        """Remove what it left, but for what another generation needs."""
        with self._registry.sharing:
            generations.clear(self._settings, generation, self._registry.manifest)
