"""One secured broker with every listener: who has the right credentials gets in, others do not.

The clients' settings are written out here, not made by the product, so that a mistake in both
halves cannot hide itself.
"""

from __future__ import annotations

import re
import stat
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from tests.support.broker_changes import certify, revoke, set_password

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.broker.listeners import CONTROLLER, INTERNAL, Listener, Protocol
from evergrid.broker.rights import Operation, ResourceKind, Right, grant
from evergrid.broker.secured_broker import ADMINISTRATOR, SecuredBroker
from evergrid.broker.token_endpoint import TokenEndpoint
from evergrid.config.sasl import Mechanism
from evergrid.kafka import clients, topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import BrokenPromise

LIMIT = 120.0
TOPIC = "letters"
GROUP = "readers"
GROUPS = Right(GROUP, (Operation.DESCRIBE,), kind=ResourceKind.GROUP)
PAST = datetime.now(UTC) - timedelta(days=1)

PLAINTEXT = Listener(Protocol.PLAINTEXT)
SSL = Listener(Protocol.SSL)
CERTIFIED = Listener(Protocol.SSL, client_certificates=True)
LOGINS = [
    Listener(protocol, mechanism)
    for protocol in (Protocol.SASL_PLAINTEXT, Protocol.SASL_SSL)
    for mechanism in Mechanism
]
SCRAM = Listener(Protocol.SASL_SSL, Mechanism.SCRAM_SHA_512)
OAUTH = Listener(Protocol.SASL_SSL, Mechanism.OAUTHBEARER)
ALL = [PLAINTEXT, SSL, CERTIFIED, *LOGINS]

Settings = dict[str, clients.Value]
OWN = ("ssl.certificate.location", "ssl.key.location")
# How librdkafka begins to say it.
LOGIN_REFUSED = "_AUTHENTICATION"
BROKER_NOT_TRUSTED = "_(SSL|TRANSPORT): .*certificate verify failed"
CLIENT_NOT_TRUSTED = "_(SSL|TRANSPORT): .*alert .*certificate"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    # A name with what would break Kafka's own settings, if it were written as it is.
    directory = tmp_path_factory.mktemp("secured") / 'my \\ "demo", é'
    with SecuredBroker(directory, ALL, ("anna", "bob")) as running:
        administration = running.administration()
        topics.create(administration, [NewTopicSpec(TOPIC, 1)])
        rights = [Right(TOPIC, (Operation.READ, Operation.WRITE, Operation.DESCRIBE)), GROUPS]
        for principal in ("User:anna", "User:ANONYMOUS"):
            grant(administration, principal, rights)
        yield running


def settings(house: SecuredBroker, listener: Listener, name: str = "anna", **more: str) -> Settings:
    """What a client of librdkafka is given to connect as `name`."""
    found: Settings = {
        "bootstrap.servers": house.broker.address(listener.name),
        "security.protocol": listener.protocol.value,
        "log_level": 0,
    }
    if listener.protocol in (Protocol.SSL, Protocol.SASL_SSL):
        found["ssl.ca.location"] = str(house.directory / "ca.pem")
    if listener.client_certificates:
        found |= dict.fromkeys(OWN, str(house.directory / f"{name}.pem"))
    password = (house.directory / f"{name}.password").read_text()
    if listener.mechanism is Mechanism.OAUTHBEARER:
        assert house.tokens is not None
        found |= {
            "sasl.mechanisms": "OAUTHBEARER",
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": name,
            "sasl.oauthbearer.client.secret": password,
            "sasl.oauthbearer.scope": "kafka",
            "sasl.oauthbearer.extensions": "traceId=123",
            "sasl.oauthbearer.token.endpoint.url": house.tokens.url,
            "https.ca.location": str(house.directory / "ca.pem"),
        }
    elif listener.mechanism is not None:
        found |= {
            "sasl.mechanisms": listener.mechanism.value,
            "sasl.username": name,
            "sasl.password": password,
        }
    return {**found, **{key.replace("_", "."): value for key, value in more.items()}}


def send(given: Settings, topic: str, value: bytes) -> KafkaError | None:
    """Send a message, and say why it was not taken."""
    answers: list[KafkaError | None] = []
    producer = Producer(dict(given))
    producer.produce(topic, value, on_delivery=lambda error, _: answers.append(error))
    assert producer.flush(LIMIT) == 0
    return answers[0]


