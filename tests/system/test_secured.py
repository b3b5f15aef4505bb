"""Source message to client window through a secured broker, with the rights that are needed and
no more; and what keeps it from that is said, and is over when it is restore_line_breaks."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import evergrid
from evergrid.broker import jars
from evergrid.broker.listeners import Listener
from evergrid.broker.rights import Operation, ResourceKind, Right, grant
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.changelog.codec import Row
from evergrid.client import Client, ClientError, Timeouts
from evergrid.config import load
from evergrid.config.sasl import Mechanism, login
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.source import TopicEnd
from evergrid.pipeline.kafka_frames import kafka_options, message_history
from evergrid.pipeline.session import end_session, open_session
from evergrid.process.java import java_home
from evergrid.process.private_directory import write_secret
from evergrid.protocol.messages import Live
from evergrid.testing.changelog_tables import wait_for
from evergrid.testing.evergrid_process import EvergridProcess
from evergrid.testing.installation import SHORT_LIVED
from tests.support.broker_changes import revoke
from tests.support.free_ports import free_port
from tests.support.pauses import Pauses
from tests.support.reference_viewer import Viewer, ViewerGroup
from tests.system.canary import Canary, lines
from tests.system.conftest import PATIENCE
from tests.system.gateways import GatewayProcess
from tests.system.secured import (
    ACCOUNTS,
    FEEDER,
    GATEWAY,
    LISTENERS,
    OAUTH,
    PIPELINE,
    SCRAM,
    TABLE,
    SecuredWorld,
    listener_name,
    telling,
)
from tests.system.swapping import turn_to

EAGER = Timeouts(first_wait=0.1, longest_wait=1.0)
TOKEN_SECONDS = 6.0
LIFETIMES = 5
WRONG = "not-the-right-one"
LITERAL = "written-in-the-file-as-it-is"
OVERRULED = "written-there-and-not-what-counts"
TRUST, STORE = "opens-the-trust-store", "opens-the-key-store"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with SecuredBroker(tmp_path_factory.mktemp("house"), LISTENERS, ACCOUNTS) as running:
        yield running


@contextlib.contextmanager
def whole(
    stage: SecuredWorld, generations: int = 1
) -> Iterator[tuple[EvergridProcess, GatewayProcess, Viewer]]:
    """Pipeline, gateway, and somebody who sees all of the joined table."""
    stage.world.make_topics()
    stage.send()
    gateway = stage.gateway()
    with (
        telling(stage.world),
        stage.world.start_live() as pipeline,
        gateway,
        ViewerGroup(gateway.address, gateway.secret, EAGER) as audience,
    ):
        viewer = audience.add(TABLE, limit=5000)
        stage.wait_until_shown(viewer)
        yield pipeline, gateway, viewer
        audience.check()
        assert pipeline.is_running()
        assert f"Preparing generation {generations + 1}" not in pipeline.said()


def test_sparks_client_reads_and_writes_by_every_way(house: SecuredBroker, tmp_path: Path) -> None:
    settings = load(None, {})
    small = msgspec.structs.replace(settings.spark, driver_memory="1g", settings=SHORT_LIVED)
    settings = msgspec.structs.replace(settings, data_dir=tmp_path, spark=small)
    spark = open_session(settings, jars.fetch(), slots=2)
    try:
        for listener in LISTENERS:
            topic = f"by-{listener.name}"
            every = Right(topic, (Operation.READ, Operation.WRITE, Operation.DESCRIBE))
            topics.create(house.administration(), [NewTopicSpec(topic, 1)])
            grant(house.administration(), listener.principal(PIPELINE), [every])
            connection = house.connection(listener, PIPELINE)
            changes = spark.createDataFrame(
                [(topic, "k", "v")], "topic string, key string, value string"
            )
            changes.write.format("kafka").options(**kafka_options(connection)).save()
            ends = topics.offsets(house.administration(), topic, TopicEnd.LATEST)
            rows = message_history(spark, connection, topic, {0: 0}, ends).collect()
            assert [bytes(row["value"]) for row in rows] == [b"v"], listener
    finally:
        end_session(spark)


def test_tokens_that_expire_every_few_seconds_and_an_endpoint_that_is_away(
    house: SecuredBroker, tmp_path: Path
) -> None:
    tokens = house.tokens
    assert tokens is not None
    ui = free_port()
    stage = SecuredWorld(tmp_path, house, OAUTH, "tokens", spark=talkative(tmp_path, ui))
    tokens.lifetime = TOKEN_SECONDS
    with Pauses() as pauses, whole(stage, generations=3) as (pipeline, gateway, viewer):
        before, seen, start = tokens.issued.copy(), len(viewer.sights), time.monotonic()
        while time.monotonic() - start < LIFETIMES * TOKEN_SECONDS:  # the run itself
            stage.send()
            time.sleep(0.2)  # the pace of the load
        stage.wait_until_shown(viewer)
        lifetimes = (time.monotonic() - start) / TOKEN_SECONDS
        issued = tokens.issued - before
        print(f"tokens in {lifetimes:.1f} lifetimes: {issued}")
        # A busy machine may be slow to answer; but nobody was ever shut out, unless the endpoint
        # stood still, which is in this process.
        stood_still = pauses.longest > TOKEN_SECONDS / 2
        stale = {s.message for s in viewer.sights[seen:] if s.state is not Live.LIVE}
        shut_out = [message for message in stale if "could not" in message or "token" in message]
        assert not shut_out or stood_still
        # A gateway has a reader and a probe, each with a token of its own; a pipeline two writers,
        # a reader, Spark's Java, and clients for its looks at topics, control topic and rows. None
        # asks more than three times in the time of a token, and no query falls again and again.
        assert issued[GATEWAY] <= 3 * 2 * (lifetimes + 1)
        assert issued[PIPELINE] <= 3 * 7 * (lifetimes + 1)
        assert "again in 4 s" not in pipeline.said() or stood_still

        tokens.stop()
        away = f"the token endpoint {tokens.url} cannot be reached. Check that it runs"
        viewer.wait_for(lambda window: not window.live and away in window.message, PATIENCE)
        pipeline.wait_for_words(away, PATIENCE)
        stage.send()
        tokens.start()
        stage.wait_until_shown(viewer)
        other_topics_need_rights_too(stage, house, gateway)
        stage.send()
        stage.wait_until_shown(viewer)
        canary = Canary(token_secrets(house, gateway))
        search_running(canary, gateway, ui)
    tokens.lifetime = 300.0
    search_left_behind(canary, house, stage, tmp_path)
    assert canary.found == []


def token_secrets(house: SecuredBroker, gateway: GatewayProcess) -> dict[str, str]:
    """Of those who log in with tokens. All tokens of an endpoint begin alike, so that half of one
    is found as well."""
    assert house.tokens is not None
    beginning, _, rest = house.tokens.given[-1].partition(".")
    return {
        "an access token": beginning,
        "the newest access token": rest,
        "the pipeline's client secret": house.accounts[PIPELINE].password,
        "the gateway's client secret": house.accounts[GATEWAY].password,
        "the gateway's key": gateway.secret,
    }


def search_running(canary: Canary, gateway: GatewayProcess, ui: int) -> None:
    canary.search_processes()
    assert "kafka" in canary.search_spark(f"http://127.0.0.1:{ui}")
    for path in ("/", "/metrics", "/readyz", "/api/tables", "/api/pipeline", "/openapi.json"):
        canary.search(path, gateway.ask(path)[1])


def search_left_behind(
    canary: Canary, house: SecuredBroker, stage: SecuredWorld, folder: Path
) -> None:
    canary.search_topics(house.administration(), stage.needs.prefix)
    canary.search_topics(house.administration(), stage.needs.control)
    canary.search_files(folder, stage.world.file, stage.viewing.file)
    canary.search_files(house.directory / "broker" / "log")
    assert canary.places > 100


def other_topics_need_rights_too(
    stage: SecuredWorld, house: SecuredBroker, gateway: GatewayProcess
) -> None:
    """A change is refused while a right is missing, and carried out when it is there."""
    other = f"users-{stage.name}.v2"
    administration = house.administration()
    topics.create(administration, [NewTopicSpec(other, 2, 1, {"retention.ms": "-1"})])
    with evergrid.connect(gateway.address, gateway.secret) as client:
        refused = verdict_on(stage, ask(client, usersTopic=other))
        assert refused["verdict"] == "failed"
        assert "authorization failed for client pipeline" in str(refused["reason"])
        stage.grant(PIPELINE, (Right(other, (Operation.READ, Operation.DESCRIBE)),))
        applied = verdict_on(stage, ask(client, usersTopic=other, joinType="asof"))
    assert applied["verdict"] == "applied", applied
    turn_to(stage.world, {"users": other}, {"final": "asof"})


def ask(client: Client, **fields: str) -> str:
    """The message's row; of a gateway that says to ask again, it is asked again."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return client.ask(**fields).row_id
        except ClientError as error:
            if not error.retry or time.monotonic() > deadline:
                raise
            time.sleep(1)  # Kafka was slow for some seconds


