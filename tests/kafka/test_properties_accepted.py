"""A real broker and token endpoint take both clients with lines as people have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.system.wiretap import Wiretap

from evergrid.broker import jars
from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.broker.token_endpoint import SCOPE
from evergrid.config import load
from evergrid.config.sasl import Mechanism
from evergrid.config.settings import Connection
from evergrid.kafka import clients, topics
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.topics import NewTopicSpec
from evergrid.pipeline.java_client import JavaClient, java_client

LIMIT = 60.0
OAUTH = Listener(Protocol.SASL_SSL, Mechanism.OAUTHBEARER)
OPEN_OAUTH = Listener(Protocol.SASL_PLAINTEXT, Mechanism.OAUTHBEARER)
CERTIFIED = Listener(Protocol.SSL, client_certificates=True)
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    listeners = [OAUTH, OPEN_OAUTH, CERTIFIED]
    with SecuredBroker(tmp_path_factory.mktemp("house"), listeners, ["anna"]) as running:
        yield running


@pytest.fixture(scope="module")
def java() -> Iterator[JavaClient]:
    with java_client(jars.fetch()) as client:
        yield client


def pasted(folder: Path, section: dict[str, Any], lines: str) -> Connection:
    """The connection of a configuration with these lines."""
    file = folder / "evergrid.yaml"
    text = "".join(f"    {line}\n" for line in lines.strip().split("\n"))
    file.write_text(f"kafka:\n  bootstrap: {section['bootstrap']}\n  properties: |\n{text}")
    return load(file, {}).kafka.source


def flat(file: str) -> str:
    """What is in a file as people write it in a .properties file."""
    return " \\\n".join(Path(file).read_text().strip().split("\n"))


def both_get_in(java: JavaClient, connection: Connection) -> None:
    assert clients.admin(connection).list_topics(timeout=LIMIT).brokers
    assert java.reach(connection) == 1


def test_credentials_as_properties(house: SecuredBroker, java: JavaClient, tmp_path: Path) -> None:
    section = house.section(OAUTH, "anna")
    authority = section["properties"]["ssl.truststore.location"]
    secret = (
        section["properties"]["sasl.jaas.config"].partition('clientSecret="')[2].partition('"')[0]
    )
    lines = f"""
security.protocol=SASL_SSL
ssl.truststore.type=PEM
ssl.truststore.certificates={flat(authority)}
sasl.mechanism=OAUTHBEARER
{ENDPOINT}={section["properties"][ENDPOINT]}
sasl.oauthbearer.client.credentials.client.id=anna
sasl.oauthbearer.client.credentials.client.secret={secret}
sasl.oauthbearer.scope={SCOPE}
sasl.jaas.config={MODULE} required \\
    ssl.truststore.type="PEM" \\
    ssl.truststore.certificates="{flat(authority)}";
"""
    both_get_in(java, pasted(tmp_path, section, lines))


def test_strimzis_lines(house: SecuredBroker, java: JavaClient, tmp_path: Path) -> None:
    section = house.section(OAUTH, "anna")
    authority = section["properties"]["ssl.truststore.location"]
    secret = (
        section["properties"]["sasl.jaas.config"].partition('clientSecret="')[2].partition('"')[0]
    )
    lines = f"""
security.protocol=SASL_SSL
ssl.truststore.type=PEM
ssl.truststore.location={authority}
sasl.mechanism=OAUTHBEARER
sasl.login.callback.handler.class=io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler
sasl.jaas.config={MODULE} required \\
    oauth.client.id="anna" \\
    oauth.client.secret="{secret}" \\
    oauth.scope="{SCOPE}" \\
    oauth.token.endpoint.uri="{section["properties"][ENDPOINT]}" \\
    oauth.ssl.truststore.type="PEM" \\
    oauth.ssl.truststore.location="{authority}";
"""
    both_get_in(java, pasted(tmp_path, section, lines))


def test_extensions_with_commas_and_backslashes_arrive_whole_from_both_clients(
    house: SecuredBroker, java: JavaClient, tmp_path: Path
) -> None:
    bootstrap = house.section(OPEN_OAUTH, "anna")["bootstrap"]
    assert house.tokens is not None
    security = {
        "tls": False,
        "mechanism": "OAUTHBEARER",
        "token_url": house.tokens.url,
        "client_id": "anna",
        "client_secret": house.accounts["anna"].password,
        "scope": SCOPE,
        "token_ca": str(house.ca),
        "extensions": {"groups": "a,b\\n", "traceId": "${env:P}"},
    }
    asked: list[Callable[[Connection], object]] = [reach, java.reach]
    for ask in asked:
        with Wiretap(int(bootstrap.rpartition(":")[2])) as tap:
            file = tmp_path / "evergrid.yaml"
            section = {"bootstrap": tap.address, "security": security}
            file.write_text(yaml.safe_dump({"kafka": section}))
            ask(load(file, {"P": "c,d=\\\\"}).kafka.source)
            found = re.search(rb"\x01auth=Bearer [\w.-]+\x01(.*?)\x01\x01", tap.heard)
        assert found is not None
        assert set(found[1].split(b"\x01")) == {b"groups=a,b\\n", b"traceId=c,d=\\\\"}


def test_certificates_that_became_one_line(
    house: SecuredBroker, java: JavaClient, tmp_path: Path
) -> None:
    section = house.section(CERTIFIED, "anna")
    own = Path(section["properties"]["ssl.keystore.location"]).read_text()
    authority = section["properties"]["ssl.truststore.location"]
    start = own.index("-----BEGIN PRIVATE KEY")
    end = own.index("-----END PRIVATE KEY-----") + len("-----END PRIVATE KEY-----")
    parts = {"key": own[start:end], "chain": own[:start] + own[end:]}
    for name, text in parts.items():
        (tmp_path / name).write_text(text.strip())
    lines = f"""
security.protocol=SSL
ssl.truststore.type=PEM
ssl.truststore.certificates={flat(authority)}
ssl.keystore.type=PEM
ssl.keystore.key={flat(str(tmp_path / "key"))}
ssl.keystore.certificate.chain={flat(str(tmp_path / "chain"))}
"""
    both_get_in(java, pasted(tmp_path, section, lines))


@pytest.mark.parametrize(
    "times",
    [
        {"request.timeout.ms": "60000"},
        {"linger.ms": "20000"},
        {"sasl.login.retry.backoff.ms": "5000"},
    ],
    ids=str,
)
def test_times_that_fit_a_pipeline_do_not_fail_the_trial(
    house: SecuredBroker, java: JavaClient, times: dict[str, str]
) -> None:
    everywhere = house.administration()
    topics.create(everywhere, [NewTopicSpec("tried", 1)])
    able = Connection("source", everywhere.bootstrap, {**everywhere.properties, **times})
    java.write(able, "tried", b"x")
    java.read(able, "tried")
    tokens = house.connection(OAUTH, "anna")
    patient = Connection("source", tokens.bootstrap, {**tokens.properties, **times})
    assert java.reach(able) == java.reach(patient) == 1
