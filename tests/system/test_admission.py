"""Both clients at a broker that lets in only those who may: each gets in by every way, each says
in one sentence what keeps it out, and gets in again when that is restore_line_breaks."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
import yaml

from evergrid.broker import jars
from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.rights import Operation, Right, grant
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.changelog.codec import Row
from evergrid.changelog.reader import read_to_end
from evergrid.cli.connection_checks import ConnectionChecks, Finding
from evergrid.config import load
from evergrid.config.sasl import Mechanism
from evergrid.config.settings import Connection, Kafka
from evergrid.gateway.access.key_file import create_key
from evergrid.kafka import topics
from evergrid.kafka.cluster_probe import reach
from evergrid.kafka.message_sender import Sender
from evergrid.kafka.topics import NewTopicSpec, TopicWatch
from evergrid.model.errors import LinkError
from evergrid.pipeline.java_client import JavaClient, java_client
from evergrid.process.private_directory import write_secret
from evergrid.protocol.messages import Live
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from tests.handwritten_pipeline import HandwrittenPipeline
from tests.support.broker_changes import certify, revoke, set_password
from tests.support.free_ports import free_port
from tests.support.reference_viewer import ViewerGroup
from tests.system.conftest import PATIENCE
from tests.system.secured import (
    ACCOUNTS,
    CERTIFIED,
    GATEWAY,
    LISTENERS,
    LOGINS,
    OAUTH,
    PIPELINE,
    PLAINTEXT,
    SCRAM,
    TLS,
    SecuredWorld,
    listener_name,
)
from tests.system.wiretap import Wiretap

ANNA, BEN = "anna", "ben"
TOPIC = "letters"
ODD = "what \"breaks\" a 'careless' line; \\ even = ${this}"
RETRY_SECONDS = 60.0  # a client gives up after five, and a busy machine may stand still for longer
AN_HOUR_AGO = datetime.now(UTC) - timedelta(hours=1)
PLAIN = Listener(Protocol.SASL_PLAINTEXT, Mechanism.PLAIN)

PERSON: Row = {
    "userId": "u1",
    "name": "Mei",
    "email": None,
    "age": 7,
    "ts": 1_767_225_600_000_000,
    "_partition": 0,
    "_offset": 1,
    "_unknown_fields": 0,
}

Break = Callable[[SecuredBroker, Listener], AbstractContextManager[Connection]]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    directory = tmp_path_factory.mktemp("house")
    with SecuredBroker(directory, [PLAINTEXT, *LISTENERS], (ANNA, BEN, *ACCOUNTS)) as running:
        topics.create(running.administration(), [NewTopicSpec(TOPIC, 1)])
        for listener in (TLS, SCRAM):
            every = Right(TOPIC, (Operation.READ, Operation.WRITE, Operation.DESCRIBE))
            grant(running.administration(), listener.principal(ANNA), [every])
        yield running


@pytest.fixture(scope="module")
def java() -> Iterator[JavaClient]:
    with java_client(jars.fetch()) as running:
        yield running


@pytest.mark.parametrize("listener", LISTENERS, ids=listener_name)
def test_both_clients_get_in_read_and_write(
    house: SecuredBroker, java: JavaClient, listener: Listener
) -> None:
    connection = house.connection(listener, ANNA)
    sent = listener.name.encode()
    java.write(connection, TOPIC, sent)
    java.read(connection, TOPIC)
    sender = Sender(connection)
    sender.send(TOPIC, sent)
    sender.flush()
    everything = read_to_end(house.administration(), TOPIC)
    found = [record.value for batch in everything for record in batch]
    assert found.count(sent) == 2
    both_get_in(connection, java)


@pytest.mark.parametrize("listener", LISTENERS, ids=listener_name)
def test_what_one_wants_in_ones_own_words_serves_both_clients(
    house: SecuredBroker, java: JavaClient, tmp_path: Path, listener: Listener
) -> None:
    file = tmp_path / "evergrid.yaml"
    bootstrap = house.section(listener, ANNA)["bootstrap"]
    security = in_own_words(house, listener)
    file.write_text(yaml.safe_dump({"kafka": {"bootstrap": bootstrap, "security": security}}))
    connection = load(file, {}).kafka.source
    both_get_in(connection, java)


def test_scope_and_extensions_arrive_from_both_clients(
    house: SecuredBroker, java: JavaClient, tmp_path: Path
) -> None:
    """The scope at the token endpoint, and the extensions beside the token at the broker."""
    listener = Listener(Protocol.SASL_PLAINTEXT, Mechanism.OAUTHBEARER)
    bootstrap = house.section(listener, ANNA)["bootstrap"]
    assert house.tokens is not None
    asked: list[Callable[[Connection], object]] = [reach, java.reach]
    for ask in asked:
        house.tokens.scopes.clear()
        with Wiretap(int(bootstrap.rpartition(":")[2])) as tap:
            file = tmp_path / "evergrid.yaml"
            section = {"bootstrap": tap.address, "security": in_own_words(house, listener)}
            file.write_text(yaml.safe_dump({"kafka": section}))
            ask(load(file, {}).kafka.source)
            # RFC 7628: the token, then key=value pairs, each ended by ^A.
            said = re.findall(rb"\x01auth=Bearer ([\w.-]+)\x01(.*?)\x01\x01", tap.heard)
        assert set(house.tokens.scopes) == {(ANNA, "kafka")}
        tokens = {token.decode() for token, _ in said}
        assert tokens
        assert tokens <= set(house.tokens.given)
        assert {extensions for _, extensions in said} == {b"traceId=123"}


def in_own_words(house: SecuredBroker, listener: Listener) -> dict[str, object]:
    words: dict[str, object] = {"tls": listener.protocol.is_encrypted}
    if listener.protocol.is_encrypted:
        words["ca"] = str(house.ca)
    if listener.client_certificates:
        words |= dict.fromkeys(("certificate", "key"), str(house.directory / f"{ANNA}.pem"))
    if listener.mechanism is None:
        return words
    words["mechanism"] = listener.mechanism.value
    secret = f"${{file:{house.directory / ANNA}.password}}"
    if listener.mechanism is not Mechanism.OAUTHBEARER:
        return words | {"user": ANNA, "password": secret}
    assert house.tokens is not None
    return words | {
        "token_url": house.tokens.url,
        "client_id": ANNA,
        "client_secret": secret,
        "scope": "kafka",
        "extensions": {"traceId": "123"},
        "token_ca": str(house.ca),
    }


@contextlib.contextmanager
def wrong_password(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
    file, connection = house.directory / f"{ANNA}.password", house.connection(listener, ANNA)
    right = file.read_text()
    write_secret(file, "not-the-right-one")
    yield connection
    write_secret(file, right)


@contextlib.contextmanager
def unknown_user(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
    yield changed(house.connection(listener, ANNA), "sasl.jaas.config", f'"{ANNA}"', '"who"')


@contextlib.contextmanager
def another_authority(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
    other = CertificateAuthority().write(house.directory / "other.pem")
    connection = house.connection(listener, ANNA)
    yield changed(connection, "ssl.truststore.location", str(house.ca), str(other))


@contextlib.contextmanager
def another_token_authority(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
    other = CertificateAuthority().write(house.directory / "other.pem")
    connection = house.connection(listener, ANNA)
    yield changed(connection, "sasl.jaas.config", str(house.ca), str(other))


@contextlib.contextmanager
def expired_server(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
    certify(house, listener, until=AN_HOUR_AGO)
    yield house.connection(listener, ANNA)
    certify(house, listener)


def own_certificate(made: Callable[[SecuredBroker], str]) -> Break:
    @contextlib.contextmanager
    def breaking(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
        file = house.directory / f"{ANNA}.pem"
        right = file.read_text()
        write_secret(file, made(house))
        yield house.connection(listener, ANNA)
        write_secret(file, right)

    return breaking


def expired_client(house: SecuredBroker) -> str:
    made = house.authority.client(ANNA, until=AN_HOUR_AGO)
    return made.key_pem + made.pem


def foreign_client(_house: SecuredBroker) -> str:
    made = CertificateAuthority().client(ANNA)
    return made.key_pem + made.pem


@contextlib.contextmanager
def expired_tokens(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
    assert house.tokens is not None
    before, house.tokens.lifetime = house.tokens.lifetime, -5.0
    yield house.connection(listener, ANNA)
    house.tokens.lifetime = before


@contextlib.contextmanager
def no_endpoint(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
    assert house.tokens is not None
    house.tokens.stop()
    yield house.connection(listener, ANNA)
    house.tokens.start()


def at(other: Listener) -> Break:
    """The right settings at a listener that wants others."""

    @contextlib.contextmanager
    def breaking(house: SecuredBroker, listener: Listener) -> Iterator[Connection]:
        bootstrap, connection = (
            house.connection(other, ANNA).bootstrap,
            house.connection(listener, ANNA),
        )
        yield msgspec.structs.replace(connection, bootstrap=bootstrap, template=None)

    return breaking


def changed(connection: Connection, name: str, old: str, new: str) -> Connection:
    value = connection.properties[name]
    assert old in value
    properties = {**connection.properties, name: value.replace(old, new)}
    return msgspec.structs.replace(connection, properties=properties, template=None)


NO_LOGIN = "authentication failed for user {}. Correct user or password"
NO_SECRET = "authentication failed for client {} at the token endpoint https://*. Correct id"
BAD_TOKEN = f"the broker rejected the token of client {ANNA}. Compare the clocks"
CASES: list[tuple[Listener, Break, str, str]] = [
    *(
        (listener, wrong_password, NO_LOGIN.format(ANNA), "")
        for listener in LOGINS
        if listener.mechanism is not Mechanism.OAUTHBEARER
    ),
    (SCRAM, unknown_user, NO_LOGIN.format("who"), ""),
    (OAUTH, wrong_password, NO_SECRET.format(ANNA), ""),
    (OAUTH, unknown_user, NO_SECRET.format("who"), ""),
    (
        OAUTH,
        expired_tokens,
        "returns expired tokens. Compare the clocks",
        BAD_TOKEN,
    ),
    (OAUTH, no_endpoint, "/token cannot be reached. Check that it runs", ""),
    (OAUTH, another_token_authority, "certificate that is not trusted (*). Set kafka.", ""),
    (TLS, another_authority, "the broker's certificate is not trusted (*). Set kafka.sec", ""),
    (SCRAM, another_authority, "the broker's certificate is not trusted", ""),
    (SCRAM, expired_server, "the broker's certificate has expired. Ask the cluster's", ""),
    (
        CERTIFIED,
        own_certificate(expired_client),
        f"our certificate of CN={ANNA} expired at {AN_HOUR_AGO:%Y-%m-%d %H:%M} UTC. Replace",
        "",
    ),
    (CERTIFIED, own_certificate(foreign_client), "the broker rejected our client certificate", ""),
    (
        TLS,
        at(CERTIFIED),
        "the broker requires a client certificate, and none is configured. Set",
        "",
    ),
    (
        PLAIN,
        at(SCRAM),
        "the broker expects TLS, and this connection is plaintext. Set security.protocol",
        "",
    ),
    (SCRAM, at(PLAIN), "the broker does not use TLS on this port. Correct kafka.bootstrap", ""),
    (SCRAM, at(OAUTH), "SCRAM-SHA-512 is not enabled on the broker, only OAUTHBEARER. Correct", ""),
    (TLS, at(SCRAM), "the broker closed the connection; it may require a SASL login. Set", ""),
]


@pytest.mark.parametrize(
    ("listener", "breaking", "python", "java_says"),
    CASES,
    ids=[f"{number}-{case[0].name}" for number, case in enumerate(CASES)],
)
def test_what_keeps_a_client_out_is_one_sentence_and_can_be_mended(
    house: SecuredBroker,
    java: JavaClient,
    listener: Listener,
    breaking: Break,
    python: str,
    java_says: str,
) -> None:
    good = house.connection(listener, ANNA)
    with breaking(house, listener) as connection:
        said = told(lambda: reach(connection), python)
        by_java = told(lambda: java.reach(connection), java_says or python)
    for sentence in (said, by_java):
        assert f"({connection.bootstrap}, {listener.protocol.value}" in sentence
        assert house.accounts[ANNA].password not in sentence
        assert "not-the-right-one" not in sentence
        if listener.mechanism is not None:
            assert listener.mechanism.value in sentence
    both_get_in(good, java)


def both_get_in(connection: Connection, java: JavaClient) -> None:
    gets_in(lambda: reach(connection).brokers)
    gets_in(lambda: java.reach(connection))


def gets_in(brokers: Callable[[], int]) -> None:
    def answer() -> int | str:
        try:
            return brokers()
        except LinkError as error:
            return error.sentence()

    wait_for(answer, lambda found: found == 1, RETRY_SECONDS)


def told(ask: Callable[[], object], pattern: str) -> str:
    """The sentence that fits; getting in would be wrong at any time."""
    words = re.compile(re.escape(pattern).replace(r"\*", ".*"))
    return wait_for(lambda: refused(ask), lambda said: bool(words.search(said)), RETRY_SECONDS)


def refused(ask: Callable[[], object]) -> str:
    with pytest.raises(LinkError) as caught:
        ask()
    return caught.value.sentence()


def test_a_missing_right_is_named(house: SecuredBroker, java: JavaClient) -> None:
    connection, administration = house.connection(SCRAM, ANNA), house.administration()
    topic = "private"
    topics.create(administration, [NewTopicSpec(topic, 1)])
    denied = f"SASL_SSL, SCRAM-SHA-512, user {ANNA}): could not {{}} topic {topic}: "
    denied += f"authorization failed for user {ANNA}. Ask the cluster's administrator"
    sender = Sender(connection)
    sender.send(topic, b"x")
    for ask, doing in (
        (lambda: topics.describe(connection, [topic]), "describe"),
        (lambda: topics.create(connection, [NewTopicSpec("new-one", 1)]), "create"),
        (lambda: java.read(connection, topic), "read"),
        (lambda: java.write(connection, topic, b"x"), "write to"),
    ):
        expected = denied.format(doing).replace(f"create topic {topic}", "create topic new-one")
        assert expected in refused(ask)
    assert denied.format("write to") in refused(sender.flush)
    rights = [Right(topic, (Operation.READ, Operation.WRITE, Operation.DESCRIBE))]
    grant(administration, SCRAM.principal(ANNA), rights)
    java.write(connection, topic, b"x")
    java.read(connection, topic)
    revoke(administration, SCRAM.principal(ANNA), rights)


def test_a_rotated_password_is_taken_by_new_clients(house: SecuredBroker, java: JavaClient) -> None:
    for listener in (SCRAM, OAUTH):
        grant(
            house.administration(), listener.principal(BEN), [Right(TOPIC, (Operation.DESCRIBE,))]
        )
        connection = house.connection(listener, BEN)
        watch = TopicWatch(connection)
        both_get_in(connection, java)
        assert TOPIC in watch.describe([TOPIC])
        set_password(house, BEN, ODD)
        both_get_in(connection, java)
        assert TOPIC in watch.describe([TOPIC])


@pytest.fixture
def served(house: SecuredBroker, tmp_path: Path) -> SecuredWorld:
    return handwritten(house, tmp_path, "served")


def handwritten(house: SecuredBroker, tmp_path: Path, name: str) -> SecuredWorld:
    """A table written by hand, for a gateway that logs in with a password."""
    stage = SecuredWorld(tmp_path, house, SCRAM, name)
    settings = load(stage.viewing.file, {})
    everywhere = house.administration()
    kafka = Kafka(source=everywhere, control=everywhere, internal=everywhere)
    pipeline = HandwrittenPipeline(msgspec.structs.replace(settings, kafka=kafka))
    generation = pipeline.prepare(1)
    pipeline.write(generation.tables["users_ui"], "0:1", PERSON)
    pipeline.switch(generation)
    return stage


def test_a_gateway_that_cannot_log_in_says_so_everywhere_and_goes_on_by_itself(
    house: SecuredBroker, served: SecuredWorld
) -> None:
    password = house.directory / f"{GATEWAY}.password"
    right = password.read_text()
    write_secret(password, "not-the-right-one")
    gateway = served.gateway()
    shut_out = f"SCRAM-SHA-512, user {GATEWAY}): could not connect: authentication failed"
    with gateway, ViewerGroup(gateway.address, gateway.secret) as audience:
        viewer = audience.add("users_ui")
        viewer.wait_for(lambda window: shut_out in window.message, PATIENCE)
        wait_for(gateway.readiness, lambda answer: shut_out in answer[1], PATIENCE)
        assert gateway.readiness()[0] == 503
        gateway.process.wait_for_words(shut_out, PATIENCE)
        write_secret(password, right)
        viewer.wait_for(lambda window: window.live and window.total == 1, PATIENCE)
        gateway.wait_until_ready()

        # A rotation that went wrong, and the right one: open connections do not hide either.
        new = set_password(house, GATEWAY).password
        write_secret(password, "not-the-right-one")
        viewer.wait_for(lambda window: not window.live and shut_out in window.message, PATIENCE)
        write_secret(password, new)
        viewer.wait_for(lambda window: window.live and window.total == 1, PATIENCE)

        reading = served.needs.gateway()
        revoke(house.administration(), SCRAM.principal(GATEWAY), reading)
        denied = f"authorization failed for user {GATEWAY}"
        viewer.wait_for(lambda window: not window.live and denied in window.message, PATIENCE)
        grant(house.administration(), SCRAM.principal(GATEWAY), reading)
        viewer.wait_for(lambda window: window.live and window.total == 1, PATIENCE)
        audience.check()
        states = [sight.state for sight in viewer.sights]
        assert Live.WAITING not in states[states.index(Live.LIVE) :], "it was there all the time"
        said = gateway.process.said()
    assert not {right, new, "not-the-right-one"} & set(re.findall(r"[\w-]+", said))


def test_a_pipeline_that_is_not_let_in_says_so_and_is_started_again(
    house: SecuredBroker, tmp_path: Path
) -> None:
    stage = SecuredWorld(tmp_path, house, SCRAM, "refused")
    stage.world.make_topics()
    password = house.directory / f"{PIPELINE}.password"
    right = password.read_text()
    write_secret(password, "not-the-right-one")
    create_key(stage.world.data_dir / "keys.yaml", "anybody")
    both = EvergridProcess(
        ["run", "-c", str(stage.world.file)],
        tmp_path / "run.txt",
        {**os.environ, "EVERGRID_GATEWAY__PORT": str(free_port())},
    )
    with both:
        both.wait_for_words(NO_LOGIN.format(PIPELINE), PATIENCE)
        both.wait_for_words("The pipeline ended with exit code 75; again in", PATIENCE)
        write_secret(password, right)
        both.wait_for_words("Generation 1 is live", PATIENCE)
    assert f"SASL_SSL, SCRAM-SHA-512, user {PIPELINE}): could not" in both.said()
    assert "Traceback" not in both.said()


def test_check_goes_step_by_step_with_each_client(house: SecuredBroker, tmp_path: Path) -> None:
    stage = SecuredWorld(tmp_path, house, SCRAM, "checked")
    stage.world.make_topics()
    way = f"TLS agreed, login accepted (SCRAM-SHA-512, user {PIPELINE}), 1 broker answered"
    here, administration = stage.world.file, house.administration()
    assert checked(here) == [
        f"✓ Python client: {way}",
        f"✓ Java client: {way}",
        "✓ Source users: topic users-checked seen (2 partitions), readable",
        "✓ Source accounts: topic accounts-checked seen (2 partitions), readable",
        "✓ Control topic control-checked: does not exist yet; it can be made",
        "✓ Evergrid's own topics eg-checked.*: can be made",
        "✓ Evergrid's own topics: eg-checked.check was made, written to by both clients, read and "
        "deleted",
    ]
    denied = f": authorization failed for user {PIPELINE}. Ask the cluster's administrator"
    making = Right("control-checked", (Operation.CREATE,))
    revoke(administration, SCRAM.principal(PIPELINE), [making])
    _, _, _, _, tried, *_ = ConnectionChecks(load(here, {}), None).findings()
    assert f"could not create topic control-checked{denied}" in tried.text

    topics.create(administration, [NewTopicSpec("control-checked", 1)])
    _, _, _, _, tried, *_ = ConnectionChecks(load(here, {}), None).findings()
    assert tried == Finding(True, "Control topic control-checked: seen (1 partition), readable")
    reading = [Right(name, (Operation.READ,)) for name in ("users-checked", "control-checked")]
    writing = Right("eg-checked.", (Operation.WRITE,), prefixed=True)
    revoke(administration, SCRAM.principal(PIPELINE), [writing, *reading])
    _, _, source, _, control, _, own = checked(here)
    for line, doing in (
        (source, "read topic users-checked"),
        (control, "read topic control-checked"),
        (own, "write to topic eg-checked.check"),
    ):
        assert line.startswith("✗ ")
        assert f"could not {doing}{denied}" in line
    assert "eg-checked.check" not in reach(administration).topics

    password = house.directory / f"{PIPELINE}.password"
    right = password.read_text()
    write_secret(password, "not-the-right-one")
    python, java = checked(here)
    write_secret(password, right)
    for line, client in ((python, "Python"), (java, "Java")):
        assert line.startswith(f"✗ {client} client: TLS agreed, then failed. Kafka connection")
        assert NO_LOGIN.format(PIPELINE) in line


def test_check_for_a_gateway_is_content_with_a_gateways_rights(
    house: SecuredBroker, tmp_path: Path
) -> None:
    stage = handwritten(house, tmp_path, "looked-at")
    way = f"TLS agreed, login accepted (SCRAM-SHA-512, user {GATEWAY}), 1 broker answered"
    python, control, own = checked(stage.viewing.file, "--for", "gateway")
    assert python == f"✓ Python client: {way}"
    assert control.endswith("control-looked-at: does not exist yet; the pipeline makes it")
    topics.create(house.administration(), [NewTopicSpec("control-looked-at", 1)])
    _, control, own = checked(stage.viewing.file, "--for", "gateway")
    assert control == "✓ Control topic control-looked-at: seen (1 partition)"
    shown = r"✓ Evergrid's own topics eg-looked-at\.\*: \d+ topics seen, readable"
    assert re.fullmatch(shown, own)
    assert "eg-looked-at.check" not in reach(house.administration()).topics

    denied = f": authorization failed for user {GATEWAY}. Ask the cluster's administrator"
    reading = Right("eg-looked-at.", (Operation.READ,), prefixed=True)
    seeing = Right("control-looked-at", (Operation.WRITE, Operation.DESCRIBE))
    revoke(house.administration(), SCRAM.principal(GATEWAY), [reading, seeing])
    _, control, own = checked(stage.viewing.file, "--for", "gateway")
    assert f"could not describe topic control-looked-at{denied}" in control
    assert f"could not read topic eg-looked-at.manifest{denied}" in own


def checked(file: Path, *arguments: str) -> list[str]:
    """What `evergrid check` finds out about Kafka, once it has reached the host."""
    command = [sys.executable, "-m", "evergrid", "check", "-c", str(file), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert not done.stderr, done.stderr
    assert "not-the-right-one" not in done.stdout
    _, reached, rest = done.stdout.partition(": host reached\n")
    assert reached, done.stdout
    return [line for line in rest.splitlines() if line.startswith(("✓", "✗"))]
