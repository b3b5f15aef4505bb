"""Secrets reach the settings, and nothing else."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.pretty import pretty_repr

from evergrid.config import ConfigProblems, Settings, load, show
from evergrid.config.secrets import HIDDEN, shown

Load = Callable[..., Settings]
Complain = Callable[..., list[str]]

PASSWORD = "correct horse"
PEM = "-----BEGIN KEY-----\nMIIE+secret/lines\n-----END KEY-----"
LITERAL = "written-in-the-file"

KAFKA = f"""\
kafka:
  bootstrap: ${{env:BROKER_HOST}}:9093
  properties:
    security.protocol: SASL_SSL
    sasl.jaas.config: 'Module required username="u" password="${{env:KAFKA_PASSWORD}}";'
    client.id: ${{env:KAFKA_PASSWORD}}-client
    ssl.keystore.location: /etc/keys/store.p12
    ssl.keystore.password: {LITERAL}
  java:
    ssl.keystore.key: ${{file:key.pem}}
  control:
    python: {{sasl.password: "${{file:key.pem}}"}}
spark:
  settings: {{spark.ssl.keyPassword: {LITERAL}}}
"""
ENVIRON = {"KAFKA_PASSWORD": PASSWORD, "BROKER_HOST": "broker.internal"}
SECRETS = (PASSWORD, "broker.internal", PEM, "MIIE+secret", LITERAL)


@pytest.fixture
def settings(tmp_path: Path, load_text: Load) -> Settings:
    (tmp_path / "key.pem").write_text(PEM + "\n")
    return load_text(KAFKA, ENVIRON)


def printed(thing: object) -> str:
    out = io.StringIO()
    Console(file=out, width=10_000).print(thing)
    return out.getvalue()


def test_references_are_replaced_and_remembered(settings: Settings) -> None:
    source, control = settings.kafka.source, settings.kafka.control
    assert source.bootstrap == "broker.internal:9093"
    assert f'password="{PASSWORD}";' in source.properties["sasl.jaas.config"]
    assert source.properties["client.id"] == f"{PASSWORD}-client"
    assert source.java == {"ssl.keystore.key": PEM}
    assert control.python == {"sasl.password": PEM}
    assert source.secrets == {PASSWORD, PEM, "broker.internal"}


@pytest.mark.parametrize("way", [str, repr, pretty_repr, printed, "{}".format, "{!r}".format])
def test_printing_settings_never_shows_a_secret(
    settings: Settings, way: Callable[[object], str]
) -> None:
    things = (settings, settings.kafka, *settings.kafka.connections, settings.spark)
    for thing in things:
        text = way(thing)
        assert "(hidden)" in text
        assert not [secret for secret in SECRETS if secret in text or repr(secret)[1:-1] in text]


def test_showing_settings_never_shows_a_secret(settings: Settings) -> None:
    text = show(settings)
    assert not [secret for secret in SECRETS if secret in text]
    assert "sasl.jaas.config: (hidden)" in text
    assert "client.id: (hidden)" in text
    assert "ssl.keystore.password: (hidden)" in text
    assert "ssl.keystore.location: /etc/keys/store.p12" in text
    assert "spark.ssl.keyPassword: (hidden)" in text


def test_two_secrets_that_differ_do_not_look_like_one(load_text: Load) -> None:
    text = "kafka: {properties: {sasl.password: a}, control: {properties: {sasl.password: b}}}\n"
    assert "control:\n    properties:\n      sasl.password: (hidden)" in show(load_text(text))


def test_errors_never_show_a_secret(tmp_path: Path, load_text: Load) -> None:
    (tmp_path / "key.pem").write_text(PEM)
    text = KAFKA.replace(":9093", "").replace("SASL_SSL", "[correct horse]")
    text += "limits: {nesting: 0}\n"
    with pytest.raises(ConfigProblems) as caught:
        load_text(text, ENVIRON)
    assert len(caught.value.problems) == 3
    told = f"{caught.value!s}{caught.value!r}{caught.value.problems!r}"
    assert not [secret for secret in SECRETS if secret in told]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("kafka: {security: {mechanism: PLAIN, user:grid, password:hunter2}}", "kafka.security: "),
        (
            "kafka: {security: {mechanism: PLAIN, user: grid, password: a,hunter2}}",
            "kafka.security: ",
        ),
        ("kafka: {security: {user: u, password: a,hunter2,hunter2}}", "kafka.security: "),
        ("kafka: {security: {extensions: {pool: a,hunter2}}}", "kafka.security.extensions: "),
        ("kafka: {source: {security: {password: a,hunter2}}}", "kafka.source.security: "),
        ("kafka: {bootstrap: 'b:1', hunter2}", "kafka: "),
        (
            "kafka: {properties: {security.protocol: SASL_SSL, ssl.key.password=hunter2}}",
            "kafka.properties: ",
        ),
        ("kafka: {python: {sasl.password: a,hunter2}}", "kafka.python: "),
        ("kafka: {java: {sasl.password: a,b.hunter2}}", "kafka.java: "),
        (
            'kafka:\n  properties:\n    sasl.jaas.config=A required password="hunter2: more";',
            "kafka.properties: ",
        ),
        ("spark: {settings: {spark.ssl.keyPassword=hunter2}}", "spark.settings: "),
        ("spark: {settings: {spark.ssl.keyPassword: a,hunter2}}", "spark.settings: "),
        ("spark: {password:hunter2}", "spark: "),
        ("password=hunter2:", ""),
    ],
)
def test_a_slip_that_makes_a_key_of_a_secret_is_told_without_it(
    complaints: Complain, text: str, where: str
) -> None:
    told = "\n".join(complaints(text))
    begin = f"evergrid.yaml:{len(text.splitlines())}: {where}"
    assert re.search(rf"^{re.escape(begin)}(found )?a key .* Put a blank after ':'", told, re.M)
    for piece in ("hunter", "more", "required"):
        assert piece not in told


def test_a_reference_in_the_environment_is_followed_too(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("hunter2\r\n\n")
    environ = {"EVERGRID_KAFKA__PROPERTIES__SASL_PASSWORD": f"${{file:{secret}}}"}
    source = load(None, environ).kafka.source
    assert source.properties == {"sasl.password": "hunter2"}
    assert source.secrets == {"hunter2"}


def test_a_secret_is_never_read_as_a_reference(load_text: Load) -> None:
    text = "kafka: {properties: {sasl.password: '${env:P}', client.id: '$${env:P} $5'}}\n"
    source = load_text(text, {"P": "${env:HOME}"}).kafka.source
    assert source.properties == {"sasl.password": "${env:HOME}", "client.id": "${env:P} $5"}
    assert source.secrets == {"${env:HOME}"}


def test_outside_the_kafka_section_nothing_is_replaced(load_text: Load) -> None:
    settings = load_text("spark: {settings: {spark.x: '${env:P}'}}\n", {"P": "p"})
    assert settings.spark.settings == {"spark.x": "${env:P}"}


def test_a_secret_between_quotes_is_written_as_java_reads_it(load_text: Load) -> None:
    line = "M required a=\"${env:P}\" b='${env:P}' c=${env:P};"
    text = f"kafka:\n  properties:\n    sasl.jaas.config: >-\n      {line}\n"
    source = load_text(text, {"P": "a\"b'c\\d\ne"}).kafka.source
    spelled = "a\\\"b\\'c\\\\d\\ne"
    assert source.properties["sasl.jaas.config"] == (
        f"M required a=\"{spelled}\" b='{spelled}' c=a\"b'c\\d\ne;"
    )
    assert source.secrets == {"a\"b'c\\d\ne", spelled}


def test_a_quote_in_front_of_a_reference_is_a_letter_outside_of_a_login(load_text: Load) -> None:
    text = """\
