"""Whether a topic that was named holds what its source is meant to be made of."""

from __future__ import annotations

from evergrid.kafka import topics
from evergrid.model.errors import ConfigError
from evergrid.model.generation import Generation
from evergrid.model.source import Edge, Source
from evergrid.pipeline.failures import told_plainly
from evergrid.pipeline.plan import Plan


def check_readable(plan: Plan, before: Generation | None) -> None:
    """ConfigError when a new topic has messages, and not one of them can be read.

    Of topics that the generation before reads too, whatever they hold is right: they are on
    screens already. Without one before, the configuration is taken at its word.
    """
    if before is None:
        return
    known = {source.topic for source in before.sources.values()}
    for source in plan.generation.sources.values():
        if source.topic not in known and not _is_readable(plan, source):
            raise ConfigError(
                f"none of the messages of topic {source.topic} can be read as {source.name}",
                where=f"Kafka at {plan.settings.kafka.source.bootstrap}",
                remedy="The quarantine table says why. Name another topic, or send the message "
                "again when that one is mended.",
            )


def _is_readable(plan: Plan, source: Source) -> bool:
    """Rows that are too old were not written, and offsets say little of how many messages there
    are: where nothing was written, the topic itself is looked at."""
    target = plan.generation.tables[source.table]
    written = topics.offsets(plan.settings.kafka.internal, target.topic, Edge.LATEST)
    if any(written.values()):
        return True
    end = topics.offsets(plan.settings.kafka.source, source.topic, Edge.LATEST)
    if end == plan.generation.topics[source.name].start:
        return True
    with told_plainly("look at the past"):
        changes = plan.history(source, end)
        rows = changes.where(changes["topic"] == target.topic)
        return not rows.isEmpty() or changes.isEmpty()
