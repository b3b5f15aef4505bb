"""What a person wants of a secured cluster becomes the lines that each client wants."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.certificates import self_signed

from evergrid.config import Settings, show
from evergrid.config.settings import Connection
from evergrid.kafka.properties import java_properties, python_properties

Load = Callable[..., Settings]
Complain = Callable[..., list[str]]

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"


@pytest.fixture
def source(load_text: Load) -> Callable[[str], Connection]:
    def read(security: str) -> Connection:
        return load_text(f"kafka:\n  security: {security}\n", {"P": 'p"\\w'}).kafka.source

    return read


def java(connection: Connection) -> dict[str, str]:
    given = java_properties(connection)
    assert given.pop("bootstrap.servers") == "127.0.0.1:9092"
    return given


def python(connection: Connection) -> dict[str, str]:
    given = python_properties(connection)
    assert given.pop("bootstrap.servers") == "127.0.0.1:9092"
    return given


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [("PLAIN", PLAIN), ("SCRAM-SHA-256", SCRAM), ("scram-sha-512", SCRAM)],
)
@pytest.mark.parametrize(
    ("tls", "protocol"), [("", "SASL_SSL"), ("tls: false, ", "SASL_PLAINTEXT")]
)
def test_a_user_and_a_password(
    source: Callable[[str], Connection], mechanism: str, module: str, tls: str, protocol: str
) -> None:
    found = source(f"{{{tls}mechanism: {mechanism}, user: 'a \"b\"', password: '${{env:P}}'}}")
    common = {"security.protocol": protocol, "sasl.mechanism": mechanism.upper()}
    login = rf'{module} required username="a \"b\"" password="p\"\\w";'
    assert java(found) == {**common, "sasl.jaas.config": login}
    assert python(found) == {
        "security.protocol": protocol,
        "sasl.mechanisms": mechanism.upper(),
        "sasl.username": 'a "b"',
        "sasl.password": 'p"\\w',
    }
    assert 'p"\\w' in found.secrets


def test_a_token_endpoint(source: Callable[[str], Connection], tmp_path: Path) -> None:
    (tmp_path / "idp.pem").write_text(
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    )
    found = source(
        "{mechanism: OAUTHBEARER, token_url: 'https://idp/token', client_id: me, "
        "client_secret: '${env:P}', scope: kafka, extensions: {logicalCluster: lkc, pool: p}, "
        "token_ca: idp.pem}"
    )
    common = {"security.protocol": "SASL_SSL"}
    common["sasl.oauthbearer.token.endpoint.url"] = "https://idp/token"
    assert java(found) == {
        **common,
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": HANDLER,
        "sasl.login.refresh.window.factor": "0.5",
        "sasl.jaas.config": rf'{OAUTH} required clientId="me" clientSecret="p\"\\w" '
        'scope="kafka" extension_logicalCluster="lkc" extension_pool="p" ssl.truststore.type="PEM" '
        'ssl.truststore.certificates="-----BEGIN CERTIFICATE-----\\nMIIB\\n'
        '-----END CERTIFICATE-----";',
    }
    assert python(found) == {
        **common,
        "sasl.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": 'p"\\w',
        "sasl.oauthbearer.scope": "kafka",
        "sasl.oauthbearer.extensions": "logicalCluster=lkc,pool=p",
        "https.ca.location": str(tmp_path / "idp.pem"),
    }


def test_certificates_are_named_to_python_and_read_for_java(
    source: Callable[[str], Connection], tmp_path: Path
) -> None:
    files = self_signed(tmp_path, "me")
    (tmp_path / "ca.pem").write_text(files.certificate.read_text())
    found = source("{ca: ca.pem, certificate: me.pem, key: me.key, key_password: '${env:P}'}")
    common = {"security.protocol": "SSL", "ssl.key.password": 'p"\\w'}
    assert java(found) == {
        **common,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": files.certificate.read_text().rstrip(),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": files.certificate.read_text().rstrip(),
        "ssl.keystore.key": files.key.read_text().rstrip(),
    }
    assert python(found) == {
        **common,
        "ssl.ca.location": str(tmp_path / "ca.pem"),
        "ssl.certificate.location": str(files.certificate),
        "ssl.key.location": str(files.key),
    }


@pytest.mark.parametrize("relative", [True, False])
def test_every_key_may_refer_to_the_environment(
    load_text: Load, tmp_path: Path, relative: bool
) -> None:
    files = self_signed(tmp_path, "me")
    folder = tmp_path / "certificates"
    folder.mkdir()
    (folder / "ca.pem").write_text(files.certificate.read_text())
    text = """\