kafka:
  security: {mechanism: PLAIN, user: u, password: "it's${env:P}"}
  properties: {client.id: "it's ${env:P}"}
"""
    source = load_text(text, {"P": 'a"b'}).kafka.source
    assert source.python["sasl.password"] == "it'sa\"b"
    assert source.properties["client.id"] == "it's a\"b"
    assert source.java["sasl.jaas.config"].endswith(r"""password="it\'sa\"b";""")


def test_a_rotated_secret_is_there_when_it_is_asked_for(tmp_path: Path, load_text: Load) -> None:
    file = tmp_path / "password"
    file.write_text("old\n")
    environ = {"P": "fixed"}
    text = "kafka: {properties: {a: 'x${file:password}', b: '${env:P}'}}\n"
    source = load_text(text, environ).kafka.source
    file.write_text("new\n")
    assert source.properties["a"] == "xold"
    assert source.renewed().properties == {"a": "xnew", "b": "fixed"}
    assert source.renewed().secrets == {"new", "fixed"}
    for broken in ("", None):  # being written, or gone
        file.unlink() if broken is None else file.write_text(broken)
        assert source.renewed().properties == {"a": "xnew", "b": "fixed"}
    assert "old" not in repr(source)
    assert "new" not in repr(source.renewed())


def test_without_references_nothing_is_ever_read_again(load_text: Load) -> None:
    source = load_text("kafka: {properties: {a: b}}\n").kafka.source
    assert source.renewed() is source


NEITHER = (
    "found ${ that starts neither ${env:NAME} nor ${file:/path}. "
    "Write one of these, or $${ where a plain ${ is meant."
)
FILE_REMEDY = "Correct the path, or what the file holds."


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            "${env:GONE}",
            "the environment variable GONE is not set. Set it where Evergrid starts.",
        ),
        ("${env:VOID}", "the environment variable VOID is empty. Set it where Evergrid starts."),
        ("${env:ODD}", "the environment variable ODD is not text. Set it where Evergrid starts."),
        (
            "${file:gone.txt}",
            "the secret file {base}/gone.txt: No such file or directory. " + FILE_REMEDY,
        ),
        ("${file:.}", "the secret file {base}: Is a directory. " + FILE_REMEDY),
        ("${file:void.txt}", "the secret file {base}/void.txt is empty. " + FILE_REMEDY),
        ("${file:odd.txt}", "the secret file {base}/odd.txt is not UTF-8 text. " + FILE_REMEDY),
        ("${vault:hunter2}", NEITHER),
        ("${env:}", NEITHER),
        ("${hunter2}", NEITHER),
        ("hunter2${", NEITHER),
    ],
)
def test_a_secret_that_is_not_there_is_told(
    tmp_path: Path, complaints: Complain, value: str, sentence: str
) -> None:
    (tmp_path / "void.txt").write_text("\n")
    (tmp_path / "odd.txt").write_bytes(b"\xff\xfe")
    told = complaints(
        f"kafka:\n  properties:\n    sasl.password: '{value}'\n", {"VOID": "", "ODD": "\udce9"}
    )
    where = "evergrid.yaml:3: kafka.properties.sasl.password: "
    assert told == [where + sentence.replace("{base}", str(tmp_path))]


def test_a_bootstrap_made_of_secrets_is_checked_but_not_repeated(complaints: Complain) -> None:
    assert complaints("kafka: {bootstrap: '${env:B}'}\n", {"B": "hunter2"}) == [
        "evergrid.yaml:1: kafka.bootstrap: what the references stand for is not host:port, or "
        "several with commas between them. Write the address of a broker such as 127.0.0.1:9092."
    ]


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("sasl.password", True),
        ("ssl.key.password", True),
        ("ssl.keystore.key", True),
        ("ssl.key.pem", True),
        ("sasl.jaas.config", True),
        ("sasl.oauthbearer.client.secret", True),
        ("sasl.oauthbearer.token.endpoint.url", True),
        ("basic.auth.user.info", True),
        ("SASL.PASSWORD", True),
        ("sasl.oauthbearer.client.credentials.client.secret", True),
        ("sasl.oauthbearer.client.credentials.client.id", False),
        ("ssl.keystore.location", False),
        ("ssl.keystore.type", False),
        ("ssl.key.location", False),
        ("ssl.keymanager.algorithm", False),
        ("sasl.oauthbearer.jwt.retriever.class", False),
        ("security.protocol", False),
        ("sasl.username", False),
    ],
)
def test_what_a_name_says_about_its_value(name: str, hidden: bool) -> None:
    assert (shown(name, "value", frozenset()) == "(hidden)") is hidden
    assert shown(name, "a value", {"value"}) == "(hidden)"


def test_a_piece_of_a_login_is_hidden_wherever_it_stands() -> None:
    assert shown("a.b", 'username="u" password="hunter2";', frozenset()) == HIDDEN
    assert shown("a.b", "x clientSecret = y", frozenset()) == HIDDEN
    assert shown("a.b", "passwordless", frozenset()) == "passwordless"


def test_connections_with_the_same_references_differ_in_their_name_alone(load_text: Load) -> None:
    kafka = load_text("kafka: {properties: {a: '${env:P}'}}\n", {"P": "secret"}).kafka
    assert kafka.source.template is not None
    assert kafka.source != kafka.control
    assert kafka.source.called(kafka.control.name) == kafka.control
