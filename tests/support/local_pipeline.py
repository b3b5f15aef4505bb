"""The state of the pipeline behind a LocalGateway, set by a test without Kafka or Spark.

pipeline = LocalPipeline(gateway)
pipeline.put(2, State.PREPARING, {"usersTopic": "users_v2"}, progress=Progress("history", 7, 10))
pipeline.judge(0, {"usersTopic": "users_v2"}, Verdict.PREPARING, generation=2)
pipeline.switch(2)
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

import msgspec

from evergrid.changelog.control_message import read_request
from evergrid.changelog.manifest import Choices
from evergrid.config import load
from evergrid.config.settings import Settings, requested_settings
from evergrid.model.control_request import Verdict, topic_words, type_words
from evergrid.model.generation import Generation, Progress, State, TableTopic, Times
from evergrid.orchestrator.registry import status_row
from tests.support.local_gateway import LocalGateway

OFFERED = ("accounts", "accounts_v2", "users", "users_v2")

Message = Mapping[str, str]


class LocalPipeline:
    """Tells a gateway of generations, verdicts and choices; times are microseconds."""

    def __init__(
        self,
        gateway: LocalGateway,
        settings: Settings | None = None,
        offered: Sequence[str] = OFFERED,
    ) -> None:
        self.settings = settings or load(None, {})
        self._gateway = gateway
        gateway.place(self.settings.control_raw(), generation=0)
        gateway.place(self.settings.orchestrator_status(), generation=0)
        self.offer(offered)

    def offer(self, offered: Sequence[str]) -> None:
        """Set the topics that control messages may request."""
        self._replace(
            choices=Choices(
                topic=self.settings.control.topic,
                topics=tuple(offered),
                sources=topic_words(self.settings.sources),
                joins=type_words(self.settings.joins),
                grace_seconds=self.settings.control.grace_seconds,
            )
        )

    def put(
        self,
        number: int,
        state: State,
        wanted: Message = {},  # noqa: B006 - never written to
        *,
        progress: Progress | None = None,
        error: str = "",
        rows: int | None = None,
        times: Times | None = None,
    ) -> Generation:
        """Set the state of a generation, of what a control message asks for."""
        settings = self.settings
        if wanted:
            request = read_request(json.dumps(wanted).encode(), settings)
            settings = requested_settings(settings, request)
        tables = settings.generation_tables()
        made = Generation(
            number=number,
            state=state,
            sources=settings.sources,
            joins=settings.joins,
            topics={},
            tables={one.name: TableTopic(one, f"g{number}.{one.name}", 1) for one in tables},
            times=times or Times(created=time.time_ns() // 1000),
            progress=progress,
            error=error,
        )
        self._put(made, rows)
        return made

    def switch(self, number: int) -> None:
        """Make it the current one; the one before is kept. Its tables are for the test to place."""
        now = time.time_ns() // 1000
        manifest = self._gateway.engine.manifest
        before, made = manifest.current_generation, manifest.generations[number]
        current = msgspec.structs.replace(made.times, ready=now, current=now)
        self._put(
            msgspec.structs.replace(made, state=State.CURRENT, times=current, progress=None), 0
        )
        self._replace(current=number)
        if before is not None and before.number != number:
            ended = msgspec.structs.replace(before.times, ended=now)
            self._put(msgspec.structs.replace(before, state=State.RETIRING, times=ended), 0)

    def forget(self, number: int) -> None:
        """Remove a generation, except its row in the table of generations."""
        known = dict(self._gateway.engine.manifest.generations)
        gone = msgspec.structs.replace(known.pop(number), state=State.GONE)
        self._replace(generations=known)
        self._show(gone, None)

    def judge(
        self,
        offset: int,
        message: Message | str,
        verdict: Verdict,
        *,
        reason: str = "",
        generation: int | None = None,
        by: str = "key ops",
        partition: int = 0,
        asked_at: int = 0,
        decided: int = 0,
    ) -> None:
        """Set the verdict of the control message at this offset."""
        now = time.time_ns() // 1000
        row = {
            "message": message if isinstance(message, str) else json.dumps(message),
            "verdict": verdict.value,
            "reason": reason or None,
            "generation": generation,
            "by": by or None,
            "decided": decided or now,
            "ts": asked_at or now,
            "_partition": partition,
            "_offset": offset,
        }
        self._gateway.upsert(self.settings.control_raw().name, [row])

    def _put(self, generation: Generation, rows: int | None) -> None:
        known = self._gateway.engine.manifest.generations
        self._replace(generations={**known, generation.number: generation})
        self._show(generation, rows)

    def _show(self, generation: Generation, rows: int | None) -> None:
        row = status_row(self.settings, generation, rows)
        self._gateway.upsert(self.settings.orchestrator_status().name, [row])

    def _replace(self, **changes: object) -> None:
        engine = self._gateway.engine
        engine.manifest = msgspec.structs.replace(engine.manifest, **changes)
