"""A checkpoint's folder belongs to one generation, or to the raw table that several share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import msgspec
import pytest
from pyspark.sql import SparkSession

from evergrid.config import load
from evergrid.config.settings import Settings
from evergrid.model.errors import DataError, LinkError
from evergrid.model.generation import Generation, SourceTopic, State, Times
from evergrid.pipeline.checkpoint import all_checkpoints, belongs, claim, positions, remove
from evergrid.pipeline.plan import (
    Plan,
    QueryId,
    checkpoint_folder,
    discard_uncommitted_state,
    queries_of,
)

TOPICS = {
    "users": SourceTopic("id-1", {0: 0, 1: 0}, raw=1, made=5),
    "accounts": SourceTopic("id-2", {0: 7}, raw=1, made=5),
}
JOIN, USERS = QueryId(1, "join-final"), QueryId(1, "raw-users")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, {"EVERGRID_DATA_DIR": str(tmp_path)})


@pytest.fixture
def one(settings: Settings) -> Generation:
    return Generation(
        number=1,
        state=State.CURRENT,
        sources=settings.sources,
        joins=settings.joins,
        topics=TOPICS,
        tables={},
        times=Times(created=1_767_225_600_000_000),
    )


def test_each_query_has_a_folder_of_its_own(settings: Settings, one: Generation) -> None:
    queries = queries_of(one)
    assert queries == (JOIN, USERS, QueryId(1, "raw-accounts"))
    assert len({checkpoint_folder(settings, query) for query in queries}) == 3


@pytest.mark.parametrize("query", [JOIN, USERS], ids=str)
def test_it_is_of_that_generation_in_whatever_state(
    settings: Settings, one: Generation, query: QueryId
) -> None:
    assert not belongs(settings, one, query), "there is none"
    claim(settings, one, query)
    later = Times(created=one.times.created, ready=5, current=6, ended=7)
    changed = msgspec.structs.replace(one, state=State.RETIRING, times=later)
    assert belongs(settings, changed, query)


def test_one_that_is_claimed_is_empty(settings: Settings, one: Generation) -> None:
    folder = checkpoint_folder(settings, JOIN)
    (folder / "commits").mkdir(parents=True)
    claim(settings, one, JOIN)
    assert list(folder.iterdir()) == []


def test_a_join_is_not_that_of_another_with_the_same_number(
    settings: Settings, one: Generation
) -> None:
    claim(settings, one, JOIN)
    at_another_time = msgspec.structs.replace(one, times=Times(created=1))
    of_another_cluster = msgspec.structs.replace(
        one, topics=TOPICS | {"users": SourceTopic("id-9", {0: 0}, raw=1, made=5)}
    )
    assert not belongs(settings, at_another_time, JOIN)
    assert not belongs(settings, of_another_cluster, JOIN)


def test_a_raw_table_is_not_that_of_another_with_the_same_number(
    settings: Settings, one: Generation
) -> None:
    claim(settings, one, USERS)
    for other in (
        SourceTopic("id-9", {0: 0}, raw=1, made=5),
        SourceTopic("id-1", {0: 0}, raw=1, made=6),
    ):
        changed = msgspec.structs.replace(one, topics=TOPICS | {"users": other})
        assert not belongs(settings, changed, USERS)


def test_a_raw_table_belongs_to_each_generation_that_shares_it(
    settings: Settings, one: Generation
) -> None:
    claim(settings, one, USERS)
    second = msgspec.structs.replace(one, number=2, times=Times(created=9))
    assert USERS in queries_of(second)
    assert belongs(settings, second, USERS)
    assert QueryId(2, "join-final") in queries_of(second)


def test_a_folder_without_its_owner_is_nobodys(settings: Settings, one: Generation) -> None:
    claim(settings, one, JOIN)
    folder = checkpoint_folder(settings, JOIN)
    folder.with_name(f"{folder.name}.owner").write_bytes(b"\xff\xfe")
    assert not belongs(settings, one, JOIN)
    folder.with_name(f"{folder.name}.owner").unlink()
    assert not belongs(settings, one, JOIN)


def test_all_are_found_and_the_last_takes_the_folder_with_it(
    settings: Settings, one: Generation
) -> None:
    assert all_checkpoints(settings) == []
    for query in queries_of(one):
        claim(settings, one, query)
    generations = settings.data_dir / "generations"
    (generations / "g1x" / "join-final").mkdir(parents=True)  # somebody else's
    assert sorted(map(str, all_checkpoints(settings))) == sorted(map(str, queries_of(one)))
    for query in queries_of(one):
        remove(settings, query)
        remove(settings, query)  # what is gone already is no error
    assert all_checkpoints(settings) == []
    assert [folder.name for folder in generations.iterdir()] == ["g1x"]


def test_a_disk_that_does_not_take_it_is_told(settings: Settings, one: Generation) -> None:
    (settings.data_dir / "generations").write_text("a file where a directory should be")
    with pytest.raises(LinkError, match="could not be made"):
        claim(settings, one, JOIN)


class Folder:
    """A checkpoint as Spark writes it."""

    def __init__(self, settings: Settings, one: Generation, query: QueryId) -> None:
        self._folder = checkpoint_folder(settings, query)
        self._plan = Plan(cast(SparkSession, None), settings, one)
        self._query = query

    def plan_batch(self, batch: int, *offsets: object) -> None:
        self.write("offsets", batch, "v1", '{"batchWatermarkMs":0}', *map(json.dumps, offsets))

    def commit(self, batch: int) -> None:
        self.write("commits", batch, "v1", "{}")

    def write(self, kind: str, batch: int, *lines: str) -> None:
        folder = self._folder / kind
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(batch)).write_text("\n".join(lines))

    @property
    def reducers(self) -> int:
        return self._plan.reducers_of(self._query)

    def positions(self) -> dict[str, dict[int, int]]:
        found = positions(self._plan, self._query)
        return {topic: dict(offsets) for topic, offsets in found.items()}


@pytest.fixture
def folder(settings: Settings, one: Generation) -> Folder:
    return Folder(settings, one, JOIN)


STARTS = {"users": {0: 0, 1: 0}, "accounts": {0: 7}}


def test_one_without_a_commit_begins_where_the_generation_does(folder: Folder) -> None:
    assert folder.positions() == STARTS
    folder.plan_batch(0, {"users": {"0": 3, "1": 3}, "accounts": {"0": 8}}, {"ticks": {"0": 1}})
    assert folder.positions() == STARTS, "what was not committed is read again"


def test_what_was_committed_last_counts(folder: Folder) -> None:
    for batch in range(12):
        mine = {"users": {"0": 10 * batch, "1": 3}, "accounts": {"0": 8}}
        folder.plan_batch(batch, {"ticks": {"0": 900}}, mine)
        if batch < 11:
            folder.commit(batch)
    assert folder.positions() == {"users": {0: 100, 1: 3}, "accounts": {0: 8}}


def test_a_source_that_had_nothing_new_is_a_dash(folder: Folder) -> None:
    mine = {"users": {"0": 4, "1": 3}, "accounts": {"0": 8}}
    folder.write("offsets", 0, "v1", "{}", json.dumps(mine), "-")
    folder.commit(0)
    assert folder.positions() == {"users": {0: 4, 1: 3}, "accounts": {0: 8}}


def test_one_whose_commits_are_gone_is_damaged(folder: Folder) -> None:
    folder.plan_batch(1, {"users": {"0": 4}, "accounts": {"0": 8}})
    with pytest.raises(DataError, match="commits are gone"):
        folder.positions()


@pytest.mark.parametrize("line", ["", "{", '{"users": {"0": 1}}', '{"users": 1, "accounts": 1}'])
def test_one_whose_offsets_cannot_be_read_is_damaged(folder: Folder, line: str) -> None:
    folder.write("offsets", 0, "v1", "{}", line)
    folder.commit(0)
    with pytest.raises(DataError, match="offsets cannot be read"):
        folder.positions()


def test_a_join_keeps_the_reducers_that_its_state_was_begun_with(
    settings: Settings, one: Generation
) -> None:
    """Spark does so. Who took the configured number would wait for reports that never come."""
    spark = msgspec.structs.replace(settings.spark, shuffle_partitions=8)
    folder = Folder(msgspec.structs.replace(settings, spark=spark), one, JOIN)
    assert folder.reducers == 8
    folder.write("offsets", 0, "v1", '{"conf":{"spark.sql.shuffle.partitions":"2"}}', "{}")
    assert folder.reducers == 2
    for damaged in ("", "{", "{}", "[]"):
        folder.write("offsets", 1, "v1", damaged, "{}")
        assert folder.reducers == 8


@pytest.mark.parametrize("recorded", ["", "offsets/0", "commits/0"])
def test_only_the_state_of_a_first_batch_that_never_ended_is_discarded(
    tmp_path: Path, recorded: str
) -> None:
    state = tmp_path / "state" / "0" / "_metadata"
    for folder in (state, tmp_path / "offsets", tmp_path / "commits"):
        folder.mkdir(parents=True)
    (state / "schema").write_text("{}")
    if recorded:
        (tmp_path / recorded).write_text("v1")
    discard_uncommitted_state(tmp_path)
    assert (state / "schema").exists() == bool(recorded)
