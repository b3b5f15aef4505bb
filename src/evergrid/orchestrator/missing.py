"""Source topics that do not exist when a pipeline starts."""

from __future__ import annotations

import time
from collections.abc import Callable

from evergrid.config.settings import MissingTopics, Settings
from evergrid.model.errors import ConfigError
from evergrid.orchestrator.docket import Docket
from evergrid.orchestrator.preparation import TopicsMissing, find_topics

_LOOK_SECONDS = 1.0


def await_topics(
    settings: Settings, docket: Docket, answer: Callable[[], None], say: Callable[[str], None]
) -> None:
    """Wait for missing source topics, or end with a sentence, as the settings say.

    Control messages are answered meanwhile. Of topics that one has named, its verdict will tell.
    """
    said = ""
    while not docket.cause:
        try:
            find_topics(docket.wanted)
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
