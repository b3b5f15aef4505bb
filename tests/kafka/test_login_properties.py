"""Logins as newer versions of Kafka and as Strimzi write them, in the words of both clients."""

from __future__ import annotations

import pytest

from evergrid.config.settings import Connection
from evergrid.kafka.login_properties import parse_login
from evergrid.kafka.properties import java_properties, python_properties
from evergrid.model.errors import ConfigError

OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
STRIMZI = "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
ENDPOINT = "https://idp/token"
SECRET = "a\"b'c\\d${e}"
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"

PYTHON = {
    "sasl.mechanisms": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.token.endpoint.url": ENDPOINT,
    "sasl.oauthbearer.client.id": "grid",
    "sasl.oauthbearer.client.secret": SECRET,
    "sasl.oauthbearer.scope": "kafka",
}
LOGIN = {"clientId": "grid", "clientSecret": SECRET, "scope": "kafka"}


def python(properties: dict[str, str]) -> dict[str, str]:
    given = python_properties(Connection("source", "broker:9092", properties))
    assert given.pop("bootstrap.servers") == "broker:9092"
    return given


def java(properties: dict[str, str], own: dict[str, str] | None = None) -> dict[str, str]:
    return java_properties(Connection("source", "broker:9092", properties, java=own or {}))


def login(properties: dict[str, str]) -> dict[str, str]:
    found = parse_login(properties["sasl.jaas.config"])
    assert found is not None
    assert properties["sasl.jaas.config"].startswith(f"{OAUTH} required ")
    return dict(found.options)


NEWER = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.token.endpoint.url": ENDPOINT,
    "sasl.oauthbearer.client.credentials.client.id": "grid",
    "sasl.oauthbearer.client.credentials.client.secret": SECRET,
    "sasl.oauthbearer.scope": "kafka",
    "sasl.oauthbearer.jwt.retriever.class": "org.apache.kafka.common.security.oauthbearer."
    "ClientCredentialsJwtRetriever",
}


@pytest.mark.parametrize(
    "line",
    [
        None,
        f"{OAUTH} required ;",
        f'{OAUTH} required clientId="another" scope="of another";',
    ],
)
def test_credentials_as_properties_reach_both_clients(line: str | None) -> None:
    lines = NEWER | ({"sasl.jaas.config": line} if line else {})
    assert python(lines) == PYTHON
    assert login(java(lines)) == LOGIN
    assert java(lines)["sasl.login.callback.handler.class"] == HANDLER
    assert not [name for name in java(lines) if "client.credentials" in name]


def test_they_are_put_into_javas_own_line_too() -> None:
    found = java({}, own=NEWER | {"sasl.jaas.config": f"{OAUTH} required extension_pool=p;"})
    assert login(found) == {"extension_pool": "p", **LOGIN}


def strimzi(**options: str) -> dict[str, str]:
    given = {
        "oauth.client.id": "grid",
        "oauth.client.secret": SECRET.replace("\\", "\\\\").replace('"', '\\"'),
        "oauth.scope": "kafka",
        "oauth.token.endpoint.uri": ENDPOINT,
        **{name.replace("_", "."): value for name, value in options.items()},
    }
    words = " ".join(f'{name}="{value}"' for name, value in given.items())
    return {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": STRIMZI,
        "sasl.jaas.config": f"{OAUTH} required {words};",
    }


def test_strimzis_options_become_kafkas_own() -> None:
    lines = strimzi(
        oauth_ssl_truststore_location="/ca.pem",
        oauth_ssl_truststore_type="PEM",
        oauth_sasl_extension_pool="p",
        oauth_connect_timeout_seconds="5",
        oauth_access_token_is_jwt="true",
    )
    more = {"sasl.oauthbearer.extensions": "pool=p", "https.ca.location": "/ca.pem"}
    assert python(lines) == PYTHON | more
    found = java(lines)
    assert found["sasl.login.callback.handler.class"] == HANDLER
    assert found["sasl.oauthbearer.token.endpoint.url"] == ENDPOINT
    assert login(found) == {
        **LOGIN,
        "ssl.truststore.location": "/ca.pem",
        "ssl.truststore.type": "PEM",
        "extension_pool": "p",
    }


def test_strimzis_handler_may_be_left_out() -> None:
    lines = strimzi()
    del lines["sasl.login.callback.handler.class"]
    assert python(lines) == PYTHON
    assert java(lines)["sasl.login.callback.handler.class"] == HANDLER


def test_the_line_of_kafkas_own_documentation_is_taken() -> None:
    """With an option that says what both clients do anyway."""
    line = f'{OAUTH} required clientId="grid" clientSecret="s" scope="kafka" ssl.protocol="SSL" ;'
    given = {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": ENDPOINT}
    found = python({**given, "sasl.jaas.config": line})
    assert found == {**PYTHON, "sasl.oauthbearer.client.secret": "s"}


def test_databricks_names_of_kafkas_classes_are_taken() -> None:
    line = f"kafkashaded.{OAUTH} required clientId=grid clientSecret=s scope=kafka;"
    given = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": ENDPOINT,
        "sasl.jaas.config": line,
        "sasl.login.callback.handler.class": f"kafkashaded.{HANDLER}",
    }
    assert python(given) == {**PYTHON, "sasl.oauthbearer.client.secret": "s"}
    assert java(given)["sasl.login.callback.handler.class"] == HANDLER
    assert login(java(given)) == {"clientId": "grid", "clientSecret": "s", "scope": "kafka"}


def test_who_gives_strimzis_own_class_to_java_keeps_it() -> None:
    lines = strimzi()
    found = java({}, own=lines)
    assert {name: found[name] for name in lines} == lines


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (
            strimzi(oauth_access_token_is_jwt="false"),
            "oauth.access.token.is.jwt of Strimzi's login is not known",
        ),
        (strimzi(oauth_access_token="hush"), "oauth.access.token of Strimzi's login is not known"),
        (
            {
                "sasl.login.callback.handler.class": STRIMZI,
                "sasl.jaas.config": f"{OAUTH} required oauth.client.id=hush;",
            },
            "oauth.client.secret, oauth.token.endpoint.uri are missing in Strimzi's login",
        ),
    ],
)
def test_what_strimzi_alone_can_do_is_told(lines: dict[str, str], what: str) -> None:
    for client in (python, java):
        with pytest.raises(ConfigError) as caught:
            client(lines)
        told = caught.value.sentence()
        assert told.startswith("Kafka connection source, property sasl.jaas.config: ")
        assert what in told
        assert "Use kafka.security with mechanism OAUTHBEARER" in told
        assert "elete" not in told
        assert "hush" not in told


def test_certificates_in_the_line_have_their_line_breaks_back() -> None:
    flat = PEM.replace("\n", " ")
    line = f'{OAUTH} required clientId="c" ssl.truststore.type="PEM" '
    lines = {"sasl.jaas.config": f'{line}ssl.truststore.certificates="{flat}";'}
    assert python(lines)["https.ca.pem"] == PEM
    assert login(java(lines))["ssl.truststore.certificates"] == PEM
    assert "\n" not in java(lines)["sasl.jaas.config"]
