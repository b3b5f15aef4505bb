"""What may change the pipeline, as it is written in the configuration."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evergrid.config import ConfigProblems, Settings, load
from evergrid.config.settings import Control, requested_settings
from evergrid.model.control_request import Request
from evergrid.model.errors import DataError
from evergrid.model.join import JoinType

Load = Callable[..., Settings]


def test_by_default_later_versions_of_the_sources_topics_may_be_asked_for() -> None:
    control = load(None, {}).control
    assert (control.topic, control.grace_seconds, control.generations) == (
        "evergrid-control",
        900,
        3,
    )
    for topic in ("users", "users_v2", "accounts.new", "accounts-2"):
        assert control.allows(topic), topic
    for topic in ("usersettings", "payroll", "my_users", "Users", ""):
        assert not control.allows(topic), topic


def test_a_list_of_patterns_replaces_the_default(load_text: Load) -> None:
    control = load_text("control: {allow: ['team-?.*', exact]}").control
    assert control.allows("team-a.users")
    assert control.allows("exact")
    assert not control.allows("users")
    assert load_text("control: {allow: []}").control.allow == ()


def test_the_environment_can_set_it_too() -> None:
    environ = {"EVERGRID_CONTROL__ALLOW": "users*, x", "EVERGRID_CONTROL__GRACE": "never"}
    assert load(None, environ).control == Control("evergrid-control", ("users*", "x"), None, 10, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("control: {topic: users}", "a source's topic"),
        ("control: {topic: evergrid.quarantine}", "one of Evergrid's own"),
        ("control: {generations: 1}", "a whole number from 2 to 20"),
        ("control: {allow: ['a b']}", "a pattern of names"),
        ("control: {grace: soon}", "or never"),
        ("control: {drain: 0s}", "a time from 1s to 1h"),
    ],
)
def test_a_mistake_is_named(load_text: Load, text: str, words: str) -> None:
    with pytest.raises(ConfigProblems, match=words):
        load_text(text)


def test_what_is_asked_for_changes_topics_and_types_alone() -> None:
    settings = load(None, {})
    changed = requested_settings(
        settings, Request({"users": "users_v2", "gone": "x"}, {"final": JoinType.ASOF})
    )
    assert changed.sources["users"].topic == "users_v2"
    assert changed.sources["accounts"] == settings.sources["accounts"]
    assert changed.joins["final"].type is JoinType.ASOF
    join = settings.joins["final"]
    assert (changed.joins["final"].history, changed.joins["final"].pairs) == (
        join.history,
        join.pairs,
    )
    assert requested_settings(settings, Request()) == settings


def test_two_sources_never_read_one_topic() -> None:
    with pytest.raises(
        DataError, match="sources users and accounts would both read topic accounts"
    ):
        requested_settings(load(None, {}), Request({"users": "accounts"}))
