"""Environment variables over the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evergrid.config import Settings
from evergrid.model.join import JoinType
from evergrid.model.table import Retention

Load = Callable[..., Settings]
Complain = Callable[..., list[str]]


def test_the_environment_wins_over_the_file(load_text: Load) -> None:
    environ = {"EVERGRID_KAFKA__BOOTSTRAP": "[::1]:9092", "EVERGRID_LIMITS__NESTING": "9"}
    settings = load_text("kafka: {bootstrap: 'file:1'}\nlimits: {nesting: 7}\n", environ)
    assert settings.kafka.internal.bootstrap == "[::1]:9092"
    assert settings.limits.nesting == 9


def test_names_match_in_any_case(load_text: Load) -> None:
    settings = load_text(
        environ={
            "EVERGRID_SOURCES__USERS__TOPIC": "users_v2",
            "evergrid_sources__accounts__key": "accountType",
            "EVERGRID_SOURCES__USERS__FIELDS__USERID": "text",
            "EVERGRID_JOINS__FINAL__TYPE": "asof",
            "EVERGRID_JOINS__FINAL__HISTORY__RIGHT": "32",
            "EVERGRID_JOINS__FINAL__RIGHT_KEY": "userId",
            "EVERGRID_MISSING_TOPICS": '"wait"',
        }
    )
    assert settings.sources["users"].topic == "users_v2"
    assert settings.sources["accounts"].key == "accountType"
    assert settings.joins["final"].type is JoinType.ASOF
    assert settings.joins["final"].history.right == 32


def test_fields_can_be_set_in_both_ways_of_writing_them(load_text: Load) -> None:
    text = (
        "sources:\n  o:\n    topic: o\n    key: id\n"
        "    fields: {id: integer, b: {type: integer, from: bee}, c: text}\n"
    )
    environ = {
        "EVERGRID_SOURCES__O__FIELDS__ID": "text",
        "EVERGRID_SOURCES__O__FIELDS__B": "float",
        "EVERGRID_SOURCES__O__FIELDS__C__FROM": "sea",
    }
    fields = load_text(text, environ).sources["o"].fields
    assert [(str(f.type), f.from_json) for f in fields] == [
        ("text", "id"),
        ("float", "bee"),
        ("text", "sea"),
    ]


def test_names_with_two_underscores_are_found(load_text: Load) -> None:
    text = "sources:\n  my__orders: {topic: o, key: id, fields: {id: text}}\n"
    settings = load_text(text, {"EVERGRID_SOURCES__MY__ORDERS__TOPIC": "p"})
    assert settings.sources["my__orders"].topic == "p"


def test_any_table_can_be_given_its_retention(load_text: Load) -> None:
    environ = {
        "EVERGRID_RETENTION__TABLES__FINAL_UI__ROWS": "5",
        "EVERGRID_RETENTION__TABLES__QUARANTINE__AGE": "never",
    }
    retention = load_text(environ=environ).retention
    assert retention["final_ui"] == Retention(5, 7 * 86400)
    assert retention["quarantine"] == Retention(1_000_000, None)


def test_property_names_have_dots_for_underscores_and_values_as_they_are(load_text: Load) -> None:
    kafka = load_text(
        "kafka: {properties: {client.id: file, Odd_Name: x}}\n",
        {
            "EVERGRID_KAFKA__PROPERTIES__SECURITY_PROTOCOL": "SASL_SSL",
            "EVERGRID_KAFKA__PROPERTIES__CLIENT_ID": " #1: {x} ",
            "EVERGRID_KAFKA__PROPERTIES__ODD_NAME": "",
            "EVERGRID_KAFKA__CONTROL__JAVA__SSL_PROTOCOL": "TLS",
        },
    ).kafka
    assert kafka.source.properties == {
        "security.protocol": "SASL_SSL",
        "client.id": " #1: {x} ",
        "Odd_Name": "",
    }
    assert kafka.control.java == {"ssl.protocol": "TLS"}
    assert kafka.source.java == {}


@pytest.mark.parametrize("where", ["", "SOURCE__", "CONTROL__", "INTERNAL__"])
def test_passwords_and_their_like_are_taken_as_they_are(load_text: Load, where: str) -> None:
    start = f"EVERGRID_KAFKA__{where}SECURITY__"
    odd = {"PASSWORD": "abc #def", "USER": '"quoted"'}
    environ = {f"{start}{key}": value for key, value in {**odd, "MECHANISM": "PLAIN"}.items()}
    python = getattr(load_text("", environ).kafka, where.strip("_").lower() or "source").python
    assert python == {"sasl.username": '"quoted"', "sasl.password": "abc #def"}


def test_so_are_those_of_tokens(load_text: Load) -> None:
    text = (
        "kafka: {security: {mechanism: OAUTHBEARER, token_url: 'https://i', extensions: {pool: p}}}"
    )
    odd = {"CLIENT_ID": "~", "CLIENT_SECRET": "{a: b}", "SCOPE": "'x'", "EXTENSIONS__POOL": "1 #2"}
    environ = {f"EVERGRID_KAFKA__SECURITY__{key}": value for key, value in odd.items()}
    python = load_text(text, environ).kafka.source.python
    assert [python[f"sasl.oauthbearer.{key}"] for key in ("client.id", "client.secret")] == [
        "~",
        "{a: b}",
    ]
    assert python["sasl.oauthbearer.scope"] == "'x'"
    assert python["sasl.oauthbearer.extensions"] == "pool=1 #2"


def test_so_is_the_password_of_a_key(load_text: Load, tmp_path: Path) -> None:
    (tmp_path / "me.pem").write_text("-----BEGIN")
    text = "kafka: {security: {certificate: me.pem, key: me.pem}}"
    source = load_text(text, {"EVERGRID_KAFKA__SECURITY__KEY_PASSWORD": "a #b"}).kafka.source
    assert source.properties["ssl.key.password"] == "a #b"


def test_spark_settings_keep_the_case_they_are_written_in(load_text: Load) -> None:
    environ = {"EVERGRID_SPARK__SETTINGS__spark_sql_streaming_stopTimeout": "10s"}
    assert load_text(environ=environ).spark.settings == {"spark.sql.streaming.stopTimeout": "10s"}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("EVERGRID_CONFIG", "/etc/evergrid.yaml"),
        ("EVERGRID_URL", "https://tables.example.com"),
        ("EVERGRID_KEY", "something secret"),
        ("EVERGRID_CACHE", "/var/cache/evergrid"),
        ("EVERGRID_IVY_SETTINGS", "/etc/ivysettings.xml"),
        ("EVERGRID_TEST_SEED", "7"),
        ("EVERGRID_SERVICE_HOST", "10.0.0.1"),
        ("EVERGRID_GATEWAY_SERVICE_PORT_HTTP", "80"),
        ("EVERGRID_PORT", "tcp://10.0.0.1:80"),
        ("EVERGRID_PORT_80_TCP_ADDR", "10.0.0.1"),
        ("NOT_EVERGRID_X", "1"),
    ],
)
def test_variables_of_others_are_left_alone(load_text: Load, variable: str, value: str) -> None:
    assert load_text(environ={variable: value}) == load_text()


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        (
            {"EVERGRID_KAFKA__BOOTSRAP": "a:1"},
            "EVERGRID_KAFKA__BOOTSRAP: matches no key of the configuration. "
            "Did you mean 'EVERGRID_KAFKA__BOOTSTRAP'?",
        ),
        (
            {"EVERGRID_SOURCES__ORDERS__TOPIC": "o"},
            "EVERGRID_SOURCES__ORDERS__TOPIC: matches no key of the configuration. "
            "Did you mean 'EVERGRID_SOURCES__USERS__TOPIC'?",
        ),
        (
            {"EVERGRID_KAFKA": "a:1"},
            "EVERGRID_KAFKA: matches no key of the configuration. "
            "Remove it; docs/configuration.md lists the keys, one variable for each value.",
        ),
        (
            {"EVERGRID_QQQQQQQQQQQQQQQQQQQQQQQQ": "1"},
            "EVERGRID_QQQQQQQQQQQQQQQQQQQQQQQQ: matches no key of the configuration. "
            "Remove it; docs/configuration.md lists the keys, one variable for each value.",
        ),
        (
            {"EVERGRID_PORT": "8080"},
            "EVERGRID_PORT: matches no key of the configuration. "
            "Remove it; docs/configuration.md lists the keys, one variable for each value.",
        ),
        (
            {"EVERGRID_SPARK__BATCH": "1s"},
            "EVERGRID_SPARK__BATCH: spark.batch: found '1s', expected a time from 5s to 1h "
            "such as 5m. Write a number and one of s, m, h, d.",
        ),
        (
            {"EVERGRID_MISSING_TOPICS": ""},
            "EVERGRID_MISSING_TOPICS: missing_topics: found nothing, expected one of fail, wait. "
            "Choose one of these.",
        ),
        (
            {
                "EVERGRID_KAFKA__SECURITY__MECHANISM": "PLAIN",
                "EVERGRID_KAFKA__SECURITY__USER": "u",
                "EVERGRID_KAFKA__SECURITY__PASSWORD": "",
            },
            "EVERGRID_KAFKA__SECURITY__PASSWORD: kafka.security.password: found nothing, expected "
            "a single value. Write the value itself.",
        ),
        (
            {"EVERGRID_JOINS__FINAL__COLUMNS": "[users.name]"},
            "EVERGRID_JOINS__FINAL__COLUMNS: matches no key of the configuration. "
            "Did you mean 'EVERGRID_JOINS__FINAL__LEFT'?",
        ),
        (
            {"EVERGRID_DATA_DIR": "a", "evergrid_data_dir": "b"},
            "evergrid_data_dir: data_dir: sets what EVERGRID_DATA_DIR sets too. "
            "Remove one of the two.",
        ),
        (
            {"EVERGRID_DATA_DIR": "caf\udce9"},
            "EVERGRID_DATA_DIR: data_dir: its value is not text. Write it in UTF-8.",
        ),
        (
            {"EVERGRID_SPARK__SETTINGS__SPARK_UI_ENABLED": "false"},
            "EVERGRID_SPARK__SETTINGS__SPARK_UI_ENABLED: spark.settings.SPARK.UI.ENABLED: "
            "found 'SPARK.UI.ENABLED', expected a Spark setting's name such as "
            "spark.ui.enabled. Write it as Spark's documentation does, in the same upper and "
            "lower case.",
        ),
        (
            {"EVERGRID_KAFKA__PROPERTIES__SECURITY__PROTOCOL": "SSL"},
            "EVERGRID_KAFKA__PROPERTIES__SECURITY__PROTOCOL: "
            "kafka.properties.security..protocol: found 'security..protocol', expected a "
            "property's name such as security.protocol. Write it as its documentation does.",
        ),
    ],
)
def test_each_mistake_names_the_variable(
    complaints: Complain, environ: dict[str, str], sentence: str
) -> None:
    assert complaints(environ=environ) == [sentence]


def test_a_variable_that_two_keys_would_answer_to_is_refused(complaints: Complain) -> None:
    text = (
        "sources:\n"
        "  a: {topic: a, key: fields__b, fields: {fields__b: text, b__from: text, b: text}}\n"
    )
    assert complaints(text, {"EVERGRID_SOURCES__A__FIELDS__B__FROM": "x"}) == [
        "EVERGRID_SOURCES__A__FIELDS__B__FROM: can mean sources.a.fields.b__from and "
        "sources.a.fields.b.from. Set the key in the file."
    ]


def test_a_variable_does_not_hide_a_mistake_of_the_file(complaints: Complain) -> None:
    found = complaints("kafka: broker\n", {"EVERGRID_KAFKA__BOOTSTRAP": "a:1"})
    assert found == [
        "evergrid.yaml:1: kafka: found a single value, expected keys and values. "
        "Write one 'key: value' to a line, indented under this key."
    ]
