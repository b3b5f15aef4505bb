"""What is said of a broker that does not answer as it should, found out at real sockets."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from tests.support.fault_proxy import FaultProxy

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.config.sasl import Mechanism
from evergrid.config.settings import Connection
from evergrid.kafka import cluster_probe, socket_probe
from evergrid.kafka.cluster_probe import ClusterProbe, reach
from evergrid.kafka.diagnosis import Step, diagnose, probe_connection, wants_login
from evergrid.kafka.identity import where
from evergrid.kafka.socket_probe import Reply
from evergrid.model.errors import LinkError
from evergrid.testing.changelog_tables import wait_for

PLAINTEXT = Listener(Protocol.PLAINTEXT)
SSL = Listener(Protocol.SSL)
LOGIN = Listener(Protocol.SASL_PLAINTEXT, Mechanism.PLAIN)
SECURED_LOGIN = Listener(Protocol.SASL_SSL, Mechanism.PLAIN)
LISTENERS = [PLAINTEXT, SSL, LOGIN, SECURED_LOGIN]
LIMIT = 60.0
HASTE = 0.5
SILENT = "the broker accepts connections but does not answer"
ALERT = b"\x15\x03\x03\x00\x02\x02\x28"  # handshake failure

Answer = Callable[[socket.socket], None]


def say_nothing(_: socket.socket) -> None:
    """Whoever asks waits until the test is over."""


def hang_up(caller: socket.socket) -> None:
    caller.close()


def read_and_hang_up(caller: socket.socket) -> None:
    caller.recv(65_536)
    caller.close()


def reset(caller: socket.socket) -> None:
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    caller.close()


def alert(caller: socket.socket) -> None:
    caller.recv(65_536)
    caller.sendall(ALERT)
    caller.close()


def speak_http(caller: socket.socket) -> None:
    caller.recv(65_536)
    caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    caller.close()


@contextlib.contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """The address of somebody who takes every call, and does this with it."""
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    caller, _ = server.accept()
                    taken.append(caller)
                    with contextlib.suppress(OSError):
                        answer(caller)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for caller in taken:
                caller.close()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who answers may take its time."""
    monkeypatch.setattr(socket_probe, "_SECONDS", LIMIT)


