"""The source topics of a generation: whether they exist, and hold what their sources expect."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from evergrid.config.settings import MissingTopics, Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import TopicInfo
from evergrid.model.errors import ConfigError
from evergrid.model.generation import Generation
from evergrid.model.join import JoinType
from evergrid.model.printable import printable
from evergrid.model.source import Source, TopicEnd
from evergrid.orchestrator.control_requests import ControlRequests
from evergrid.orchestrator.generation_rules import missing_topics
from evergrid.pipeline.plan import Plan
from evergrid.pipeline.query_failures import told_plainly

_LOOK_SECONDS = 1.0
_NAMED_KEYS = 3
_NAMED_CHARACTERS = 50


class TopicsMissing(ConfigError):
    """Source topics do not exist; they may be created at any time."""


def find_topics(settings: Settings) -> Mapping[str, TopicInfo]:
    """The source topics as they are; TopicsMissing when they are not all there."""
    names = [source.topic for source in settings.sources.values()]
    found = topics.describe(settings.kafka.source, names)
    if missing := missing_topics(settings.sources, found):
        one = len(missing) == 1
        raise TopicsMissing(
            f"{'topic' if one else 'topics'} {', '.join(missing)} {'does' if one else 'do'} "
            "not exist",
            where=f"Kafka at {settings.kafka.source.bootstrap}",
            remedy="Create what is missing, or correct its name.",
        )
    return found


def await_topics(
    settings: Settings,
    requests: ControlRequests,
    answer: Callable[[], None],
    say: Callable[[str], None],
) -> None:
    """Wait for missing source topics, or end with a sentence, as the settings say.

    Control messages are answered meanwhile. For topics that a control message names, its verdict
    says what is missing.
    """
    said = ""
    while not requests.cause:
        try:
            find_topics(requests.wanted)
            return
        except TopicsMissing as error:
            if settings.missing_topics is MissingTopics.FAIL:
                raise ConfigError(
                    error.what,
                    where=error.where,
                    remedy="Create what is missing, correct sources.*.topic, or set "
                    "missing_topics: wait.",
                ) from None
            missing = error.what.removesuffix(" does not exist").removesuffix(" do not exist")
            if missing != said:
                say(f"Waiting for {missing} to be created.")
                said = missing
        time.sleep(_LOOK_SECONDS)
        answer()


def check_pairs(plan: Plan) -> None:
    """ConfigError when the messages that are there would make too many rows of an inner join."""
    for join in plan.generation.joins.values():
        if join.type is not JoinType.INNER:
            continue
        source, sources = plan.settings.kafka.source, plan.generation.sources
        names = (sources[join.left].topic, sources[join.right].topic)
        with told_plainly(f"estimate the rows of join {join.name}"):
            keys = plan.pairs(
                join, *(topics.offsets(source, name, TopicEnd.LATEST) for name in names)
            )
            rows = keys.agg({"pairs": "sum"}).head()
            total = (rows and rows[0]) or 0
            if total <= join.backlog_pairs:
                continue
            worst = keys.orderBy(keys["pairs"].desc()).head(_NAMED_KEYS)
        counts = ", ".join(
            f"{printable(row.key[:_NAMED_CHARACTERS])} ({row.left:,} × {row.right:,} messages)"
            for row in worst
        )
        raise ConfigError(
            f"the inner join {join.name} would make up to {total:,.0f} rows of the messages that "
            f"are there; joins.{join.name}.backlog_pairs allows {join.backlog_pairs:,}. The keys "
            f"with the most: {counts}",
            where=f"topics {' and '.join(names)}",
            remedy=f"Ask for another type of join, keep the rows of {join.table} for a shorter "
            "age, or raise that limit and restart the pipeline.",
        )


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
    written = topics.offsets(plan.settings.kafka.internal, target.topic, TopicEnd.LATEST)
    if any(written.values()):
        return True
    end = topics.offsets(plan.settings.kafka.source, source.topic, TopicEnd.LATEST)
    if end == plan.generation.topics[source.name].start:
        return True
    with told_plainly("look at the past"):
        changes = plan.history(source, end)
        rows = changes.where(changes["topic"] == target.topic)
        return not rows.isEmpty() or changes.isEmpty()
