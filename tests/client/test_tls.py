"""An encrypted way to a gateway: what is wrong with it is said, and what passes is waited for."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from evergrid.broker.certificate_authority import LOOPBACK, CertificateAuthority
from evergrid.client import AsyncClient, AsyncWindows, Live, connect_async
from evergrid.client.client_errors import ClientError, Rejected, Unreachable
from evergrid.config.settings import Tls
from evergrid.model.table import Table
from evergrid.process.private_directory import write_secret
from tests.certificates import self_signed
from tests.client.people import QUICK, ids, person, until_async
from tests.support.local_gateway import LocalGateway

YESTERDAY = datetime.now(UTC) - timedelta(days=1)
# A TLS record: an alert, fatal, "internal error".
ALERT = b"\x15\x03\x03\x00\x02\x02\x50"
PLAIN_HTTP = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"


def certified(
    folder: Path,
    authority: CertificateAuthority,
    hosts: tuple[str, ...] = LOOPBACK,
    until: datetime | None = None,
) -> Tls:
    made = authority.server(until, name="gateway", hosts=hosts)
    files = Tls(folder / "made.pem", folder / "made.key")
    files.certificate.write_text(made.pem)
    write_secret(files.key, made.key_pem)
    return files


@contextlib.contextmanager
def serving(folder: Path, users: Table, tls: Tls | None) -> Iterator[LocalGateway]:
    with LocalGateway(folder, tls=tls) as gateway:
        gateway.place(users, [person(1)])
        yield gateway


@contextlib.contextmanager
def answering(answer: bytes, port: int = 0) -> Iterator[int]:
    """A port at which everybody is told the same, whatever they say; none: they are hung up on."""
    listener = socket.create_server(("127.0.0.1", port))

    def serve() -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                caller, _ = listener.accept()
                with caller, contextlib.suppress(OSError):
                    caller.recv(65536)
                    caller.sendall(answer)

    thread = threading.Thread(target=serve, name="answering")
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


async def refusal(url: str, secret: str, ca: Path | None = None) -> ClientError:
    with pytest.raises(ClientError) as caught:
        await connect_async(url, secret, ca=ca)
    return caught.value


# What is wrong with a certificate


def test_an_expired_certificate_is_not_called_untrusted(tmp_path: Path, users: Table) -> None:
    authority = CertificateAuthority()
    ca = authority.write(tmp_path / "ca.pem")
    with serving(tmp_path, users, certified(tmp_path, authority, until=YESTERDAY)) as gateway:
        error = asyncio.run(refusal(gateway.address, gateway.secret, ca))
    assert isinstance(error, Rejected)
    assert not error.retry
    assert "certificate of the gateway has expired. Ask the gateway's operator to renew it" in str(
        error
    )
    assert "ca=" not in str(error)


def test_who_forgets_the_s_is_told(tmp_path: Path, users: Table) -> None:
    with serving(tmp_path, users, certified(tmp_path, CertificateAuthority())) as gateway:
        error = asyncio.run(refusal(f"ws://127.0.0.1:{gateway.port}", gateway.secret))
    assert isinstance(error, Unreachable)
    assert "Write the address with https:// if the gateway has TLS" in str(error)


def test_a_certificate_for_another_name_is_not_called_untrusted(
    tmp_path: Path, users: Table
) -> None:
    authority = CertificateAuthority()
    ca = authority.write(tmp_path / "ca.pem")
    files = certified(tmp_path, authority, ("tables.example.com",))
    with serving(tmp_path, users, files) as gateway:
        by_address = asyncio.run(refusal(gateway.address, gateway.secret, ca))
        by_name = f"https://localhost:{gateway.port}"
        by_host = asyncio.run(refusal(by_name, gateway.secret, ca))
    for error in (by_address, by_host):
        assert isinstance(error, Rejected)
        assert "certificate of the gateway is for another name (" in str(error)
        assert "Use an address with a name that the certificate has" in str(error)
        assert "ca=" not in str(error)


def test_an_unknown_authority_is_to_be_named(tmp_path: Path, users: Table) -> None:
    other = CertificateAuthority().write(tmp_path / "other.pem")
    with serving(tmp_path, users, self_signed(tmp_path)) as gateway:
        error = asyncio.run(refusal(gateway.address, gateway.secret, other))
    assert isinstance(error, Rejected)
    assert "certificate of the gateway is not trusted (" in str(error)
    assert "Pass ca= with the PEM file" in str(error)


# What is no matter of certificates


def test_https_at_a_gateway_without_says_so(tmp_path: Path, users: Table) -> None:
    with serving(tmp_path, users, None) as gateway:
        error = asyncio.run(refusal(f"https://127.0.0.1:{gateway.port}", gateway.secret))
    assert isinstance(error, Rejected)
    assert (
        "TLS handshake failed: the server does not use TLS. Write the address with http://"
        in str(error)
    )


@pytest.mark.parametrize("answer", [ALERT, b""], ids=["alert", "end"])
def test_a_handshake_that_fails_otherwise_may_work_later(answer: bytes) -> None:
    with answering(answer) as port:
        error = asyncio.run(refusal(f"https://127.0.0.1:{port}", "eg_somebody"))
    assert isinstance(error, Unreachable)
    assert error.retry
    assert "connection to the gateway failed (" in str(error)
    assert "not permitted" not in str(error)  # the system's word for OpenSSL's number


# Windows go on


@contextlib.asynccontextmanager
async def watching(
    gateway: LocalGateway, ca: Path
) -> AsyncIterator[tuple[AsyncClient, AsyncWindows]]:
    client = await connect_async(gateway.address, gateway.secret, ca=ca, timeouts=QUICK)
    async with client:
        windows = client.windows("users_ui")
        await until_async(windows, lambda window: window.live)
        yield client, windows


@pytest.mark.parametrize(
    ("answer", "words"),
    [(ALERT, "TLS: tlsv1 alert internal error"), (PLAIN_HTTP, "does not use TLS")],
    ids=["alert", "plain http"],
)
def test_a_window_outlives_what_answers_while_its_gateway_starts_again(
    tmp_path: Path, users: Table, answer: bytes, words: str
) -> None:
    files = self_signed(tmp_path)

    async def scene(gateway: LocalGateway) -> None:
        async with watching(gateway, files.certificate) as (_, windows):
            port = gateway.port
            await asyncio.to_thread(gateway.stop)
            with answering(answer, port):
                window = await until_async(
                    windows, lambda one: one.state is Live.STALE and words in one.message
                )
                assert ids(window) == ["0:1"]
            await asyncio.to_thread(gateway.start)
            gateway.upsert("users_ui", [person(2)])
            await until_async(windows, lambda one: one.live and ids(one) == ["0:1", "0:2"])

    with serving(tmp_path, users, files) as gateway:
        asyncio.run(scene(gateway))


def test_a_window_outlives_a_wrong_certificate_until_it_is_put_right(
    tmp_path: Path, users: Table
) -> None:
    right, wrong = self_signed(tmp_path), self_signed(tmp_path, "wrong")

    def show(gateway: LocalGateway, files: Tls) -> None:
        gateway.stop()
        gateway.settings = msgspec.structs.replace(gateway.settings, tls=files)
        gateway.start()

    async def scene(gateway: LocalGateway) -> None:
        async with watching(gateway, right.certificate) as (client, windows):
            await asyncio.to_thread(show, gateway, wrong)
            await until_async(
                windows,
                lambda one: one.state is Live.STALE and "is not trusted" in one.message,
            )
            with pytest.raises(Rejected, match="is not trusted"):
                await client.tables()
            await asyncio.to_thread(show, gateway, right)
            gateway.upsert("users_ui", [person(2)])
            await until_async(windows, lambda one: one.live and ids(one) == ["0:1", "0:2"])

    with serving(tmp_path, users, right) as gateway:
        asyncio.run(scene(gateway))
