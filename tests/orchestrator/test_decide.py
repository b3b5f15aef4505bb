"""What a start does with what it finds."""

from __future__ import annotations

import msgspec
import pytest

from evergrid.changelog.manifest import Manifest
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.kafka.topics import TopicInfo
from evergrid.model.generation import Generation, SourceTopic, State, Times
from evergrid.orchestrator.decide import Begin, Resume, decide, grown_topics, missing_topics

FOUND = {"users": TopicInfo("users", "id-1", 2), "accounts": TopicInfo("accounts", "id-2", 2)}


@pytest.fixture
def settings() -> Settings:
    return load(None, {})


def generation(settings: Settings, state: State = State.CURRENT, number: int = 3) -> Generation:
    return Generation(
        number=number,
        state=state,
        sources=settings.sources,
        joins=settings.joins,
        topics={
            name: SourceTopic(FOUND[source.topic].topic_id, {0: 0, 1: 0}, {0: 0, 1: 0})
            for name, source in settings.sources.items()
        },
        tables={},
        times=Times(created=1),
    )


def manifest(current: Generation) -> Manifest:
    return Manifest({current.number: current}, current.number)


def test_an_empty_manifest_begins_the_first(settings: Settings) -> None:
    assert decide(settings, Manifest(), FOUND, checkpoints=False) == Begin(1, "")


def test_the_current_generation_goes_on(settings: Settings) -> None:
    found = generation(settings)
    assert decide(settings, manifest(found), FOUND, checkpoints=True) == Resume(found)


@pytest.mark.parametrize("state", [State.PREPARING, State.READY, State.FAILED])
def test_one_that_did_not_is_made_anew(settings: Settings, state: State) -> None:
    decision = decide(settings, manifest(generation(settings, state)), FOUND, checkpoints=True)
    assert decision == Begin(4, f"generation 3 ended as {state.value}")


def test_a_missing_checkpoint_is_never_gone_past(settings: Settings) -> None:
    decision = decide(settings, manifest(generation(settings)), FOUND, checkpoints=False)
    assert decision == Begin(4, "the checkpoint of generation 3 is missing")


def test_other_settings_mean_another_generation(settings: Settings) -> None:
    other = load(None, {"EVERGRID_JOINS__FINAL__TYPE": "inner"})
    decision = decide(other, manifest(generation(settings)), FOUND, checkpoints=True)
    assert decision == Begin(4, "the configuration has other sources or joins")


def test_a_topic_of_the_same_name_is_another_topic(settings: Settings) -> None:
    anew = FOUND | {"users": TopicInfo("users", "id-9", 2)}
    decision = decide(settings, manifest(generation(settings)), anew, checkpoints=True)
    assert decision == Begin(4, "topic users was deleted and made anew")


def test_numbers_are_never_used_twice(settings: Settings) -> None:
    failed = generation(settings, State.FAILED, number=7)
    known = Manifest({3: generation(settings), 7: failed}, current=None)
    assert decide(settings, known, FOUND, checkpoints=False) == Begin(8, "")


def test_missing_and_grown_topics_are_named(settings: Settings) -> None:
    only_users = {"users": FOUND["users"]}
    assert missing_topics(settings.sources, only_users) == ["accounts"]
    wider = FOUND | {"users": msgspec.structs.replace(FOUND["users"], partitions=3)}
    known = {"users": 2, "accounts": 2}
    assert grown_topics(generation(settings), wider, known) == ["users"]
    assert grown_topics(generation(settings), FOUND, known) == []
