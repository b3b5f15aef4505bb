"""The `control` section: which messages may change the pipeline, and what they leave behind."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from evergrid.config.declaration import DeclaredKeys, setting, setting_list
from evergrid.config.quantities import AGE, duration
from evergrid.config.section import Section
from evergrid.config.value_types import TOPIC, TOPIC_PATTERN, whole

# What follows a topic's name in the names of its later versions.
_VERSION = "[._-]*"


class Control(DeclaredKeys, frozen=True):
    """Change sources' topics and joins' types while people watch: docs/control.md."""

    topic: str = setting(
        TOPIC,
        "where control messages are read from, the first one first; made when it is missing",
        "evergrid-control",
    )
    allow: tuple[str, ...] = setting_list(
        TOPIC_PATTERN,
        "which topics control messages may name",
        unset="the sources' own topics, and those called like a later version of them: "
        "`users_v2`, `users.new`, `users-2`",
    )
    grace_seconds: int | None = setting(
        AGE,
        "how long what a replaced generation left is kept, so that going back is quick; "
        "`never`: it is kept as long as there is room",
        "15m",
        name="grace",
    )
    drain_seconds: int = setting(
        duration(1, 3600, "10s"),
        "how long a replaced generation's queries still run, for gateways that are late",
        "10s",
        name="drain",
    )
    generations: int = setting(
        whole(2, 20),
        "how many there may be at a time: the current one, one that is coming, replaced ones",
        "3",
    )

    def allows(self, topic: str) -> bool:
        return any(fnmatch.fnmatchcase(topic, pattern) for pattern in self.allow)


def read_control(section: Section, topics: Iterable[str], prefix: str) -> Control:
    """`topics` are the sources'; `prefix` is that of Evergrid's own topics."""
    sources = tuple(dict.fromkeys(topics))
    versions = tuple(name + ending for name in sources for ending in ("", _VERSION))
    allow = section.field(Control, "allow")
    control = section.read(Control, allow=versions if allow is None else allow)
    if control.topic in sources or (prefix and control.topic.startswith(f"{prefix}.")):
        is_source = control.topic in sources
        owner = "a source's topic" if is_source else f"one of Evergrid's own ({prefix}.*)"
        section.report(f"found '{control.topic}', {owner}", "Name a topic of its own.", "topic")
    return control