def read(given: Settings, topic: str, last: bytes) -> list[bytes]:
    """All messages up to `last`, or KafkaException."""
    consumer = Consumer({**given, "group.id": GROUP, "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    found: list[bytes] = []
    deadline = time.monotonic() + LIMIT
    try:
        while last not in found:
            assert time.monotonic() < deadline, found
            message = consumer.poll(0.5)
            if message is None:
                continue
            if error := message.error():
                raise KafkaException(error)
            found.append(message.value() or b"")
    finally:
        consumer.close()
    return found


def refusal(given: Settings) -> str:
    """Why a client is not let in: the first word that it hears of it."""
    heard: list[KafkaError] = []
    admin = AdminClient({}, **given, error_cb=heard.append)
    deadline = time.monotonic() + LIMIT
    while not heard:
        assert time.monotonic() < deadline, "neither let in nor refused"
        try:
            admin.list_topics(timeout=0.5)
        except KafkaException:
            admin.poll(0)
        else:
            raise AssertionError("it was let in")
    return f"{heard[0].name()}: {heard[0].str()}"


@pytest.mark.parametrize("listener", ALL, ids=lambda listener: listener.name)
def test_who_has_the_right_credentials_writes_and_reads(
    house: SecuredBroker, listener: Listener
) -> None:
    value = listener.name.encode()
    given = settings(house, listener)
    assert send(given, TOPIC, value) is None
    assert read(given, TOPIC, value)[-1] == value


@pytest.mark.parametrize("listener", LOGINS, ids=lambda listener: listener.name)
def test_a_wrong_password_or_an_unknown_name_is_refused(
    house: SecuredBroker, listener: Listener
) -> None:
    if listener.mechanism is Mechanism.OAUTHBEARER:
        wrong = settings(house, listener, sasl_oauthbearer_client_secret="guessed")
        unknown = settings(house, listener, sasl_oauthbearer_client_id="carl")
    else:
        wrong = settings(house, listener, sasl_password="guessed")
        unknown = settings(house, listener, sasl_username="carl")
    for given in (wrong, unknown):
        assert re.match(LOGIN_REFUSED, refusal(given))


def test_a_client_certificate_must_be_there_and_good(house: SecuredBroker, tmp_path: Path) -> None:
    given = settings(house, CERTIFIED)
    bare = {key: value for key, value in given.items() if key not in OWN}
    strangers = CertificateAuthority().client("anna").write(tmp_path / "stranger.pem")
    expired = house.authority.client("anna", PAST).write(tmp_path / "expired.pem")
    files = [
        {key: str(file) for key in given if key.endswith((".key.location", "certificate.location"))}
        for file in (strangers, expired)
    ]
    for bad in (bare, *({**given, **file} for file in files)):
        assert re.match(CLIENT_NOT_TRUSTED, refusal(bad))


@pytest.mark.parametrize("listener", [SSL, SCRAM, OAUTH], ids=lambda listener: listener.name)
def test_clients_refuse_a_broker_that_another_authority_vouches_for(
    house: SecuredBroker, listener: Listener, tmp_path: Path
) -> None:
    other = CertificateAuthority().write(tmp_path / "other.pem")
    assert re.match(
        BROKER_NOT_TRUSTED, refusal(settings(house, listener, ssl_ca_location=str(other)))
    )


def test_an_expired_certificate_is_refused_until_it_is_renewed(house: SecuredBroker) -> None:
    given = settings(house, SSL)
    certify(house, SSL, until=PAST)
    assert re.match(BROKER_NOT_TRUSTED, refusal(given))
    certify(house, SSL)
    assert send(given, TOPIC, b"renewed") is None


def test_tokens_that_the_issuer_did_not_sign_or_that_expired_are_refused(
    house: SecuredBroker, tmp_path: Path
) -> None:
    tokens = house.tokens
    assert tokens is not None
    forger = TokenEndpoint(tmp_path / "unused.pem", tokens.port, {})
    good, forged = tokens.token("anna"), forger.token("anna")
    head, claims, _ = good.split(".")
    altered = f"{head}.{claims}.{forged.split('.')[2]}"
    assert send(with_token(house, good), TOPIC, b"by hand") is None
    for bad in (forged, altered, tokens.token("anna", lifetime=-10.0)):
        assert re.match(LOGIN_REFUSED, refusal(with_token(house, bad)))


def with_token(house: SecuredBroker, token: str) -> Settings:
    given = settings(house, OAUTH)
    kept = {
        key: value
        for key, value in given.items()
        if "oauthbearer" not in key and key != "https.ca.location"
    }
    # The client is told that the token is good, for it would not show one that is not.
    return {**kept, "oauth_cb": lambda _: (token, time.time() + 600)}


def test_a_connection_outlives_its_tokens(house: SecuredBroker) -> None:
    """The broker ends a connection with its token, so a client must bring new ones in time."""
    tokens = house.tokens
    assert tokens is not None
    before = tokens.issued["anna"]
    tokens.lifetime = 4.0
    producer = Producer(settings(house, OAUTH))
    answers: list[KafkaError | None] = []
    deadline = time.monotonic() + LIMIT
    try:
        sent = 0
        while tokens.issued["anna"] < before + 4:
            assert time.monotonic() < deadline, tokens.issued
            producer.produce(TOPIC, b"tick", on_delivery=lambda error, _: answers.append(error))
            sent += 1
            producer.poll(0.1)
        assert producer.flush(LIMIT) == 0
    finally:
        tokens.lifetime = 300.0
    assert answers == [None] * sent


def test_a_changed_password_counts_at_once(house: SecuredBroker) -> None:
    old = settings(house, SCRAM, "bob")
    set_password(house, "bob")
    assert re.match(LOGIN_REFUSED, refusal(old))
    for listener in (SCRAM, OAUTH):
        AdminClient({}, **settings(house, listener, "bob")).list_topics(timeout=LIMIT)


def test_nobody_may_do_what_was_not_granted(house: SecuredBroker) -> None:
    assert send(settings(house, SCRAM), TOPIC, b"for bob") is None
    bob, principal = settings(house, SCRAM, "bob"), SCRAM.principal("bob")
    assert TOPIC not in AdminClient({}, **bob).list_topics(timeout=LIMIT).topics
    error = send(bob, TOPIC, b"from bob")
    assert error is not None
    assert error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    reading = [Right(TOPIC, (Operation.READ,)), GROUPS]
    grant(house.administration(), principal, reading)
    assert b"for bob" in read(bob, TOPIC, b"for bob")
    revoke(house.administration(), principal, reading)
    with pytest.raises(KafkaException, match=r"(TOPIC|GROUP)_AUTHORIZATION_FAILED"):
        read(bob, TOPIC, b"for bob")


def test_the_administrators_ways_in_want_the_password(house: SecuredBroker) -> None:
    """Nobody else on this machine gets all rights, not even through the controller."""
    words = (house.broker.directory / "server.properties").read_text()
    listeners = next(line for line in words.splitlines() if line.startswith("listeners="))
    addresses = dict(each.split("://") for each in listeners.partition("=")[2].split(","))
    assert all(address.startswith("127.0.0.1:") for address in addresses.values())
    for name in (INTERNAL, CONTROLLER):
        given = settings(house, SCRAM)
        given |= {
            "bootstrap.servers": addresses[name],
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanisms": "PLAIN",
            "sasl.username": ADMINISTRATOR,
        }
        given.pop("ssl.ca.location")
        assert re.match(LOGIN_REFUSED, refusal(given))
    with pytest.raises(BrokenPromise, match="cannot be an account"):
        SecuredBroker(house.directory / "other", [SCRAM], (ADMINISTRATOR,))


def test_secrets_are_in_files_of_the_owner_alone(house: SecuredBroker) -> None:
    secrets = {account.password for account in house.accounts.values()}
    secrets |= {str(house.administration().properties["sasl.jaas.config"]).split('"')[3]}
    for path in house.directory.rglob("*"):
        if not path.is_file() or "data" in path.relative_to(house.broker.directory.parent).parts:
            continue
        text = path.read_bytes().decode(errors="replace")
        if any(secret in text for secret in secrets) or "PRIVATE KEY" in text:
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
            assert path.parent.name != "log", path
    commands = subprocess.run(["ps", "-A", "-ww", "-o", "command="], capture_output=True, text=True)
    assert not any(secret in commands.stdout for secret in secrets)
    assert not any(
        secret in repr(house.accounts) + repr(house.section(SCRAM, "anna")) for secret in secrets
    )


def test_data_accounts_and_rights_outlive_a_kill(house: SecuredBroker) -> None:
    address = house.broker.address(SCRAM.name)
    house.broker.kill()
    house.broker.start()
    assert house.broker.address(SCRAM.name) == address
    given = settings(house, SCRAM)
    assert send(given, TOPIC, b"after") is None
    assert read(given, TOPIC, b"after")[-1] == b"after"
