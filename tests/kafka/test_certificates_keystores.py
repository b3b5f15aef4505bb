"""Java's own stores, as people have them, for both clients."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from evergrid.broker.certificate_authority import CertificateAuthority
from evergrid.config.settings import Connection
from evergrid.kafka.properties import java_properties, python_properties
from evergrid.model.errors import ConfigError
from evergrid.process.java import java_home

PASSWORD = "change'it \"now"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


def keytool(*arguments: str | Path) -> None:
    command = [str(java_home() / "bin" / "keytool"), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture(scope="module", params=["JKS", "PKCS12"])
def trust(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two authorities."""
    folder = tmp_path_factory.mktemp("trust")
    store = folder / "trust.jks"
    for name in ("one", "two"):
        file = CertificateAuthority(name).write(folder / f"{name}.pem")
        make = ("-importcert", "-noprompt", "-alias", name, "-file", file, "-storepass", PASSWORD)
        keytool(*make, "-keystore", store, "-storetype", request.param)
    return store


def plain(pem: str) -> str:
    return "".join(pem.split())


@pytest.mark.parametrize("kind", ["", "JKS", "PKCS12"])
def test_a_trust_store_of_javas_serves_both_clients(trust: Path, kind: str) -> None:
    lines = {"ssl.truststore.location": str(trust), "ssl.truststore.password": PASSWORD}
    given = Connection(
        "source", "b:1", {**lines, **({"ssl.truststore.type": kind} if kind else {})}
    )
    assert java_properties(given).items() >= lines.items()
    found = python_properties(given)
    assert found.keys() == {"bootstrap.servers", "ssl.ca.pem"}
    for name in ("one", "two"):
        assert plain(trust.with_name(f"{name}.pem").read_text()) in plain(found["ssl.ca.pem"])


def test_the_token_endpoints_authority_may_be_in_one_too(trust: Path) -> None:
    login = f"{OAUTH} required clientId=c clientSecret=s ssl.truststore.location='{trust}'"
    escaped = PASSWORD.replace("'", "\\'")
    login += f" ssl.truststore.password='{escaped}';"
    found = python_properties(Connection("source", "b:1", {"sasl.jaas.config": login}))
    assert found["https.ca.pem"].count("BEGIN CERTIFICATE") == 2


def test_a_store_that_cannot_be_read_is_told_without_its_password(trust: Path) -> None:
    lines = {"ssl.truststore.location": str(trust), "ssl.truststore.password": "hush-hush"}
    wrong = r"truststore\.password: .*keytool cannot read .*trust\.jks \(.*password.*Correct it"
    with pytest.raises(ConfigError, match=wrong) as told:
        python_properties(Connection("source", "b:1", lines))
    assert "hush-hush" not in str(told.value)


@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_a_store_that_is_not_there_or_is_none_is_told_as_that(tmp_path: Path, store: str) -> None:
    file = tmp_path / "store"
    given = Connection("source", "b:1", {f"ssl.{store}.location": str(file)})
    with pytest.raises(ConfigError, match=rf"{store}\.location: .* cannot be read \(No such file"):
        python_properties(given)
    CertificateAuthority("one").write(file)
    with pytest.raises(ConfigError, match=rf"{store}\.type: .* is a PEM file, .* Set it to PEM"):
        python_properties(given)


def test_a_key_store_that_is_pkcs12_under_another_name_is_taken(tmp_path: Path) -> None:
    stores = {kind: tmp_path / f"{kind}.jks" for kind in ("PKCS12", "JKS")}
    make = ["-genkeypair", "-alias", "me", "-dname", "CN=me", "-keyalg", "EC"]
    make += ["-storepass", "changeit", "-keypass", "changeit"]
    for kind, store in stores.items():
        keytool(*make, "-keystore", store, "-storetype", kind)
    lines = {"ssl.keystore.password": "changeit"}
    location = {"ssl.keystore.location": str(stores["PKCS12"])}
    found = python_properties(Connection("source", "b:1", lines | location))
    assert found == {"bootstrap.servers": "b:1", **lines, **location}
    location = {"ssl.keystore.location": str(stores["JKS"])}
    with pytest.raises(ConfigError, match=r"type JKS.*keytool -importkeystore.*PKCS12"):
        python_properties(Connection("source", "b:1", lines | location))
