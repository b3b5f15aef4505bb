"""Who asks about the pipeline learns how it is, and of nothing that the key may not read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evergrid.changelog.manifest import Choices, Manifest, TablesBehind
from evergrid.config import load
from evergrid.gateway.http.pipeline_status import HIDDEN_DELAY, HIDDEN_ERROR
from evergrid.model.generation import Generation, Progress, State, TableTopic, Times
from tests.gateway.caller import calling
from tests.support.local_gateway import LocalGateway

SETTINGS = load(None, {})
TABLES = (*SETTINGS.raw_tables(), *SETTINGS.joined_tables())
BEAT = 1_767_225_600_000_000


def generation(number: int, state: State, error: str = "") -> Generation:
    return Generation(
        number=number,
        state=state,
        sources=SETTINGS.sources,
        joins=SETTINGS.joins,
        topics={},
        tables={table.name: TableTopic(table, f"g{number}.{table.name}", 1) for table in TABLES},
        times=Times(created=number, ready=number + 5, current=number + 9),
        error=error,
    )


PREPARING = msgspec.structs.replace(
    generation(3, State.PREPARING), times=Times(created=3), progress=Progress("history", 7, 10)
)
MANIFEST = Manifest(
    generations={
        1: generation(1, State.FAILED, "accounts_v2 does not exist."),
        2: generation(2, State.CURRENT),
        3: PREPARING,
    },
    current=2,
    heartbeat=BEAT,
)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGateway]:
    running = LocalGateway(tmp_path_factory.mktemp("pipeline"))
    running.engine.manifest = MANIFEST
    running.new_key("users", ["users_*"])
    running.new_key("final", ["final_ui"])
    running.new_key("nothing", ["other"])
    with running:
        yield running


def ask(gateway: LocalGateway, key: str = "all") -> dict[str, Any]:
    with calling(gateway) as caller:
        secret = gateway.secrets[key]
        answer = caller.ask("/api/pipeline", {"Authorization": f"Bearer {secret}"})
    assert answer.status == 200, answer.body
    pipeline: dict[str, Any] = json.loads(answer.body)["pipeline"]
    return pipeline


def test_a_key_for_everything_sees_everything(gateway: LocalGateway) -> None:
    shown = ask(gateway)
    assert (shown["state"], shown["beat"], shown["current"]) == ("live", BEAT, 2)
    assert shown["message"] == "The pipeline runs."
    assert [one["generation"] for one in shown["generations"]] == [3, 2, 1]
    preparing, current, failed = shown["generations"]
    assert current == {
        "generation": 2,
        "state": "current",
        "created": 2,
        "changed": 11,
        "kept_until": 0,
        "progress": None,
        "error": "",
        "sources": [
            {"name": "users", "topic": "users", "table": "users_ui"},
            {"name": "accounts", "topic": "accounts", "table": "accounts_ui"},
        ],
        "joins": [
            {
                "name": "final",
                "type": "left",
                "table": "final_ui",
                "left": "users",
                "right": "accounts",
            }
        ],
        "tables": ["users_ui", "accounts_ui", "final_ui"],
    }
    assert preparing["progress"] == {"step": "history", "done": 7, "total": 10}
    assert (preparing["created"], preparing["changed"]) == (3, 3)
    assert (failed["state"], failed["error"]) == ("failed", "accounts_v2 does not exist.")


def test_a_key_for_one_source_does_not_learn_of_the_other(gateway: LocalGateway) -> None:
    shown = ask(gateway, "users")
    assert "accounts" not in json.dumps(shown)
    assert "final" not in json.dumps(shown)
    preparing, current, failed = shown["generations"]
    assert current["tables"] == ["users_ui"]
    assert [source["topic"] for source in current["sources"]] == ["users"]
    assert current["joins"] == []
    assert preparing["progress"] is None
    assert failed["error"] == HIDDEN_ERROR
    assert current["error"] == ""


def test_a_key_for_the_join_does_not_learn_what_is_joined(gateway: LocalGateway) -> None:
    current = ask(gateway, "final")["generations"][1]
    assert current["joins"] == [
        {"name": "final", "type": "left", "table": "final_ui", "left": "", "right": ""}
    ]
    assert (current["sources"], current["tables"]) == ([], ["final_ui"])


def test_a_key_for_nothing_of_it_sees_that_it_runs(gateway: LocalGateway) -> None:
    shown = ask(gateway, "nothing")
    assert (shown["state"], shown["current"]) == ("live", 2)
    for word in ("users", "accounts", "final"):
        assert word not in json.dumps(shown)


def test_who_may_not_read_the_table_that_is_behind_is_not_told_of_it(tmp_path: Path) -> None:
    running = LocalGateway(tmp_path)
    running.new_key("users", ["users_*"])
    running.new_key("final", ["final_ui"])
    behind = TablesBehind(5, "final_ui has messages still to read.", ("final_ui",))
    running.engine.manifest = msgspec.structs.replace(MANIFEST, behind=behind)
    with running:
        assert (ask(running)["state"], ask(running)["message"]) == ("behind", behind.why)
        assert ask(running, "final")["message"] == behind.why
        shown = ask(running, "users")
        assert (shown["state"], shown["message"]) == ("live", "The pipeline runs.")
        both = msgspec.structs.replace(behind, tables=("final_ui", "users_ui"))
        running.engine.manifest = msgspec.structs.replace(MANIFEST, behind=both)
        shown = ask(running, "users")
        assert (shown["state"], shown["message"]) == ("behind", HIDDEN_DELAY)


def test_no_key_no_answer(gateway: LocalGateway) -> None:
    with calling(gateway) as caller:
        answer = caller.ask("/api/pipeline", {"Authorization": ""})
    assert (answer.status, answer.code) == (401, "not_logged_in")


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    with LocalGateway(tmp_path) as gateway:
        shown = ask(gateway)
        assert shown["state"] == "unknown"
        assert (shown["beat"], shown["current"], shown["generations"]) == (0, 0, [])
        assert shown["message"].endswith(".")
        gateway.engine.manifest, gateway.engine.down = MANIFEST, "Kafka does not answer."
        shown = ask(gateway)
        assert (shown["state"], shown["current"]) == ("unknown", 2)
        assert shown["message"] == "Kafka does not answer. Going on when it is back."


@pytest.mark.parametrize(("grace", "until"), [(900, BEAT + 900_000_000), (None, 0)])
def test_a_replaced_generation_says_until_when_it_is_kept(
    tmp_path: Path, grace: int | None, until: int
) -> None:
    replaced = msgspec.structs.replace(
        generation(1, State.RETIRING), times=Times(created=1, current=2, ended=BEAT)
    )
    running = LocalGateway(tmp_path)
    running.engine.manifest = msgspec.structs.replace(
        MANIFEST,
        generations={1: replaced, 2: generation(2, State.CURRENT)},
        choices=Choices(grace_seconds=grace),
    )
    with running:
        current, before = ask(running)["generations"]
    assert (before["state"], before["kept_until"]) == ("retiring", until)
    assert current["kept_until"] == 0
