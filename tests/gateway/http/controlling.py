"""A gateway that takes control messages, and a caller that sends them."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from evergrid.changelog.control_topic import ControlTopic
from evergrid.changelog.manifest import Choices
from evergrid.config.settings import Settings
from evergrid.protocol.error_codes import Code
from tests.gateway.caller import Answer, calling
from tests.gateway.http.test_pipeline_status import MANIFEST
from tests.support.local_gateway import LocalGateway

PATH = "/api/control"
JSON = "application/json"
MESSAGE = b'{"usersTopic": "users_v2", "joinType": "asof"}'
OFFERED = Choices(
    topic="evergrid-control",
    topics=("accounts", "users", "users_v2"),
    sources={"users": "usersTopic", "accounts": "accountsTopic"},
    joins={"final": "joinType"},
)
BURST = 10


def served(folder: Path, settings: Settings | None = None) -> LocalGateway:
    """With keys `ops`, which may, and `wall`, which may not; by `settings` to a real Kafka."""
    made = LocalGateway(
        folder,
        origins=("https://boards.example",),
        control=ControlTopic(settings) if settings else None,
    )
    made.engine.manifest = msgspec.structs.replace(MANIFEST, choices=OFFERED)
    made.new_key("ops", control=True)
    made.new_key("wall")
    return made


def post(gateway: LocalGateway, body: bytes | None, key: str = "ops", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    bearer = {"Authorization": f"Bearer {gateway.secrets[key]}"} if key else {"Authorization": ""}
    with calling(gateway) as caller:
        return caller.ask(PATH, {"Content-Type": JSON, **bearer, **named}, "POST", body)


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.code


def expected(code: Code) -> tuple[int, str]:
    return code.http, str(code.value)


def audited(gateway: LocalGateway) -> list[str]:
    """What the log says, without the times."""
    return [re.sub(r" at \S+Z?:", ":", line, count=1) for line in gateway.said]
