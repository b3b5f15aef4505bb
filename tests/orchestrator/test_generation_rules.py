"""What is done with what was found, by values alone."""

from __future__ import annotations

import msgspec
import pytest

from evergrid.changelog.manifest import Manifest
from evergrid.config import load
from evergrid.config.settings import Control, Settings
from evergrid.kafka.topics import TopicInfo
from evergrid.model.generation import ENGINE, Generation, SourceTopic, State, TableTopic, Times
from evergrid.orchestrator import generation_rules, generations
from evergrid.orchestrator import pipeline_session as spark_session
from evergrid.pipeline.plan import QueryId

FOUND = {"users": TopicInfo("users", "id-1", 2), "accounts": TopicInfo("accounts", "id-2", 2)}
SECOND = 1_000_000
OTHERS = {
    "EVERGRID_JOINS__FINAL__TYPE": "inner",
    "EVERGRID_SOURCES__USERS__TOPIC": "people",
    "EVERGRID_RETENTION__DEFAULT__ROWS": "5",
    "EVERGRID_RETENTION__DEFAULT__AGE": "3d",
}


@pytest.fixture
def settings() -> Settings:
    return load(None, {})


def generation(
    settings: Settings,
    state: State = State.CURRENT,
    number: int = 3,
    *,
    ready: int = 0,
    ended: int = 0,
    engine: int = ENGINE,
    raw: int | None = None,
) -> Generation:
    """One with topics and tables of its own; `raw` is the generation that made its raw tables."""
    raws = {table.name for table in settings.raw_tables()}
    maker = raw or number
    return Generation(
        number=number,
        state=state,
        sources=settings.sources,
        joins=settings.joins,
        topics={
            name: SourceTopic(ids(source.topic), {0: 0, 1: 0}, raw=maker, made=maker)
            for name, source in settings.sources.items()
        },
        tables={
            table.name: TableTopic(
                table, f"g{maker if table.name in raws else number}.{table.name}", 1
            )
            for table in settings.generation_tables()
        },
        times=Times(created=1, ready=ready, ended=ended),
        engine=engine,
    )


def ids(topic: str) -> str:
    return FOUND[topic].topic_id if topic in FOUND else f"id of {topic}"


def manifest(*generations: Generation, current: int | None = None) -> Manifest:
    return Manifest({one.number: one for one in generations}, current)


def numbers(found: list[Generation]) -> list[int]:
    return [one.number for one in found]


@pytest.mark.parametrize("state", [State.READY, State.CURRENT, State.RETIRING])
def test_a_whole_generation_can_go_on(settings: Settings, state: State) -> None:
    assert generation_rules.why_not(generation(settings, state), FOUND, checkpoints=True) == ""


@pytest.mark.parametrize("state", [State.PREPARING, State.FAILED, State.GONE])
def test_one_that_is_not_whole_cannot(settings: Settings, state: State) -> None:
    reason = generation_rules.why_not(generation(settings, state), FOUND, checkpoints=True)
    assert reason == f"generation 3 ended as {state.value}"


def test_a_missing_checkpoint_is_never_gone_past(settings: Settings) -> None:
    reason = generation_rules.why_not(generation(settings), FOUND, checkpoints=False)
    assert reason == "the checkpoint of generation 3 is missing"


@pytest.mark.parametrize("state", [State.READY, State.CURRENT, State.RETIRING])
@pytest.mark.parametrize("checkpoints", [True, False])
def test_one_of_an_earlier_engine_cannot_go_on(
    settings: Settings, state: State, checkpoints: bool
) -> None:
    reason = generation_rules.why_not(generation(settings, state, engine=1), FOUND, checkpoints)
    assert reason == (
        "generation 3 was made by an earlier version of Evergrid, whose checkpoints this one "
        "cannot go on from"
    )


def test_a_manifest_of_the_first_engine_is_read_as_that(settings: Settings) -> None:
    written = msgspec.json.decode(msgspec.json.encode(generation(settings)))
    del written["engine"]
    written["topics"] = {
        name: {"topic_id": "id-1", "start": {"0": 0}, "live": {"0": 5}}
        for name in written["topics"]
    }
    for join in written["joins"].values():
        join["history"] = {"left": 64, "right": 1}
        del join["pairs"]
    found = msgspec.json.decode(msgspec.json.encode(written), type=Generation)
    assert "earlier version" in generation_rules.why_not(found, FOUND, checkpoints=True)


