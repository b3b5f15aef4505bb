"""Who a connection is to its cluster: protocol, mechanism and principal, for every error.

None of it is secret: a user's name, a client's id, the name in a certificate.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from evergrid.config.secrets import escaped, names_secret
from evergrid.config.settings import Connection
from evergrid.kafka.certificates import Certificate, read_certificate
from evergrid.kafka.login_properties import parse_login
from evergrid.kafka.properties import python_properties
from evergrid.model.errors import ConfigError

_NOT_SECRET = frozenset(("username", "clientId", "scope"))  # options of a login that are no secrets
_OWN_CERTIFICATE = ("ssl.certificate.location", "ssl.certificate.pem", "ssl.keystore.location")
_BETWEEN_WORDS = re.compile(r"[\s\"'=;]+")
_SHORTEST_SECRET = 4  # to be removed from a text: shorter ones would be found everywhere


class Identity(msgspec.Struct, frozen=True):
    """`principal` is such as "user anna"; empty where a connection has none."""

    protocol: str = "PLAINTEXT"
    mechanism: str = ""
    principal: str = ""


def identity(connection: Connection) -> Identity:
    """The identity of `connection`, as far as its settings tell."""
    given = _properties(connection)
    protocol = given.get("security.protocol", "PLAINTEXT").upper()
    mechanism = given.get("sasl.mechanisms", "").upper() if protocol.startswith("SASL") else ""
    return Identity(protocol, mechanism, _principal(given, mechanism))


def where(connection: Connection) -> str:
    """How errors name a connection."""
    who = identity(connection)
    parts = [connection.bootstrap]
    if who != Identity():
        parts += (who.protocol, who.mechanism, who.principal)
    return f"Kafka connection {connection.name} ({', '.join(filter(None, parts))})"


def own_certificate(connection: Connection) -> Certificate | None:
    """The client certificate of the connection; None when it has none, or not as PEM."""
    return read_certificate(_certificate_text(_properties(connection)))


def has_certificate(connection: Connection) -> bool:
    """Whether the connection has a client certificate."""
    return any(_properties(connection).get(name) for name in _OWN_CERTIFICATE)


def scrub(connection: Connection, text: str) -> str:
    """`text` without the connection's secrets: a client's error may quote a setting's value."""
    for secret in sorted(_secrets(connection) | _secrets(connection.renewed()), key=len)[::-1]:
        text = text.replace(secret, "***")
    return text


def _principal(given: Mapping[str, str], mechanism: str) -> str:
    if mechanism == "OAUTHBEARER":
        return f"client {given.get('sasl.oauthbearer.client.id', '')}".rstrip()
    if mechanism:
        return f"user {given.get('sasl.username', '')}".rstrip()
    if given.get("security.protocol", "").upper() != "SSL":
        return ""
    found = read_certificate(_certificate_text(given))
    file = given.get("ssl.certificate.location") or given.get("ssl.keystore.location", "")
    if found is not None:
        return f"certificate of {found.subject}"
    return f"certificate {file}" if file else ""


def _certificate_text(given: Mapping[str, str]) -> str:
    file = given.get("ssl.certificate.location")
    if not file:
        return given.get("ssl.certificate.pem", "")
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _properties(connection: Connection) -> Mapping[str, str]:
    try:
        return python_properties(connection)
    except ConfigError:  # reported when a Python client is made
        return {**connection.properties, **connection.java}


def _secrets(connection: Connection) -> set[str]:
    """All secrets of the connection, also those written in the configuration itself."""
    found = set(connection.secrets)
    for values in (connection.properties, connection.java, connection.python):
        for name, value in values.items():
            if names_secret(name) and not name.endswith(".url"):
                found.add(value)
            if name == "sasl.jaas.config":
                found |= _login_secrets(value)
    found |= {escaped(secret) for secret in found}  # as it is written for Java
    long = {secret for secret in found if len(secret) >= _SHORTEST_SECRET}
    return (found & connection.secrets | long) - {""}


def _login_secrets(line: str) -> set[str]:
    """The secrets in a `sasl.jaas.config`; all words of one that cannot be parsed, since Java's
    error quotes words of it."""
    login = parse_login(line)
    if login is None:
        return set(_BETWEEN_WORDS.split(line))
    names = {name for name in login.options if name not in _NOT_SECRET and names_secret(name)}
    return {login.options[name] for name in names}
