"""Messages are folded in their order, and each one gets a verdict."""

from __future__ import annotations

import json
import random

import pytest

from evergrid.changelog.manifest import RequestedChanges
from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.model.control_request import Verdict
from evergrid.model.join import JoinType
from evergrid.orchestrator.control_reader import ControlMessage
from evergrid.orchestrator.control_requests import ControlRequests

SEED = 20_261_117
SEQUENCES = 400


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load(None, {})


class Bench:
    """A requests, with messages numbered as the topic would."""

    def __init__(self, settings: Settings, before: RequestedChanges | None = None) -> None:
        self.requests = ControlRequests(settings, before or RequestedChanges())
        self._offset = max((before or RequestedChanges()).next.values(), default=0)
        self.verdicts: dict[str, tuple[str, str]] = {}

    def send(self, *texts: str) -> None:
        messages = []
        for text in texts:
            messages.append(ControlMessage(0, self._offset, self._offset, text.encode(), ""))
            self._offset += 1
        self.requests.take(messages, "id")
        self.look()

    def settle(self, verdict: Verdict, reason: str = "") -> None:
        self.requests.settle(verdict, reason, 7)
        self.look()

    def look(self) -> None:
        for row_id, row in self.requests.rows.items():
            self.verdicts[row_id] = (str(row["verdict"]), str(row["reason"] or ""))
        self.requests.rows.clear()

    @property
    def wanted(self) -> tuple[str, str, str]:
        wanted = self.requests.wanted
        topics = [wanted.sources[name].topic for name in ("users", "accounts")]
        return topics[0], topics[1], wanted.joins["final"].type.value


def test_without_messages_the_configuration_is_wanted(settings: Settings) -> None:
    bench = Bench(settings)
    assert bench.wanted == ("users", "accounts", "left")
    assert bench.requests.wanted == settings
    assert bench.requests.cause == ""


def test_absent_fields_stay_as_they_are_and_only_the_result_counts(settings: Settings) -> None:
    bench = Bench(settings)
    bench.send('{"usersTopic": "users_v2"}', '{"joinType": "asof"}', '{"accountsTopic": null}')
    assert bench.wanted == ("users_v2", "accounts", "asof")
    assert bench.requests.cause == "0:1"
    assert bench.verdicts["0:0"] == ("superseded", "Message 0:1 came before this one was live.")
    assert bench.verdicts["0:1"][0] == "waiting"
    assert bench.verdicts["0:2"][0] == "invalid"
    bench.settle(Verdict.APPLIED)
    assert bench.verdicts["0:1"][0] == "applied"
    assert bench.requests.asked == RequestedChanges(
        "id", {0: 3}, {"users": "users_v2"}, {"final": JoinType.ASOF}
    )


def test_what_failed_is_not_asked_for_any_more(settings: Settings) -> None:
    bench = Bench(settings)
    bench.send('{"joinType": "inner"}')
    bench.settle(Verdict.APPLIED)
    bench.send('{"usersTopic": "users_x"}')
    bench.settle(Verdict.FAILED, "topic users_x does not exist")
    assert bench.verdicts["0:1"] == ("failed", "topic users_x does not exist")
    assert bench.wanted == ("users", "accounts", "inner")
    bench.send('{"joinType": "asof"}')
    assert bench.wanted == ("users", "accounts", "asof")
    bench.settle(Verdict.FAILED)
    bench.send('{"usersTopic": "users_x"}')  # tried again
    assert bench.wanted == ("users_x", "accounts", "inner")


@pytest.mark.parametrize("end", [Verdict.APPLIED, Verdict.FAILED])
def test_the_same_again_while_it_is_prepared_shares_its_fate(
    settings: Settings, end: Verdict
) -> None:
    bench = Bench(settings)
    bench.send('{"joinType": "inner"}')
    bench.requests.preparing(4)
    bench.send('{"joinType": "inner"}', '{"joinType": "inner", "usersTopic": "users"}')
    assert bench.requests.cause == "0:0"
    assert [bench.verdicts[f"0:{n}"][0] for n in range(3)] == ["preparing"] * 3
    bench.settle(end, "a reason")
    assert {bench.verdicts[f"0:{n}"] for n in range(3)} == {(end.value, "a reason")}
    assert bench.requests.asked.next == {0: 3}


