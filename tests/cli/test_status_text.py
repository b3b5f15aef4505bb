"""The state of the pipeline and of control messages, on one line each."""

from __future__ import annotations

import datetime
from pathlib import Path

import msgspec
import pytest

from evergrid.changelog.codec import Row
from evergrid.changelog.manifest import Choices, Manifest
from evergrid.cli.status_text import (
    canceled_text,
    generation_lines,
    message_lines,
    option_lines,
    outcome_text,
    pending_text,
    pipeline_text,
)
from evergrid.config import load
from evergrid.model.control_request import Verdict, topic_words, type_words
from evergrid.model.errors import EvergridError
from evergrid.model.generation import Generation, Progress, State, Times

SETTINGS = load(None, {})
AT = round(datetime.datetime(2026, 11, 16, 12, 0, 3).timestamp() * 1_000_000)
PARTS = "users: users, accounts: accounts, final: left"


def generation(number: int, state: State, error: str = "") -> Generation:
    return Generation(
        number=number,
        state=state,
        sources=SETTINGS.sources,
        joins=SETTINGS.joins,
        topics={},
        tables={},
        times=Times(created=AT, current=AT),
        error=error,
    )


def manifest(*all_of_them: Generation, current: int | None = None) -> Manifest:
    return Manifest({one.number: one for one in all_of_them}, current)


def message(verdict: Verdict, reason: str | None = None, generation: int | None = 4) -> Row:
    return {
        "message": '{"joinType": "left"}',
        "verdict": verdict.value,
        "reason": reason,
        "generation": generation,
        "by": None,
        "ts": AT,
    }


def test_whether_a_pipeline_runs_is_said_and_since_when_not() -> None:
    assert pipeline_text(Manifest(), False) == "No pipeline has run yet."
    seen = Manifest(heartbeat=AT)
    assert pipeline_text(seen, True) == "The pipeline runs."
    assert pipeline_text(seen, False) == "No pipeline runs since 2026-11-16 12:00:03."


@pytest.mark.parametrize(
    ("state", "progress", "sentence"),
    [
        (State.PREPARING, None, "Preparing generation 4."),
        (
            State.PREPARING,
            Progress("history", 12_000, 100_000),
            "Preparing generation 4: history: 12,000 of 100,000 rows (12%)",
        ),
        (State.PREPARING, Progress("history", 0, 0), "Preparing generation 4: history: nothing"),
        (State.READY, None, "Generation 4 is ready."),
        (State.CURRENT, None, "Generation 4 is ready."),
        (State.FAILED, None, "Generation 4 failed: No\\nbroker."),
    ],
)
def test_what_is_being_done_is_told(state: State, progress: Progress | None, sentence: str) -> None:
    one = generation(4, state, "No\nbroker." if state is State.FAILED else "")
    known = manifest(msgspec.structs.replace(one, progress=progress))
    assert pending_text(message(Verdict.PREPARING), known).startswith(sentence)
    assert pending_text(message(Verdict.PREPARING), Manifest()) == "Preparing generation 4."


def test_what_waits_says_for_what() -> None:
    assert pending_text(None, Manifest()) == "Waiting for the pipeline to read it."
    assert pending_text(message(Verdict.WAITING), Manifest()) == "Waiting."
    assert pending_text(message(Verdict.WAITING, "Soon."), Manifest()) == "Waiting. Soon."


def test_how_it_ended_and_how_long_it_took() -> None:
    live = manifest(generation(4, State.CURRENT), current=4)
    applied = message(Verdict.APPLIED)
    assert outcome_text(applied, live, 14.24) == f"Generation 4 is live after 14.2 s: {PARTS}."
    assert outcome_text(applied, Manifest(), 123.4) == "Generation 4 is live after 2 min 3 s."
    assert outcome_text(message(Verdict.IGNORED, "It runs."), live, 1) == "Nothing to do. It runs."
    with pytest.raises(EvergridError, match=r"^failed: no reason given$"):
        outcome_text(message(Verdict.FAILED), live, 1)
    with pytest.raises(EvergridError, match=r"Create it\.$"):
        outcome_text(message(Verdict.FAILED, "x" * 1000 + " Create it."), live, 1)
    with pytest.raises(EvergridError, match=r"^failed: x{2000}…$"):
        outcome_text(message(Verdict.FAILED, "x" * 10_000), live, 1)


def test_generations_that_matter_are_listed_the_current_one_first() -> None:
    lines = list(
        generation_lines(
            manifest(
                generation(1, State.GONE),
                generation(2, State.RETIRING),
                generation(3, State.CURRENT),
                generation(4, State.PREPARING),
                generation(5, State.FAILED, "Topic users_v9 does not exist."),
                current=3,
            )
        )
    )
    assert lines == [
        f"Generation 3 is current since 2026-11-16 12:00:03: {PARTS}.",
        "Generation 5 failed: Topic users_v9 does not exist.",
        f"Preparing generation 4 ({PARTS}).",
        f"Generation 2 is kept for a quick return: {PARTS}.",
    ]


def test_the_preparation_that_another_message_cancels_is_named() -> None:
    coming = msgspec.structs.replace(generation(4, State.PREPARING), cause="0:12")
    assert canceled_text(manifest(generation(3, State.CURRENT), coming, current=3)) == (
        f"Generation 4 ({PARTS}) is being prepared for message 0:12; this message cancels it, "
        "unless it asks for the same."
    )
    assert canceled_text(manifest(generation(3, State.CURRENT), current=3)) == ""


def test_several_joins_are_told_apart_in_what_is_typed(tmp_path: Path) -> None:
    file = tmp_path / "evergrid.yaml"
    file.write_text(
        "joins:\n  final: {type: left, left: users, right: accounts}\n"
        "  all: {type: inner, left: users, right: accounts}\n"
    )
    settings = load(file, {})
    one = msgspec.structs.replace(generation(1, State.CURRENT), joins=settings.joins)
    choices = Choices(
        "evergrid-control",
        ("accounts", "users"),
        topic_words(settings.sources),
        type_words(settings.joins),
    )
    known = msgspec.structs.replace(manifest(one, current=1), choices=choices)
    assert list(option_lines(known, ("users", "accounts"))) == [
        "  --users-topic TOPIC     now users",
        "  --accounts-topic TOPIC  now accounts",
        "  --join final=TYPE       now left; or asof, inner",
        "  --join all=TYPE         now inner; or asof, left",
        "  topics: accounts, users",
    ]
    elsewhere = list(option_lines(known, ("users",)))
    assert elsewhere[:2] == [
        "  --users-topic TOPIC     now users",
        "  --topic accounts=TOPIC  now accounts",
    ]
    without = Manifest(choices=Choices("t", (), {}, {"final": "joinType"}))
    nothing = list(option_lines(without, ()))
    assert nothing == [
        "  --join TYPE  asof, left, inner",
        "  topics: none that exists is allowed",
    ]


def test_messages_are_lined_up_with_their_reasons_below() -> None:
    rows = [message(Verdict.APPLIED), {**message(Verdict.INVALID, "Not\tJSON."), "by": "key ops"}]
    assert list(message_lines(rows)) == [
        '  2026-11-16 12:00:03  applied  unknown  {"joinType": "left"}',
        '  2026-11-16 12:00:03  invalid  key ops  {"joinType": "left"}',
        "    Not\\tJSON.",
    ]
    assert list(message_lines([])) == []