def test_a_topic_of_the_same_name_is_another_topic(settings: Settings) -> None:
    anew = FOUND | {"users": TopicInfo("users", "id-9", 2)}
    reason = generation_rules.why_not(generation(settings), anew, checkpoints=True)
    assert reason == "topic users was deleted and made anew"


def test_other_settings_mean_another_generation(settings: Settings) -> None:
    assert generation_rules.is_of(generation(settings), settings)
    for name, value in OTHERS.items():
        assert not generation_rules.is_of(generation(settings), load(None, {name: value})), name


def test_what_the_manifest_gives_back_is_still_what_the_settings_ask_for(
    settings: Settings,
) -> None:
    written = msgspec.json.encode(generation(settings))
    assert generation_rules.is_of(msgspec.json.decode(written, type=Generation), settings)


def test_going_back_takes_the_newest_that_is_just_that(settings: Settings) -> None:
    other = load(None, {"EVERGRID_JOINS__FINAL__TYPE": "inner"})
    known = manifest(
        generation(settings, State.RETIRING, 1),
        generation(settings, State.RETIRING, 2),
        generation(other, State.RETIRING, 3),
        generation(settings, State.FAILED, 4),
        generation(other, State.CURRENT, 5),
        current=5,
    )
    assert numbers(generation_rules.kept_for(known, settings)) == [2, 1]


def test_after_a_kill_halves_are_told_from_whole_ones(settings: Settings) -> None:
    known = manifest(
        generation(settings, State.RETIRING, 1),
        generation(settings, State.CURRENT, 2),
        generation(settings, State.CURRENT, 3),
        generation(settings, State.READY, 4),
        generation(settings, State.PREPARING, 5),
        generation(settings, State.GONE, 6),
        generation(settings, State.FAILED, 7),
        generations.begin_again(generation(settings, State.RETIRING, 8, ready=SECOND), "0:1"),
        current=3,
    )
    half, whole = generation_rules.interrupted(known)
    assert (numbers(half), numbers(whole)) == ([5, 6], [2, 4, 8])


def control(grace: int | None = 100, generations: int = 3) -> Control:
    return Control("c", (), grace, 1, generations)


def test_what_was_replaced_goes_when_its_time_is_over(settings: Settings) -> None:
    known = manifest(
        generation(settings, State.RETIRING, 1, ended=50 * SECOND),
        generation(settings, State.CURRENT, 2),
        current=2,
    )
    assert generation_rules.overdue(known, control(), 149 * SECOND) == []
    assert numbers(generation_rules.overdue(known, control(), 150 * SECOND)) == [1]
    assert generation_rules.overdue(known, control(grace=None), 10**18) == []


def test_of_too_many_the_one_that_was_replaced_first_goes_first(settings: Settings) -> None:
    known = manifest(
        generation(settings, State.RETIRING, 1, ended=90 * SECOND),  # it was gone back to
        generation(settings, State.RETIRING, 2, ended=50 * SECOND),
        generation(settings, State.FAILED, 3, ended=60 * SECOND),
        generation(settings, State.CURRENT, 4),
        current=4,
    )
    assert generation_rules.overdue(known, control(), 100 * SECOND) == []
    assert numbers(generation_rules.overdue(known, control(), 100 * SECOND, coming=True)) == [2]
    assert numbers(generation_rules.overdue(known, control(generations=2), 100 * SECOND)) == [2]


def test_an_error_is_kept_until_something_else_became_current(settings: Settings) -> None:
    current = msgspec.structs.replace(
        generation(settings, State.CURRENT, 2), times=Times(created=1, current=50)
    )
    before = generation(settings, State.FAILED, 1, ended=49)
    after = [generation(settings, State.FAILED, n, ended=50 + n) for n in range(3, 10)]
    assert numbers(generation_rules.made_good(manifest(before, current, *after, current=2))) == [
        1,
        3,
        4,
    ]
    lost = generation(settings, State.FAILED, 2, ended=99)
    assert generation_rules.made_good(manifest(lost, current=2)) == []