def test_all_that_ask_for_the_same_are_superseded_together(settings: Settings) -> None:
    bench = Bench(settings)
    bench.send('{"joinType": "inner"}', '{"joinType": "inner"}', '{"joinType": "asof"}')
    verdicts = [bench.verdicts[f"0:{n}"][0] for n in range(3)]
    assert verdicts == ["superseded", "superseded", "waiting"]
    assert bench.requests.cause == "0:2"
    bench.requests.take([ControlMessage(0, 3, 3, b'{"joinType": "left"}', "ann@desk")], "id")
    bench.look()
    who = "Message 0:3, sent by ann@desk, came before this one was live."
    assert bench.verdicts["0:2"] == ("superseded", who)


def test_a_kill_makes_open_messages_be_read_again_and_no_others(settings: Settings) -> None:
    bench = Bench(settings)
    bench.send('{"joinType": "inner"}')
    bench.settle(Verdict.APPLIED)
    bench.send('{"usersTopic": "users_v2"}', "garbage")
    assert bench.requests.asked.next == {0: 1}
    again = Bench(settings, bench.requests.asked)
    assert again.wanted == ("users", "accounts", "inner")
    again.send('{"usersTopic": "users_v2"}', "garbage")
    assert again.wanted == bench.wanted


def test_it_knows_which_messages_are_settled(settings: Settings) -> None:
    requests = ControlRequests(settings, RequestedChanges("t", {0: 5}))
    assert requests.has_settled("0:4")
    assert not requests.has_settled("0:5")
    assert not requests.has_settled("1:0")


def test_what_is_read_twice_is_judged_once(settings: Settings) -> None:
    requests = ControlRequests(settings, RequestedChanges())
    message = ControlMessage(0, 0, 0, b'{"joinType": "inner"}', "")
    requests.take([message], "id")
    requests.preparing(2)
    requests.take([message, ControlMessage(0, 1, 0, b"garbage", "")], "id")
    verdicts = {row_id: row["verdict"] for row_id, row in requests.rows.items()}
    assert verdicts == {"0:0": "preparing", "0:1": "invalid"}


def test_another_topic_of_the_same_name_begins_anew(settings: Settings) -> None:
    requests = ControlRequests(settings, RequestedChanges("old", {0: 9}, {"users": "users_v2"}))
    requests.take([ControlMessage(0, 0, 0, b"garbage", "")], "new")
    assert requests.asked == RequestedChanges("new", {0: 1}, {"users": "users_v2"})


def test_two_sources_never_read_one_topic(settings: Settings) -> None:
    bench = Bench(settings)
    bench.send('{"usersTopic": "accounts"}')
    assert bench.verdicts["0:0"] == (
        "invalid",
        "Sources users and accounts would both read topic accounts.",
    )
    assert bench.requests.wanted == settings


def test_what_was_asked_of_an_earlier_configuration_does_not_break_this_one() -> None:
    settings = load(None, {"EVERGRID_SOURCES__ACCOUNTS__TOPIC": "users_v2"})
    requests = ControlRequests(
        settings, RequestedChanges("id", {0: 4}, {"users": "users_v2", "gone": "x"})
    )
    assert requests.wanted == settings


def test_random_sequences_end_as_a_plain_fold_says(settings: Settings) -> None:
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    for _ in range(SEQUENCES):
        bench, settled, asking = Bench(settings), _START, None
        for _ in range(rng.randint(1, 12)):
            if asking is not None and rng.random() < 0.4:
                applied = rng.random() < 0.6
                bench.settle(Verdict.APPLIED if applied else Verdict.FAILED)
                settled, asking = (asking if applied else settled), None
            else:
                change = dict(rng.sample(_CHANGES, rng.randint(1, 2)))
                bench.send(json.dumps(change))
                asking = {**(asking or settled), **change}
            wanted = asking or settled
            assert bench.wanted == tuple(wanted.values())


_START = {"usersTopic": "users", "accountsTopic": "accounts", "joinType": "left"}
_CHANGES = [
    *(("usersTopic", f"users_{n}") for n in range(3)),
    *(("accountsTopic", f"accounts_{n}") for n in range(2)),
    *(("joinType", kind.value) for kind in JoinType),
]