@pytest.fixture
def hasty(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """For an answer that never comes."""
    monkeypatch.setattr(socket_probe, "_SECONDS", HASTE)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with SecuredBroker(tmp_path_factory.mktemp("house"), LISTENERS, ("anna",)) as running:
        yield running


def by(bootstrap: str, protocol: Protocol) -> Connection:
    return Connection("source", bootstrap, {"security.protocol": protocol.value})


@pytest.mark.parametrize(
    ("answer", "to_tls", "reply"),
    [
        (say_nothing, Reply.SILENCE, Reply.SILENCE),
        (hang_up, Reply.CLOSED, Reply.CLOSED),
        (read_and_hang_up, Reply.CLOSED, Reply.CLOSED),
        (reset, Reply.CLOSED, Reply.CLOSED),
        (alert, Reply.ANSWER, Reply.ANSWER),
        (speak_http, Reply.CLOSED, Reply.ANSWER),
    ],
)
def test_silence_is_told_from_hanging_up_and_from_speaking(
    answer: Answer, to_tls: Reply, reply: Reply, monkeypatch: pytest.MonkeyPatch
) -> None:
    if answer is say_nothing:
        monkeypatch.setattr(socket_probe, "_SECONDS", HASTE)
    with answering(answer) as address:
        connection = by(address, Protocol.PLAINTEXT)
        assert socket_probe.reply_to_tls(connection) is to_tls
        assert socket_probe.reply(connection) is reply
    assert socket_probe.reply_to_tls(connection) is Reply.SILENCE, "nobody is there any more"
    assert socket_probe.reply(connection) is Reply.SILENCE


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.usefixtures("hasty")
def test_nobody_is_told_to_change_security_for_a_broker_that_says_nothing(
    protocol: Protocol,
) -> None:
    with answering(say_nothing) as address:
        connection = by(address, protocol)
        found = probe_connection(connection)
        assert found is not None
        assert found.what == SILENT
        assert found.step is not Step.HOST
        assert "security.protocol" not in found.remedy
        assert wants_login(connection) is None
        for words in ("SSL handshake failed: wrong version number", "SSLException: closed"):
            heard = diagnose(connection, words)
            assert heard is None or heard.what == SILENT


@pytest.mark.parametrize("protocol", [Protocol.SSL, Protocol.SASL_SSL])
def test_who_hangs_up_on_tls_or_answers_in_other_words_does_not_speak_it(
    protocol: Protocol,
) -> None:
    for answer in (read_and_hang_up, speak_http):
        with answering(answer) as address:
            found = probe_connection(by(address, protocol))
            assert found is not None
            assert found.what == "the broker does not use TLS on this port"
    with answering(alert) as address:
        assert probe_connection(by(address, protocol)) is None


def test_a_broker_that_is_gone_is_not_said_to_speak_no_tls() -> None:
    with answering(say_nothing) as address:
        pass
    found = diagnose(by(address, Protocol.SSL), "SSL handshake failed: Disconnected")
    assert found is not None
    assert found.step is Step.HOST


@pytest.mark.parametrize("alert", ["certificate_unknown", "bad_certificate", "unknown_ca"])
def test_javas_own_alert_is_told_from_the_brokers(house: SecuredBroker, alert: str) -> None:
    """Java, from some version on, puts what it would send itself in front of why."""
    connection = house.connection(SSL, "anna")
    own = f"SSLHandshakeException: ({alert}) PKIX path building failed: unable to find valid"
    found = diagnose(connection, own)
    assert found is not None
    assert "the broker's certificate is not trusted" in found.what
    found = diagnose(connection, f"SSLHandshakeException: ({alert}) Received fatal alert: {alert}")
    assert found is not None
    assert "the broker requires a client certificate" in found.what


def test_a_real_broker_is_heard_as_it_is(house: SecuredBroker) -> None:
    for listener in LISTENERS:
        connection = house.connection(listener, "anna")
        spoken = Reply.ANSWER if listener.protocol.is_encrypted else Reply.CLOSED
        assert socket_probe.reply_to_tls(connection) is spoken
        assert socket_probe.reply(connection) is Reply.ANSWER
        assert probe_connection(connection) is None
        assert wants_login(connection) is None
    for ours, theirs in ((PLAINTEXT, LOGIN), (SSL, SECURED_LOGIN)):
        bootstrap = house.broker.address(theirs.name)
        found = wants_login(by(bootstrap, ours.protocol))
        assert found is not None
        assert theirs.protocol.value in found.remedy


def test_an_authority_with_words_beside_it_is_trusted_or_not_as_it_is(house: SecuredBroker) -> None:
    bootstrap = house.broker.address(SSL.name)
    broken = "-----BEGIN CERTIFICATE-----\nü\n-----END CERTIFICATE-----\n"
    for authority, is_another in (
        (house.authority.pem, False),
        (CertificateAuthority().pem, True),
        (broken, False),  # which the client tells
        ("ü", False),
    ):
        trust = {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": f"# Zürich → 東京\n{authority}",
        }
        told = socket_probe.why_untrusted(Connection("source", bootstrap, trust))
        assert bool(told) is is_another


@pytest.mark.parametrize("listener", LISTENERS, ids=lambda listener: listener.name)
@pytest.mark.usefixtures("hasty")
def test_a_real_broker_that_is_stuck_is_said_to_be_so_and_then_to_be_gone(
    house: SecuredBroker, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_probe, "_DIAGNOSE_SECONDS", 0.5)
    good = house.connection(listener, "anna")
    with FaultProxy(int(good.bootstrap.rpartition(":")[2])) as way:
        way.hold()
        stuck = Connection("source", f"127.0.0.1:{way.port}", good.properties)
        with pytest.raises(LinkError, match=SILENT) as caught:
            reach(stuck, 1.0)
        assert "security.protocol" not in caught.value.remedy
        probe = ClusterProbe(stuck)
        wait_for(lambda: why(probe), lambda told: SILENT in told, LIMIT)
    gone = f"{where(stuck)} does not answer."
    wait_for(lambda: why(probe), lambda told: told == gone, LIMIT)


def why(probe: ClusterProbe) -> str:
    assert probe.ask(0.5) is None
    return probe.reason()