kafka:
  security:
    tls: ${env:T}
    mechanism: ${env:M}
    user: u
    password: p
    ca: ${env:D}/ca.pem
"""
    where = "certificates" if relative else str(folder)
    found = load_text(text, {"T": "true", "M": "scram-sha-256", "D": where}).kafka.source
    assert found.properties["security.protocol"] == "SASL_SSL"
    assert found.properties["sasl.mechanism"] == "SCRAM-SHA-256"
    assert found.python["ssl.ca.location"] == str(folder / "ca.pem")
    assert found.java["ssl.truststore.certificates"] == files.certificate.read_text().rstrip()
    assert where in found.secrets


def test_extensions_may_refer_to_secrets(source: Callable[[str], Connection]) -> None:
    found = source(
        "{mechanism: OAUTHBEARER, token_url: 'https://i', client_id: c, client_secret: s, "
        "extensions: {pool: '${env:P}'}}"
    )
    assert python(found)["sasl.oauthbearer.extensions"] == r'pool=p"\\w'
    assert r'extension_pool="p\"\\w"' in java(found)["sasl.jaas.config"]


def test_extensions_may_have_commas(load_text: Load) -> None:
    text = """\
kafka:
  security:
    mechanism: OAUTHBEARER
    token_url: https://i
    client_id: c
    client_secret: s
    extensions: {groups: 'a,b\\c,${env:P}', pool: p}
"""
    found = load_text(text, {"P": "d,e"}).kafka.source
    assert python(found)["sasl.oauthbearer.extensions"] == r"groups=a\,b\\c\,d\,e,pool=p"
    assert r'extension_groups="a,b\\c,d,e" extension_pool="p"' in java(found)["sasl.jaas.config"]
    raw = "kafka: {python: {sasl.oauthbearer.extensions: '${env:A},c=${env:P}'}}"
    given = load_text(raw, {"A": "a=1,b=2", "P": "d,e"}).kafka.source.python
    assert given == {"sasl.oauthbearer.extensions": r"a=1,b=2,c=d\,e"}


def test_raw_properties_win_and_another_cluster_has_its_own(load_text: Load) -> None:
    kafka = load_text(
        """\
kafka:
  security: {mechanism: PLAIN, user: u, password: p}
  properties: {sasl.mechanism: SCRAM-SHA-256, client.id: me}
  internal:
    security: {tls: false, mechanism: SCRAM-SHA-512, user: v, password: q}
    properties: {}
