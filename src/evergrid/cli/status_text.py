"""The state of the pipeline and of control messages, in sentences. No I/O."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from evergrid.changelog.codec import Row
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.unreadable_records import unreadable_text
from evergrid.cli.terminal import local_time, table_lines
from evergrid.model.control_request import Verdict
from evergrid.model.errors import EvergridError
from evergrid.model.generation import Generation, State
from evergrid.model.join import JoinType
from evergrid.model.printable import printable
from evergrid.orchestrator.registry import progress_text

_MAX_MESSAGE = 200
_MAX_REASON = 2000  # long, because the remedy comes last
_FAILURES = {
    Verdict.SUPERSEDED.value: "superseded by a later message",
    Verdict.INVALID.value: "rejected by the pipeline",
    Verdict.FAILED.value: "failed",
}


def pipeline_text(manifest: Manifest, alive: bool) -> str:
    """Whether a pipeline runs, and what it wrote that cannot be read here."""
    text = "The pipeline runs."
    if not alive:
        since = f"runs since {local_time(manifest.heartbeat)}"
        text = f"No pipeline {since if manifest.heartbeat else 'has run yet'}."
    return f"{text} {unreadable_text(manifest.unreadable, 'program')}".rstrip()


def pending_text(row: Row | None, manifest: Manifest) -> str:
    """What is being done for a message that has no final verdict yet."""
    if row is None:
        return "Waiting for the pipeline to read it."
    if row["verdict"] != Verdict.PREPARING.value:
        return f"Waiting. {_reason(row)}".rstrip()
    generation = _generation(row, manifest)
    return _preparing(generation) if generation else f"Preparing generation {row['generation']}."


def outcome_text(row: Row, manifest: Manifest, seconds: float) -> str:
    """The final verdict on a message, `seconds` after it was sent; an error if it failed."""
    verdict, reason = row["verdict"], _reason(row)
    if verdict == Verdict.APPLIED.value:
        generation = _generation(row, manifest)
        parts = f": {_parts(generation)}" if generation else ""
        return f"Generation {row['generation']} is live after {_duration(seconds)}{parts}."
    if verdict == Verdict.IGNORED.value:
        return f"Nothing to do. {reason}".rstrip()
    raise EvergridError(f"{_FAILURES[str(verdict)]}: {reason or 'no reason given'}")


def generation_lines(manifest: Manifest) -> Iterator[str]:
    """A sentence for each generation that is not gone, the current one first."""
    current = manifest.current_generation
    if current is not None:
        since = local_time(current.times.current)
        yield f"Generation {current.number} is current since {since}: {_parts(current)}."
    for number, one in sorted(manifest.generations.items(), reverse=True):
        if number == manifest.current:
            continue
        if one.state is State.RETIRING:
            yield f"Generation {number} is kept for a quick return: {_parts(one)}."
        elif one.state is State.FAILED:
            yield _preparing(one)
        elif one.state is not State.GONE:
            yield f"{_preparing(one).rstrip('.')} ({_parts(one)})."


def canceled_text(manifest: Manifest) -> str:
    """Which preparation another message may cancel; empty when there is none."""
    for number, one in sorted(manifest.generations.items(), reverse=True):
        if number != manifest.current and one.state in (State.PREPARING, State.READY):
            cause = f" for message {one.cause}" if one.cause else ""
            return (
                f"Generation {number} ({_parts(one)}) is being prepared{cause}; this message "
                "cancels it, unless it asks for the same."
            )
    return ""


def option_lines(manifest: Manifest, known: Container[str]) -> Iterator[str]:
    """The options of `evergrid control`; sources that are `known` have one of their own."""
    current, choices = manifest.current_generation, manifest.choices
    sources, joins = (current.sources, current.joins) if current else ({}, {})
    rows = [
        (
            f"--{name}-topic TOPIC" if name in known else f"--topic {name}=TOPIC",
            f"now {sources[name].topic}" if name in sources else "",
        )
        for name in choices.sources
    ]
    kinds = [kind.value for kind in JoinType]
    for name in choices.joins:
        now = joins[name].type.value if name in joins else ""
        others = ", ".join(kind for kind in kinds if kind != now)
        typed = "--join TYPE" if len(choices.joins) == 1 else f"--join {name}=TYPE"
        rows.append((typed, f"now {now}; or {others}" if now else others))
    yield from (f"  {line}" for line in table_lines(rows))
    yield f"  topics: {', '.join(choices.topics) or 'none that exists is allowed'}"


def message_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Control messages with their verdicts, each with its reason on the next line."""
    shown = [
        (
            local_time(ts) if isinstance(ts := row["ts"], int) else "",
            _text(row["verdict"]),
            _text(row["by"]) or "unknown",
            _text(row["message"]),
        )
        for row in rows
    ]
    for row, line in zip(rows, table_lines(shown), strict=True):
        yield f"  {line}"
        if row["reason"]:
            yield f"    {_reason(row)}"


def _generation(row: Row, manifest: Manifest) -> Generation | None:
    number = row["generation"]
    return manifest.generations.get(number) if isinstance(number, int) else None


def _parts(generation: Generation) -> str:
    """Its sources with their topics, and its joins with their types."""
    sources = [f"{name}: {source.topic}" for name, source in generation.sources.items()]
    joins = [f"{name}: {join.type.value}" for name, join in generation.joins.items()]
    return ", ".join((*sources, *joins))


def _preparing(generation: Generation) -> str:
    number = generation.number
    if generation.state is State.RETIRING and generation.error:
        return f"Generation {number} is retried: {printable(generation.error)}"
    if generation.state is State.FAILED:
        return f"Generation {number} failed: {printable(generation.error)}"
    if generation.state in (State.READY, State.CURRENT):
        return f"Generation {number} is ready."
    if generation.progress is None:
        return f"Preparing generation {number}."
    return f"Preparing generation {number}: {printable(progress_text(generation.progress))}"


def _reason(row: Row) -> str:
    return _text(row["reason"], _MAX_REASON)


def _text(value: object, longest: int = _MAX_MESSAGE) -> str:
    """Text from outside on one line, cut if it is too long."""
    text = printable("" if value is None else str(value))
    return text if len(text) <= longest else f"{text[:longest]}…"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
