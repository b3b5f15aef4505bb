"""Whoever asks, asks the pipeline that runs, whatever the own configuration knows of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from evergrid.changelog.control_topic import ControlTopic
from evergrid.changelog.manifest import Choices, Manifest
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.model.control_request import Request
from evergrid.model.errors import DataError
from evergrid.model.generation import Generation, State, Times
from evergrid.model.join import JoinType

PIPELINE = load(None, {})
CURRENT = Generation(
    number=1,
    state=State.CURRENT,
    sources=PIPELINE.sources,
    joins=PIPELINE.joins,
    topics={},
    tables={},
    times=Times(),
)
MANIFEST = Manifest(
    generations={1: CURRENT},
    current=1,
    choices=Choices(topic="changes", topics=("users", "users_of_may")),
)
MESSAGE = b'{"usersTopic": "users_of_may", "joinType": "asof"}'


@pytest.fixture
def elsewhere(tmp_path: Path) -> Settings:
    """The configuration of a machine that knows nothing of the pipeline."""
    file = tmp_path / "evergrid.yaml"
    file.write_text(
        "sources:\n"
        "  a: {topic: a, key: k, fields: {k: text}}\n"
        "  b: {topic: b, key: k, fields: {k: text}}\n"
        "joins: {ab: {left: a, right: b}}\n"
    )
    return load(file, {})


def test_the_words_and_topics_are_those_of_the_pipeline(elsewhere: Settings) -> None:
    topic = ControlTopic(elsewhere)
    assert topic.name(MANIFEST) == "changes"
    asked = topic.read(MESSAGE, MANIFEST)
    assert asked == Request({"users": "users_of_may"}, {"final": JoinType.ASOF})
    with pytest.raises(DataError, match="there is no 'aTopic' to set"):
        topic.read(b'{"aTopic": "a"}', MANIFEST)
    with pytest.raises(DataError, match="topic salaries is not allowed"):
        topic.read(b'{"usersTopic": "salaries"}', MANIFEST)


def test_what_the_pipeline_lists_may_be_asked_for_beside_what_patterns_allow() -> None:
    listed = msgspec.structs.replace(MANIFEST, choices=Choices("changes", ("people",)))
    topic = ControlTopic(PIPELINE)
    assert topic.read(b'{"usersTopic": "people"}', listed) == Request({"users": "people"})
    assert topic.read(b'{"usersTopic": "users.9"}', listed) == Request({"users": "users.9"})
    with pytest.raises(DataError, match="not allowed; control"):
        ControlTopic(PIPELINE).read(b'{"usersTopic": "salaries"}', MANIFEST)


def test_before_any_pipeline_the_configuration_counts(elsewhere: Settings) -> None:
    topic = ControlTopic(elsewhere)
    for manifest in (Manifest(), msgspec.structs.replace(MANIFEST, current=None)):
        assert topic.read(b'{"aTopic": "a.2"}', manifest) == Request({"a": "a.2"})
    assert topic.name(Manifest()) == "evergrid-control"