"""
    ).kafka
    assert kafka.source.properties["sasl.mechanism"] == "SCRAM-SHA-256"
    assert kafka.control.properties == kafka.source.properties
    assert kafka.internal.properties == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
    }
    assert kafka.internal.python == {"sasl.username": "v", "sasl.password": "q"}


def test_an_empty_section_is_no_security(source: Callable[[str], Connection]) -> None:
    assert java(source("{}")) == python(source("{}")) == {}


@pytest.mark.parametrize(
    ("security", "sentences"),
    [
        (
            "{mechanism: PLAIN, user: u}",
            [".mechanism: 'password' is missing. PLAIN needs user, password."],
        ),
        (
            "{mechanism: OAUTHBEARER, client_id: c}",
            [
                ".mechanism: 'token_url', 'client_secret' are missing. OAUTHBEARER needs "
                "token_url, client_id, client_secret."
            ],
        ),
        (
            "{user: u}",
            [
                ".user: is not for a connection without mechanism. Set mechanism, or delete the "
                "line."
            ],
        ),
        (
            "{mechanism: PLAIN, user: u, password: p, scope: s}",
            [".scope: is not for mechanism PLAIN. Set mechanism, or delete the line."],
        ),
        (
            "{mechanism: GSSAPI, user: u, password: p}",
            [
                ".mechanism: found 'GSSAPI', expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, "
                "OAUTHBEARER. Choose one of these."
            ],
        ),
        (
            "{certificate: a.pem}",
            [".certificate: needs 'key' beside it. Add it, or delete the line."],
        ),
        ("{tls: false, ca: a.pem}", [".ca: is for TLS, and tls is false. Delete one of the two."]),
        (
            "{ca: gone.pem}",
            [
                ".ca: the secret file {base}/gone.pem: No such file or directory. Correct the "
                "path, or what the file holds."
            ],
        ),
        ("{ca: words.txt}", [".ca: {base}/words.txt is no PEM file. Convert it with openssl."]),
        (
            "{certificate: a.pem, key: old.pem}",
            [
                ".key: Java reads private keys in PKCS #8 alone. Convert it: openssl pkcs8 -topk8 "
                "-nocrypt -in {base}/old.pem -out new.key"
            ],
        ),
        (
            "{mechanism: PLAIN, user: u, password: '${env:GONE}'}",
            [".password: the environment variable GONE is not set. Set it where Evergrid starts."],
        ),
        (
            "{mechanism: OAUTHBEARER, token_url: 'https://i', client_id: c, client_secret: s, "
            "extensions: {pool: '${env:GONE}'}}",
            [
                ".extensions.pool: the environment variable GONE is not set. Set it where "
                "Evergrid starts."
            ],
        ),
        (
            "{mechanism: '${env:ODD}', user: u, password: p}",
            [".mechanism: what the references stand for is not one of PLAIN, SCRAM-SHA-256, "],
        ),
        ("{tls: '${env:ODD}'}", [".tls: what the references stand for is not true or false. "]),
        (
            "{ca: '${env:ODD}/ca.pem'}",
            [".ca: the secret file ${env:ODD}/ca.pem: No such file or directory. "],
        ),
        ("{ca: '${env:WORDS}'}", [".ca: ${env:WORDS} is no PEM file. Convert it with openssl."]),
        ("{ca: '${env:GONE}/ca.pem'}", [".ca: the environment variable GONE is not set. "]),
        (
            "{ca: '${file:a.pem}'}",
            [
                ".ca: found what a file holds, expected its path. Write the path itself, without "
                "${file:} around it."
            ],
        ),
        ("{sort: x}", [".sort: unknown key 'sort'. "]),
    ],
)
def test_what_does_not_fit_is_told(
    complaints: Complain, tmp_path: Path, security: str, sentences: list[str]
) -> None:
    (tmp_path / "a.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    (tmp_path / "old.pem").write_text("-----BEGIN RSA PRIVATE KEY-----\n")
    (tmp_path / "words.txt").write_text("not one")
    environ = {"ODD": "hunter2", "WORDS": "words.txt"}
    told = complaints(f"kafka:\n  security: {security}\n", environ)
    assert "hunter2" not in str(told)
    for line, sentence in zip(told, sentences, strict=True):
        assert f"evergrid.yaml:2: kafka.security{sentence}".replace("{base}", str(tmp_path)) in line


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl here")
@pytest.mark.parametrize("password", ["", "hush"])
def test_the_command_for_an_old_key_makes_one_that_is_taken(
    complaints: Complain, load_text: Load, tmp_path: Path, password: str
) -> None:
    (tmp_path / "a.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    lock = ["-aes256", "-passout", f"pass:{password}"] if password else []
    make = ["openssl", "genrsa", "-traditional", *lock, "-out", "an old.key", "2048"]
    subprocess.run(make, cwd=tmp_path, check=True, capture_output=True)
    (told,) = complaints("kafka: {security: {certificate: a.pem, key: an old.key}}\n")
    command = shlex.split(told.partition("Convert it: ")[2])
    if password:
        command += ["-passin", f"pass:{password}", "-passout", f"pass:{password}"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = load_text("kafka: {security: {certificate: a.pem, key: new.key}}\n").kafka.source
    assert ("ENCRYPTED" in found.java["ssl.keystore.key"]) is bool(password)


def test_what_is_shown_has_no_secret(load_text: Load) -> None:
    text = "kafka: {security: {mechanism: PLAIN, user: u, password: hunter2}}\n"
    shown = show(load_text(text))
    assert "hunter2" not in shown
    assert "sasl.username: u" in shown
