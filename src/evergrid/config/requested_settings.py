"""The settings as control messages change them: other topics, other types of joins."""

from __future__ import annotations

import msgspec

from evergrid.config.join_section import retyped
from evergrid.config.settings import Settings
from evergrid.model.control_request import Request
from evergrid.model.errors import DataError


def requested_settings(settings: Settings, request: Request) -> Settings:
    """`settings` with the requested changes; DataError when two sources would read one topic.

    Requests for sources and joins that no longer exist are ignored.
    """
    sources = {
        name: msgspec.structs.replace(source, topic=request.topics.get(name, source.topic))
        for name, source in settings.sources.items()
    }
    owners: dict[str, str] = {}
    for name, source in sources.items():
        owner = owners.setdefault(source.topic, name)
        if owner != name:
            raise DataError(f"sources {owner} and {name} would both read topic {source.topic}")
    joins = {
        name: retyped(join, request.types.get(name, join.type), sources)
        for name, join in settings.joins.items()
    }
    return msgspec.structs.replace(settings, sources=sources, joins=joins)
