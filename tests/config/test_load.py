"""What a file says over the defaults."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from evergrid.config import Settings, load
from evergrid.config.settings import Limits, MissingTopics
from evergrid.model.field_types import TEXT, ColumnKind, FieldType, TimeUnit
from evergrid.model.join import History, JoinType
from evergrid.model.source import Field, StartTime, TopicEnd
from evergrid.model.table import Retention

Load = Callable[..., Settings]

ORDERS = """\
sources:
  orders:
    topic: shop.orders
    key: id
    fields: {id: text}
"""


def test_without_a_file_the_packaged_defaults_hold() -> None:
    settings = load(None, {})
    assert settings.file is None
    assert settings.data_dir == Path.cwd() / ".evergrid"
    assert [c.bootstrap for c in settings.kafka.connections] == ["127.0.0.1:9092"] * 3
    assert [c.name for c in settings.kafka.connections] == ["source", "control", "internal"]
    users, accounts = settings.sources["users"], settings.sources["accounts"]
    assert (users.topic, users.table, users.key) == ("users", "users_ui", "userId")
    assert [str(field.type) for field in accounts.fields] == ["text", "text", "decimal(18,2)"]
    assert settings.joins["final"].type is JoinType.LEFT
    assert settings.joins["final"].history == History(None, None)
    assert settings.limits == Limits(262144, 64, 4096)
    assert settings.missing_topics is MissingTopics.FAIL
    assert settings.spark.batch_seconds == 300
    week = Retention(1_000_000, 7 * 86400)
    history = dict.fromkeys(("control_raw", "orchestrator_status"), Retention(10_000))
    assert settings.retention == dict.fromkeys(settings.retention, week) | history
    names = {t.name for t in (*settings.raw_tables(), *settings.joined_tables())}
    assert names | {table.name for table in settings.system()} <= settings.retention.keys()


def test_the_packaged_default_file_given_as_a_file_is_the_defaults(load_text: Load) -> None:
    text = resources.files("evergrid.config").joinpath("default.yaml").read_text()
    given, none = load_text(text), load(None, {})
    assert (given.sources, given.joins, given.kafka) == (none.sources, none.joins, none.kafka)
    assert (given.retention, given.spark, given.data_dir) == (
        none.retention,
        none.spark,
        none.data_dir,
    )


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "kafka:\nspark:\nretention:\n"])
def test_a_file_that_says_nothing_changes_nothing(load_text: Load, text: str) -> None:
    settings = load_text(text)
    assert (settings.sources, settings.spark) == (load(None, {}).sources, load(None, {}).spark)


def test_sections_are_merged_key_by_key(load_text: Load) -> None:
    settings = load_text(
        "limits: {nesting: 8}\nretention: {default: {rows: 5}, tables: {final_ui: {age: never}}}\n"
        "spark: {master: 'spark://host:7077', settings: {spark.ui.enabled: false}}\n"
    )
    assert settings.limits == Limits(262144, 8, 4096)
    assert settings.retention["users_ui"] == Retention(5, 7 * 86400)
    assert settings.retention["final_ui"] == Retention(5, None)
    assert settings.spark.driver_memory == "2g"
    assert settings.spark.settings == {"spark.ui.enabled": "false"}


def test_given_sources_replace_the_default_ones_and_their_joins(load_text: Load) -> None:
    settings = load_text(ORDERS)
    assert list(settings.sources) == ["orders"]
    assert settings.joins == {}
    assert set(settings.retention) == {
        "orders",
        "quarantine",
        "control_raw",
        "orchestrator_status",
    }


def test_a_source_needs_only_topic_key_and_fields(load_text: Load) -> None:
    source = load_text(ORDERS).sources["orders"]
    assert (source.table, source.time_field, source.start) == ("orders", "", TopicEnd.EARLIEST)
    assert source.fields == (Field("id", TEXT),)


def test_no_joins_can_be_asked_for(load_text: Load) -> None:
    assert load_text("joins: {}\n").joins == {}
    assert load_text("joins:\n").joins == {}


def test_a_source_can_say_everything(load_text: Load) -> None:
    source = load_text(
        "sources:\n"
        "  orders:\n"
        "    topic: 2026\n"
        "    table: no\n"
        "    key: id\n"
        "    time: at\n"
        "    start: 2026-01-31T02:00:00+02:00\n"
        "    fields:\n"
        "      id: {type: integer, from: order-id}\n"
        "      at: timestamp(us)\n"
        "      same: {type: text, from: same}\n"
    ).sources["orders"]
    assert (source.topic, source.table, source.time_field) == ("2026", "no", "at")
    assert source.start == StartTime(datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC))
    assert source.fields == (
        Field("id", FieldType(ColumnKind.INTEGER), json_name="order-id"),
        Field("at", FieldType(ColumnKind.TIMESTAMP, unit=TimeUnit.MICROSECONDS)),
        Field("same", TEXT),
    )


def test_timestamps_of_different_units_are_equal_keys(load_text: Load) -> None:
    settings = load_text(
        "sources:\n"
        "  a: {topic: a, key: at, fields: {at: timestamp(s)}}\n"
        "  b: {topic: b, key: at, fields: {at: timestamp(ms)}}\n"
        "joins: {both: {left: a, right: b}}\n"
    )
    assert (settings.joins["both"].table, settings.joins["both"].left_key) == ("both", "at")


def test_yaml_aliases_may_share_what_is_alike(load_text: Load) -> None:
    settings = load_text(
        "sources:\n"
        "  a: {topic: a, key: id, fields: &fields {id: text}}\n"
        "  b: {topic: b, key: id, fields: *fields}\n"
    )
    assert settings.sources["a"].fields == settings.sources["b"].fields


def test_each_cluster_takes_what_it_does_not_say_from_the_common_keys(load_text: Load) -> None:
    kafka = load_text(
        "kafka:\n"
        "  bootstrap: a:1, b:2\n"
        "  properties: {security.protocol: SSL}\n"
        "  control: {bootstrap: 'c:3'}\n"
        "  internal: {properties: {}, python: {debug: all}}\n"
    ).kafka
    assert [c.bootstrap for c in kafka.connections] == ["a:1, b:2", "c:3", "a:1, b:2"]
    assert [dict(c.properties) for c in kafka.connections] == [
        {"security.protocol": "SSL"},
        {"security.protocol": "SSL"},
        {},
    ]
    assert kafka.internal.python == {"debug": "all"}


def test_relative_directories_start_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "etc" / "evergrid.yaml"
    file.parent.mkdir()
    file.write_text("data_dir: ../var\n")
    assert load(file, {}).data_dir == tmp_path / "var"
    assert load(file, {"EVERGRID_DATA_DIR": "/srv/grid"}).data_dir == Path("/srv/grid")
    assert load(file, {"EVERGRID_DATA_DIR": "here"}).data_dir == file.parent / "here"


def test_relative_files_of_properties_start_from_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "${env:HOME}"
    folder.mkdir()
    file = folder / "evergrid.yaml"
    file.write_text("""\
kafka:
  properties: {ssl.truststore.location: ../trust.jks, ssl.keystore.location: /etc/own.p12}
  java: {ssl.keystore.location: own.p12, client.id: own.p12}
  python: {ssl.ca.location: probe, ssl.engine.location: libours.so, https.ca.location: ''}
  control:
    python: {ssl.ca.location: '${env:CA}', ssl.key.location: ~/own.key}
""")
    kafka = load(file, {"CA": "ca.pem"}).kafka
    assert kafka.source.properties == {
        "ssl.truststore.location": str(tmp_path / "trust.jks"),
        "ssl.keystore.location": "/etc/own.p12",
    }
    assert kafka.source.java == {
        "ssl.keystore.location": str(folder / "own.p12"),
        "client.id": "own.p12",
    }
    assert kafka.source.python == {
        "ssl.ca.location": "probe",
        "ssl.engine.location": "libours.so",
        "https.ca.location": "",
    }
    assert kafka.control.python == {
        "ssl.ca.location": "ca.pem",
        "ssl.key.location": str(Path("~/own.key").expanduser()),
    }
