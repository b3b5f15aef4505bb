"""The oracle reads the same configuration as the product, defaults included."""

from __future__ import annotations

from importlib.resources import files

import pytest
import yaml

from evergrid.testing.oracle import JoinType, LimitsSpec, SourceSpec, from_config
from evergrid.testing.oracle.spec import shown_columns

TWO = {
    "users": {"key": "id", "fields": {"id": "text", "name": "text", "age": "integer"}},
    "accounts": {"key": "owner", "fields": {"owner": "text", "name": "text"}},
}


def columns(**join: object) -> dict[str, tuple[str, str]]:
    config = {"sources": TWO, "joins": {"j": {"left": "users", "right": "accounts", **join}}}
    spec = from_config(config)
    return shown_columns(spec.joins["j"], spec.sources)


def test_the_default_configuration() -> None:
    text = files("evergrid.config").joinpath("default.yaml").read_text(encoding="utf-8")
    spec = from_config(yaml.safe_load(text))
    assert spec.sources["users"] == SourceSpec(
        name="users",
        topic="users",
        table="users_ui",
        fields={"userId": "text", "name": "text", "email": "text", "age": "integer"},
        key="userId",
    )
    assert spec.sources["accounts"].fields["balance"] == "decimal(18,2)"
    join = spec.joins["final"]
    assert (join.table, join.type, join.left_key, join.right_key) == (
        "final_ui",
        JoinType.LEFT,
        "userId",
        "userId",
    )
    assert spec.limits == LimitsSpec(262144, 64, 4096)


def test_what_is_not_written_has_a_default() -> None:
    spec = from_config({"sources": TWO, "joins": {"j": {"left": "users", "right": "accounts"}}})
    source, join = spec.sources["users"], spec.joins["j"]
    assert (source.topic, source.table, source.time) == ("users", "users", None)
    assert (join.table, join.type, join.left_key, join.right_key, join.columns) == (
        "j",
        JoinType.LEFT,
        "id",
        "owner",
        None,
    )
    assert spec.limits == LimitsSpec()


def test_types_are_spelled_one_way() -> None:
    fields = {
        "a": "decimal( 18 , 2 )",
        "b": "timestamp",
        "c": "timestamp( ns )",
        "d": {"type": "integer", "from": "the-d"},
        "e": {"type": "text"},
    }
    source = from_config({"sources": {"s": {"key": "e", "time": "b", "fields": fields}}}).sources[
        "s"
    ]
    assert list(source.fields.values()) == [
        "decimal(18,2)",
        "timestamp(ms)",
        "timestamp(ns)",
        "integer",
        "text",
    ]
    assert [source.json_name(column) for column in fields] == ["a", "b", "c", "the-d", "e"]
    assert source.time == "b"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("left", ["id", "name", "age", "owner", "accounts_name"]),
        ("inner", ["id", "name", "age", "owner", "accounts_name"]),
        ("asof", ["owner", "name", "id", "users_name", "age"]),
    ],
)
def test_without_columns_the_driving_side_comes_first_and_keeps_its_names(
    kind: str, expected: list[str]
) -> None:
    assert list(columns(type=kind)) == expected


def test_columns_can_be_renamed() -> None:
    chosen = columns(columns={"who": "users.name", "what": "accounts.name"})
    assert chosen == {"who": ("users", "name"), "what": ("accounts", "name")}


def test_listed_columns_keep_their_names_unless_they_clash() -> None:
    assert columns(columns=["users.age", "accounts.name"]) == {
        "age": ("users", "age"),
        "name": ("accounts", "name"),
    }
    assert list(columns(columns=["accounts.name", "users.name"])) == ["accounts_name", "name"]