def test_missing_and_grown_topics_are_named(settings: Settings) -> None:
    only_users = {"users": FOUND["users"]}
    assert generation_rules.missing_topics(settings.sources, only_users) == ["accounts"]
    wider = FOUND | {"users": msgspec.structs.replace(FOUND["users"], partitions=3)}
    known = {"users": 2, "accounts": 2}
    assert generation_rules.grown_topics(generation(settings), wider, known) == ["users"]
    assert generation_rules.grown_topics(generation(settings), FOUND, known) == []
    assert generation_rules.grown_topics(generation(settings), wider, {"accounts": 2}) == []


def test_there_are_slots_for_two_of_the_largest_that_may_be_asked_for(settings: Settings) -> None:
    small = {"users": 2, "accounts": 2}
    one = spark_session.slots_of(settings, small, 2)
    assert one == 2 + 2 + (2 + 2 + 2 + 1)  # the last one reads ticks
    assert spark_session.slots_to_open(settings, small) == 2 * one + 8
    foreseen = spark_session.slots_to_open(settings, small | {"users_v2": 6, "elsewhere": 99})
    assert foreseen == 2 * (6 + 6 + (6 + 6 + 2 + 1)) + 8
    assert spark_session.slots_to_open(settings, small | {"users_v2": 5000}) == 2 * 200 + 8


def test_what_goes_on_has_its_slots_whatever_is_wanted_instead(settings: Settings) -> None:
    partitions = {"users": 50, "accounts": 50, "u": 1, "a": 1}
    places = {"EVERGRID_SOURCES__USERS__TOPIC": "u", "EVERGRID_SOURCES__ACCOUNTS__TOPIC": "a"}
    small = load(None, places)
    running = generation(settings)
    one = spark_session.slots_of(small, partitions, 2)
    beside = spark_session.slots_of(running, partitions, 2)
    assert (one, beside) == (1 + 1 + (1 + 1 + 2 + 1), 50 + 50 + (50 + 50 + 2 + 1))
    slots = spark_session.slots_to_open(small, partitions, running)
    assert slots == one + beside + 8
    assert spark_session.too_large(one, beside, slots) == ""


def test_changelogs_that_no_generation_has_are_orphans(settings: Settings) -> None:
    table = settings.quarantine()  # any
    placed = TableTopic(table, "evergrid.g3.users_ui", 2)
    kept = msgspec.structs.replace(generation(settings), tables={"users_ui": placed})
    failed = generation(settings, State.FAILED, 4)  # it could not even begin
    known = msgspec.structs.replace(manifest(kept, failed, current=3), highest=6)
    names = [
        *(f"evergrid.g{n}.users_ui" for n in (1, 3, 4, 5, 6, 7)),
        *("evergrid.manifest", "evergrid.quarantine", "evergrid.gone.x", "evergrid.g1"),
        *("other.g1.users_ui", "evergridxg1.users_ui", "users"),
    ]
    found = generation_rules.orphans(names, "evergrid", known, busy=6)
    assert found == [f"evergrid.g{n}.users_ui" for n in (1, 4, 5)]
    assert generation_rules.orphans(names, "evergrid", known, None)[-1] == "evergrid.g6.users_ui"


def test_topics_that_need_more_are_refused_with_a_sentence() -> None:
    assert spark_session.too_large(10, 10, 20) == ""
    assert spark_session.too_large(11, 10, 20) == (
        "its topics and joins need 11 of Spark's slots, and 10 are free beside the 10 of the "
        "generation that runs"
    )


# Raw tables that generations share


def other_join(settings: Settings) -> Settings:
    return load(None, {"EVERGRID_JOINS__FINAL__TYPE": "inner"})


def maker(
    settings: Settings, *others: Generation, source: str = "users", topic_id: str = "id-1"
) -> int | None:
    """The generation whose raw table one with these settings would share."""
    found = generation_rules.shared_with(settings, settings.sources[source], topic_id, others)
    return found.number if found else None


def test_a_raw_table_of_the_same_source_is_shared(settings: Settings) -> None:
    one = generation(settings, ready=SECOND)
    assert maker(other_join(settings), one) == 3
    assert maker(settings) is None