def verdict_on(stage: SecuredWorld, row_id: str) -> Row:
    return wait_for(
        lambda: stage.world.table("control_raw").get(row_id, {}),
        lambda row: row.get("verdict") in ("applied", "failed", "invalid", "ignored"),
        PATIENCE,
    )


def test_rights_and_passwords_that_go_and_come_and_no_secret_anywhere(
    house: SecuredBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ui = free_port()
    monkeypatch.setenv("EVERGRID_TEST_PASSWORD", house.accounts[GATEWAY].password)
    monkeypatch.setenv(
        "EVERGRID_KAFKA__CONTROL__SECURITY__PASSWORD", house.accounts[FEEDER].password
    )
    stage = canary_stage(house, tmp_path, ui)
    with whole(stage) as (pipeline, gateway, viewer):
        reading = Right("users-rights", (Operation.READ,))
        writing = Right("eg-rights.", (Operation.WRITE,), prefixed=True)
        for right, doing in ((reading, "read topic users-rights"), (writing, "write to topic eg-")):
            revoke(house.administration(), SCRAM.principal(PIPELINE), [right])
            stage.send()
            pipeline.wait_for_words(f"SCRAM-SHA-512, user pipeline): could not {doing}", PATIENCE)
            stage.grant(PIPELINE, (right,))
            stage.wait_until_shown(viewer)

        house.broker.kill()  # so that everybody has to log in again
        password = house.directory / f"{PIPELINE}.password"
        right_one = password.read_text()
        write_secret(password, WRONG)
        house.broker.start()
        stage.send()
        pipeline.wait_for_words("authentication failed for user pipeline", PATIENCE)
        write_secret(password, right_one)
        stage.wait_until_shown(viewer)

        with evergrid.connect(gateway.address, gateway.secret) as client:
            row_id = ask(client, usersTopic="users-rights")
        assert verdict_on(stage, row_id)["verdict"] == "ignored"

        canary = Canary(secrets_of(house, gateway))
        search_running(canary, gateway, ui)
    search_left_behind(canary, house, stage, tmp_path)
    assert canary.found == []


def canary_stage(house: SecuredBroker, tmp_path: Path, ui: int) -> SecuredWorld:
    """Secrets by every road: files, the environment, the configuration, pasted lines, stores,
    variables that win over the configuration, Spark's own settings."""
    asking = {"security": wanted(house, FEEDER, OVERRULED)["security"]}
    stage = SecuredWorld(
        tmp_path,
        house,
        SCRAM,
        "rights",
        kafka={
            **wanted(house, PIPELINE, f"${{file:{house.directory / PIPELINE}.password}}"),
            "source": {"security": {}, "properties": pasted(house, tmp_path)},
            "control": asking,
        },
        viewing={**wanted(house, GATEWAY, "${env:EVERGRID_TEST_PASSWORD}"), "control": asking},
        spark=talkative(tmp_path, ui),
    )
    op = Operation
    stage.grant(
        FEEDER,
        (
            Right(stage.needs.control, (op.READ, op.WRITE, op.CREATE, op.DESCRIBE)),
            Right("evergrid", (op.DESCRIBE,), kind=ResourceKind.GROUP),
        ),
    )
    return stage


def talkative(tmp_path: Path, ui: int) -> dict[str, object]:
    """A `spark` section with all that tells of a query: its pages, and its log of events."""
    events = tmp_path / "events"
    events.mkdir()
    return {
        "settings": {
            **SHORT_LIVED,
            "spark.ui.enabled": "true",
            "spark.ui.port": str(ui),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
            "spark.ssl.ui.keyStorePassword": LITERAL,
        }
    }


def pasted(house: SecuredBroker, tmp_path: Path) -> dict[str, str]:
    """Java's own lines with the secrets in them, and stores that have passwords."""
    trust, key = tmp_path / "trust.p12", tmp_path / "key.p12"
    entry = ("-alias", "one", "-storetype", "PKCS12", "-noprompt")
    keytool("-importcert", *entry, "-file", house.ca, "-keystore", trust, "-storepass", TRUST)
    named = ("-dname", "CN=pipeline", "-keyalg", "EC")
    keytool("-genkeypair", *entry, *named, "-keystore", key, "-storepass", STORE)
    account = house.accounts[PIPELINE]
    options = {"username": account.name, "password": account.password}
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": login(Mechanism.SCRAM_SHA_512, options),
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": str(trust),
        "ssl.truststore.password": TRUST,
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(key),
        "ssl.keystore.password": STORE,
    }


