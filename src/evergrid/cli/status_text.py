"""How the pipeline stands and what becomes of control messages, in sentences. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterator, Sequence

from rich.cells import cell_len

from evergrid.changelog.codec import Row
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.text import cell, moment, printable
from evergrid.model.control import Verdict
from evergrid.model.generation import Generation, State
from evergrid.model.join import JoinType
from evergrid.orchestrator.status import sentence

_NOBODY_YET = "No pipeline has been seen yet."
_GO_BACK = "going back to it is quick"
_LONGEST = 200  # of a message
_LONGEST_REASON = 2000  # what to do about it comes last
_MINUTE = 60
_BAD_ENDS = {
    Verdict.SUPERSEDED.value: "another message took its place",
    Verdict.INVALID.value: "the pipeline refuses it",
    Verdict.FAILED.value: "it failed",
}


def pipeline(manifest: Manifest, alive: bool, today: datetime.date) -> str:
    """Whether one runs."""
    if alive:
        return "The pipeline runs."
    if not manifest.pulse:
        return _NOBODY_YET
    return f"No pipeline runs since {moment(manifest.pulse, today)}."


def coming(row: Row | None, manifest: Manifest) -> str:
    """What is being done for a message that has no last word yet."""
    verdict = row["verdict"] if row else None
    if row is None:
        return "Waiting for the pipeline to read it."
    if verdict != Verdict.PREPARING.value:
        return f"Waiting. {_reason(row)}".rstrip()
    number = row["generation"]
    generation = manifest.generations.get(number) if isinstance(number, int) else None
    if generation is None:
        return f"Preparing generation {number}."
    return _preparing(generation)


def outcome(row: Row, manifest: Manifest, seconds: float) -> str:
    """The last word on a message; `seconds` since it was sent."""
    verdict, reason, number = row["verdict"], _reason(row), row["generation"]
    if verdict == Verdict.APPLIED.value:
        generation = manifest.generations.get(number) if isinstance(number, int) else None
        parts = f": {parts_of(generation)}" if generation else ""
        return f"Generation {number} is live after {_spell(seconds)}{parts}."
    if verdict == Verdict.IGNORED.value:
        return f"Nothing to do. {reason}".rstrip()
    return f"{_BAD_ENDS[str(verdict)]}: {reason or 'no reason is given'}"


def parts_of(generation: Generation) -> str:
    """What it is made of: each source with its topic, each join with its type."""
    sources = [f"{name}: {source.topic}" for name, source in generation.sources.items()]
    joins = [f"{name}: {join.type.value}" for name, join in generation.joins.items()]
    return ", ".join((*sources, *joins))


def generations(manifest: Manifest, today: datetime.date) -> Iterator[str]:
    """A sentence for each that is of interest, the current one first."""
    current = manifest.current_generation
    if current is not None:
        since = moment(current.times.current, today)
        yield f"Generation {current.number} is on screens since {since}: {parts_of(current)}."
    for number, one in sorted(manifest.generations.items(), reverse=True):
        if number == manifest.current:
            continue
        if one.state is State.RETIRING:
            yield f"Generation {number} is kept: {parts_of(one)}; {_GO_BACK}."
        elif one.state is State.FAILED:
            yield _preparing(one)
        elif one.state is not State.GONE:
            yield f"{_preparing(one).rstrip('.')} ({parts_of(one)})."


def endangered(manifest: Manifest) -> str:
    """What another message may call off; empty when nothing is being prepared."""
    for number, one in sorted(manifest.generations.items(), reverse=True):
        if number != manifest.current and one.state in (State.PREPARING, State.READY):
            cause = f" for message {one.cause}" if one.cause else ""
            return (
                f"Generation {number} ({parts_of(one)}) is being prepared{cause}: it is called off "
                "unless this asks for the same."
            )
    return ""


def options_of(manifest: Manifest, known: Container[str]) -> Iterator[str]:
    """What may be asked for, as it is typed; sources that are `known` have options of their own."""
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
    yield from (f"  {line}" for line in _aligned(rows))
    yield f"  topics: {', '.join(choices.topics) or 'none that exists may be asked for'}"


def messages(rows: Sequence[Row], today: datetime.date) -> Iterator[str]:
    """Control messages with their verdicts and the reasons, in this order."""
    shown = [
        (
            moment(ts, today) if isinstance(ts := row["ts"], int) else "",
            _text(row["verdict"]),
            _text(row["by"]) or "somebody",
            _text(row["message"]),
        )
        for row in rows
    ]
    for row, line in zip(rows, _aligned(shown), strict=True):
        yield f"  {line}"
        if row["reason"]:
            yield f"    {_reason(row)}"


def _preparing(generation: Generation) -> str:
    number = generation.number
    if generation.state is State.RETIRING and generation.error:
        return f"Generation {number} is tried again: {printable(generation.error)}"
    if generation.state is State.FAILED:
        return f"Generation {number} failed: {printable(generation.error)}"
    if generation.state in (State.READY, State.CURRENT):
        return f"Generation {number} is ready."
    if generation.progress is None:
        return f"Preparing generation {number}."
    return f"Preparing generation {number}: {printable(sentence(generation.progress))}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(cell, row, widths)).rstrip() for row in rows]


def _reason(row: Row) -> str:
    return _text(row["reason"], _LONGEST_REASON)


def _text(value: object, longest: int = _LONGEST) -> str:
    """Words of strangers, on one line and not too many."""
    text = printable("" if value is None else str(value))
    return text if len(text) <= longest else f"{text[:longest]}…"


def _spell(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest} s"
