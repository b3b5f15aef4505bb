"""Lines of a Java .properties file, pasted as they are."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from evergrid.config import Settings, show

Load = Callable[..., Settings]
Complain = Callable[..., list[str]]


def kafka(lines: str, key: str = "properties") -> str:
    return f"kafka:\n  {key}: |\n" + textwrap.indent(lines, "    ")


@pytest.mark.parametrize(
    ("lines", "properties"),
    [
        ("security.protocol=SASL_SSL\n", {"security.protocol": "SASL_SSL"}),
        ("a.b = c\na.c: d\na.d e\na.e\t=\tf\n", {"a.b": "c", "a.c": "d", "a.d": "e", "a.e": "f"}),
        ("# c=d\n  ! e=f\n\nacks=all # not a comment\n", {"acks": "all # not a comment"}),
        (
            "ssl.endpoint.identification.algorithm=\n",
            {"ssl.endpoint.identification.algorithm": ""},
        ),
        ("a.b==c:d e\n", {"a.b": "=c:d e"}),
        (
            "a.b=c \\\n    # d\\\n   \\\n  e\na.c=x\\\\\na.d=y",
            {"a.b": "c # de", "a.c": "x\\", "a.d": "y"},
        ),
        ("a.b=\\t\\u00e9\\ud83d\\ude00\\q\\:\\ c\\n\n", {"a.b": "\té😀q: c\n"}),
        ("a\\.b=c\na.c=C:\\\\users\n", {"a.b": "c", "a.c": "C:\\users"}),
        ("a.b=blanks   \na.c=blanks \\ \n", {"a.b": "blanks", "a.c": "blanks"}),
        ("\\\na.b=c\n", {"a.b": "c"}),
        ("a.b=end\\", {"a.b": "end"}),
        ("", {}),
    ],
)
def test_they_are_read_as_java_reads_them(
    load_text: Load, lines: str, properties: dict[str, str]
) -> None:
    assert load_text(kafka(lines)).kafka.source.properties == properties


CLIENT = r"""
# from the cluster's operators
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
    username="grid" \
    password="${env:P}";
ssl.key.password=hunter2
"""


def test_secrets_are_put_in_and_never_shown(load_text: Load) -> None:
    settings = load_text(kafka(CLIENT), {"P": 'a"b'})
    source = settings.kafka.source
    assert source.properties["sasl.jaas.config"] == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="grid" password="a\\"b";'
    )
    assert source.secrets == {'a"b', 'a\\"b'}
    for text in (show(settings), repr(settings), repr(source)):
        assert "hunter2" not in text
        assert 'a"b' not in text
    assert "sasl.mechanism: SCRAM-SHA-512" in show(settings)


def test_every_mapping_of_this_kind_may_be_pasted(load_text: Load) -> None:
    text = kafka("max.poll.records=5\n", "java") + "  python: |\n    debug=all\n"
    text += "  control:\n    properties: |\n      client.id=other\n"
    text += "spark:\n  settings: |\n    spark.ui.enabled   true\n"
    settings = load_text(text)
    assert settings.kafka.source.java == {"max.poll.records": "5"}
    assert settings.kafka.source.python == {"debug": "all"}
    assert settings.kafka.control.properties == {"client.id": "other"}
    assert settings.spark.settings == {"spark.ui.enabled": "true"}


def test_the_environment_wins_over_them_too(load_text: Load) -> None:
    environ = {
        "EVERGRID_KAFKA__PROPERTIES__CLIENT_ID": "mine",
        "EVERGRID_KAFKA__PROPERTIES__A_C": "e",
    }
    source = load_text(kafka("client.id=theirs\na.b=c\n"), environ).kafka.source
    assert source.properties == {"client.id": "mine", "a.b": "c", "a.c": "e"}


NO_LINE = (
    "kafka.properties: found a line that is not name=value. Write it so, and \\ at the end of a "
    "line that goes on in the next one."
)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("a.b=c\nhunter2\n", f"4: {NO_LINE}"),
        # A login whose line does not go on: \\ was lost.
        ('a.b=x.LoginModule required\n username="a" password="hunter2";\n', f"4: {NO_LINE}"),
        ('a.b=\nx.y.ScramLoginModule required password="hunter2";\n', f"4: {NO_LINE}"),
        ("\na.b=c\\\n  d\n=hunter2\nhunter2\n", f"6: {NO_LINE}"),
        ("ssl.keystore.key=-----BEGIN KEY-----\nhunter2AbCd==\nhunter2==\n", f"4: {NO_LINE}"),
        (
            "a.b=hunter2\na.b=hunter2\n",
            "4: kafka.properties.a.b: stands here twice, first on line 3. Remove one of the two.",
        ),
        (
            "a.b=hunter2\\users\n",
            "3: kafka.properties.a.b: found \\u that starts no character. Write \\\\ for a "
            "backslash, or \\u and the four digits of a character.",
        ),
        (
            "a.b=hunter2\\ud800\n",
            "3: kafka.properties.a.b: found \\u that starts no character. Write \\\\ for a "
            "backslash, or \\u and the four digits of a character.",
        ),
        (
            "a.b=c\nsasl.password=hunter2${env:GONE}\n",
            "4: kafka.properties.sasl.password: the environment variable GONE is not set. Set it "
            "where Evergrid starts.",
        ),
        (
            "bootstrap.servers=hunter2:9092\n",
            "3: kafka.properties.bootstrap.servers: the brokers' addresses have a key of their "
            "own. Set 'bootstrap' instead.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_without_its_value(
    complaints: Complain, lines: str, sentence: str
) -> None:
    assert complaints(kafka(lines)) == [f"evergrid.yaml:{sentence}"]
    assert "hunter2" not in sentence


@pytest.mark.parametrize("start", ["", " >-", " hunter2"])
def test_lines_that_yaml_made_one_of_are_not_guessed_at(complaints: Complain, start: str) -> None:
    text = f"kafka:\n  properties:{start}\n    sasl.password=hunter2\n    client.id=me\n"
    (told,) = complaints(text)
    assert told.endswith(
        ": kafka.properties: found a single value, expected keys and values. Write one 'key: "
        "value' to a line, indented under this key; or paste the lines of a .properties file "
        "after 'properties: |'."
    )
    assert "hunter2" not in told