def keytool(*arguments: str | Path) -> None:
    command = [str(java_home() / "bin" / "keytool"), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def wanted(house: SecuredBroker, account: str, password: str) -> dict[str, object]:
    """A `kafka` section in terms of what one wants; the certificate is more than is asked for."""
    security = {
        "ca": str(house.ca),
        "certificate": str(house.directory / f"{account}.pem"),
        "key": str(house.directory / f"{account}.pem"),
        "mechanism": "SCRAM-SHA-512",
        "user": account,
        "password": password,
    }
    return {"bootstrap": house.section(SCRAM, account)["bootstrap"], "security": security}


def secrets_of(house: SecuredBroker, gateway: GatewayProcess) -> dict[str, str]:
    """By the road on which each was put in."""
    return {
        "a file, or a pasted line": house.accounts[PIPELINE].password,
        "the environment": house.accounts[GATEWAY].password,
        "a variable that wins over the configuration": house.accounts[FEEDER].password,
        "the configuration": OVERRULED,
        "Spark's own settings": LITERAL,
        "a trust store's password": TRUST,
        "a key store's password": STORE,
        "the gateway's key": gateway.secret,
        "a wrong password": WRONG,
        **{
            f"line {number} of a private key": line
            for number, line in enumerate(lines(house.directory / f"{PIPELINE}.pem"))
        },
    }


@pytest.mark.soak(part="secured")
@pytest.mark.parametrize("listener", LISTENERS, ids=listener_name)
def test_the_whole_way_by_every_listener(
    house: SecuredBroker, tmp_path: Path, listener: Listener
) -> None:
    stage = SecuredWorld(tmp_path, house, listener, f"way-{listener.name.lower()}")
    with whole(stage) as (_, _, viewer):
        stage.send()
        stage.wait_until_shown(viewer)