@pytest.mark.parametrize(
    "environment",
    [
        {"EVERGRID_SOURCES__USERS__TOPIC": "people"},
        {"EVERGRID_SOURCES__USERS__KEY": "email"},
        {"EVERGRID_SOURCES__USERS__FIELDS__AGE": "text"},
        {"EVERGRID_SOURCES__USERS__START": "latest"},
        {"EVERGRID_SOURCES__USERS__TABLE": "people_ui"},
        {"EVERGRID_RETENTION__TABLES__USERS_UI__AGE": "1d"},
    ],
    ids=str,
)
def test_another_source_or_table_is_not_shared(
    settings: Settings, environment: dict[str, str]
) -> None:
    one = generation(settings, ready=SECOND)
    wanted = load(None, environment)
    assert wanted.sources["accounts"] == settings.sources["accounts"]
    assert maker(wanted, one) is None
    assert maker(wanted, one, source="accounts", topic_id="id-2") == 3


def test_a_topic_that_was_made_anew_is_not_shared(settings: Settings) -> None:
    assert maker(settings, generation(settings, ready=SECOND), topic_id="id-9") is None


def test_a_raw_table_of_an_earlier_engine_is_not_shared(settings: Settings) -> None:
    assert maker(settings, generation(settings, ready=SECOND, engine=1)) is None


@pytest.mark.parametrize("state", State)
def test_only_what_stays_is_shared(settings: Settings, state: State) -> None:
    was_ready = generation(settings, state, ready=SECOND)
    stays = state not in (State.FAILED, State.GONE)
    assert maker(settings, was_ready) == (3 if stays else None)
    assert maker(settings, generation(settings, state)) is None, "it was never complete"


def test_what_one_used_that_could_not_go_on_is_not_shared(settings: Settings) -> None:
    """The raw table's checkpoint may be why: whoever shared it would fail as well, for ever."""
    kept = generation(settings, State.RETIRING, 1, ready=SECOND)
    lost = generation(settings, State.FAILED, 2, ready=SECOND, raw=1)
    was_current = msgspec.structs.replace(lost, times=Times(created=1, ready=1, current=1))
    assert maker(settings, kept, was_current) is None
    assert maker(settings, kept, lost) == 1, "it failed before it was shown, for its own reasons"
    anew = generation(settings, State.CURRENT, 3, ready=SECOND)
    assert maker(settings, kept, was_current, anew) == 3


def test_the_current_one_is_shared_with_before_newer_ones(settings: Settings) -> None:
    old = generation(settings, State.RETIRING, 1, ready=SECOND)
    current = generation(settings, State.CURRENT, 2, ready=SECOND)
    ready = generation(settings, State.READY, 4, ready=SECOND)
    assert maker(settings, old, ready, current) == 2
    assert maker(settings, old, ready) == 4
    assert maker(settings, ready, old) == 4


def test_what_generations_share_is_needed_until_the_last_one_goes(settings: Settings) -> None:
    other = other_join(settings)
    first = generation(settings, State.RETIRING, 1)
    second = generation(other, State.CURRENT, 2, raw=1)
    known = manifest(first, second, current=2)
    raws = {QueryId(1, "raw-users"), QueryId(1, "raw-accounts")}
    raw_topics = {"g1.users_ui", "g1.accounts_ui"}
    assert generation_rules.needed_queries(known) == {
        *raws,
        QueryId(1, "join-final"),
        QueryId(2, "join-final"),
    }
    assert generation_rules.needed_queries(known, without=1) == {*raws, QueryId(2, "join-final")}
    assert generation_rules.needed_topics(known, without=1) == {*raw_topics, "g2.final_ui"}
    assert generation_rules.needed_queries(known, without=2) == {*raws, QueryId(1, "join-final")}
    assert generation_rules.needed_topics(manifest(second, current=2), without=2) == set()


@pytest.mark.parametrize("state", [State.FAILED, State.GONE])
def test_what_has_failed_needs_nothing_unless_screens_show_it(
    settings: Settings, state: State
) -> None:
    one = generation(settings, state, 1)
    assert generation_rules.needed_queries(manifest(one)) == set()
    assert generation_rules.needed_topics(manifest(one)) == set()
    assert generation_rules.needed_topics(manifest(one, current=1)) == {
        table.topic for table in one.tables.values()
    }
