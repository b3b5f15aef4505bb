"""A gateway's certificate can be renewed while everybody looks on."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import evergrid
from evergrid.config.settings import Tls
from evergrid.gateway.access import server_certificate
from tests.certificates import self_signed
from tests.gateway.caller import calling, wait_until
from tests.gateway.conftest import PEOPLE, person
from tests.support.local_gateway import LocalGateway


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_certificate, "CHECK_SECONDS", 0.05)


@pytest.fixture
def old(tmp_path: Path) -> Tls:
    return self_signed(tmp_path / "made", "old")


@pytest.fixture
def new(tmp_path: Path) -> Tls:
    return self_signed(tmp_path / "made", "new")


@pytest.fixture
def files(tmp_path: Path, old: Tls) -> Tls:
    """What the gateway is told to show."""
    files = Tls(tmp_path / "server.pem", tmp_path / "server.key")
    put(files, old)
    return files


@pytest.fixture
def gateway(tmp_path: Path, files: Tls) -> Iterator[LocalGateway]:
    with LocalGateway(tmp_path, tls=files) as running:
        running.place(PEOPLE, [person(1)])
        yield running


def put(files: Tls, made: Tls) -> None:
    """In place as careful programs do it: written beside, then renamed."""
    pairs = ((files.certificate, made.certificate), (files.key, made.key))
    written = [(beside(path, new), path) for path, new in pairs]
    for new, path in written:
        os.replace(new, path)


def put_one(path: Path, made: Path) -> None:
    os.replace(beside(path, made), path)


def beside(path: Path, made: Path) -> Path:
    new = path.with_name(f"{path.name}.new")
    shutil.copy(made, new)
    return new


def shows(gateway: LocalGateway, made: Tls, name: str | None = None) -> bool:
    """Whether a new connection is shown this certificate; `name` is what it asks for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", gateway.port), timeout=30) as plain,
        context.wrap_socket(plain, server_hostname=name) as secured,
    ):
        shown = secured.getpeercert(binary_form=True)
    first, footer, _chain = made.certificate.read_text().partition("-----END CERTIFICATE-----")
    return shown == ssl.PEM_cert_to_DER_cert(first + footer)


def test_new_connections_get_the_new_certificate_and_open_ones_go_on(
    gateway: LocalGateway, files: Tls, old: Tls, new: Tls
) -> None:
    with calling(gateway) as caller:
        caller.log_in_encrypted(old.certificate)
        caller.open(1)
        assert caller.watch()
        assert shows(gateway, old)
        put(files, new)
        wait_until(lambda: shows(gateway, new), "the new certificate")
        assert shows(gateway, new, "localhost")
        gateway.upsert("people", [person(2)])
        assert caller.watch()
    assert gateway.said == [f"New connections get the new certificate of {files.certificate}."]


def test_clients_follow_from_one_authority_to_the_next(
    gateway: LocalGateway, files: Tls, old: Tls, new: Tls, tmp_path: Path
) -> None:
    both = tmp_path / "both.pem"
    both.write_text(old.certificate.read_text() + new.certificate.read_text())
    with evergrid.connect(gateway.address, gateway.secret, ca=both) as client:
        windows = client.windows("people")
        assert next(windows).total == 1
        put(files, new)
        wait_until(lambda: shows(gateway, new), "the new certificate")
        gateway.stop()  # all connections end, so they are made again with the new one
        gateway.start()
        gateway.upsert("people", [person(2)])
        assert any(window.total == 2 for window in windows)
        assert client.snapshot("people").num_rows == 2


@pytest.mark.parametrize("broken", ["certificate", "key"])
def test_broken_files_are_said_once_and_the_old_ones_kept(
    gateway: LocalGateway, files: Tls, old: Tls, new: Tls, broken: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad"
    bad.write_text("-----BEGIN CERTIFICATE-----\nnot one\n-----END CERTIFICATE-----\n")
    put(files, msgspec.structs.replace(new, **{broken: bad}))
    wait_until(lambda: bool(gateway.said), "a complaint")
    assert shows(gateway, old)
    put_one(getattr(files, broken), bad)  # again, and no better
    wait_until_checked(gateway)
    (sentence,) = gateway.said
    assert sentence.startswith(f"gateway.tls: invalid certificate or key in {files.certificate}")
    assert sentence.endswith("Until then the certificate read before is used.")
    put(files, new)
    wait_until(lambda: shows(gateway, new), "the good certificate")
    assert len(gateway.said) == 2


def test_a_file_that_is_gone_changes_nothing(gateway: LocalGateway, files: Tls, old: Tls) -> None:
    files.key.unlink()
    wait_until(lambda: bool(gateway.said), "a complaint")
    assert f"{files.key} cannot be read (No such file or directory)" in gateway.said[0]
    assert shows(gateway, old)


def test_a_look_that_failed_is_taken_again(
    files: Tls, new: Tls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for want of file handles: then the files are as they were, and good."""
    said: list[str] = []
    certificate = server_certificate.ServerCertificate(files, said.append)
    put(files, new)
    certificate.reload()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", out_of_handles)
        certificate.reload()
        certificate.reload()
    certificate.reload()
    assert ["Too many open files" in sentence for sentence in said] == [True, False]
    assert said[1] == f"New connections get the new certificate of {files.certificate}."


def out_of_handles(_path: Path) -> bytes:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_a_certificate_without_its_key_yet_is_waited_for(
    gateway: LocalGateway, files: Tls, old: Tls, new: Tls
) -> None:
    def renew() -> None:
        certificate = server_certificate.ServerCertificate(files, said.append)
        put_one(files.certificate, new.certificate)
        certificate.reload()  # something changes just now
        put_one(files.key, new.key)
        certificate.reload()  # still
        certificate.reload()

    said: list[str] = []
    gateway.call(renew)
    assert said == [f"New connections get the new certificate of {files.certificate}."]


def wait_until_checked(gateway: LocalGateway) -> None:
    """A few checks have passed on the gateway's own clock."""
    start = gateway.loop.time()
    wait_until(
        lambda: gateway.loop.time() > start + 10 * server_certificate.CHECK_SECONDS, "some checks"
    )
