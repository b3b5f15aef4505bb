"""The `kafka` section: the clusters and how to get into them, in the lines that each client wants.

References stay in place of the secrets. Files are named to the Python client. Java gets what they
hold: it wants certificate and key in one file, which nobody has, and Spark's executors may be on
machines without these files.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from evergrid.config.connection import Connection, Kafka
from evergrid.config.declaration import (
    DeclaredKeys,
    Group,
    Key,
    NamedSections,
    Properties,
    setting,
    subsection,
)
from evergrid.config.problems import quoted
from evergrid.config.sasl import Mechanism, login
from evergrid.config.secrets import (
    EXTENSIONS,
    LOCATION,
    LOGIN,
    SecretReader,
    listed,
    outside_references,
)
from evergrid.config.section import Section, from_base
from evergrid.config.value_types import (
    BOOLEAN,
    BOOTSTRAP,
    FILE,
    PROPERTY,
    PROPERTY_VALUE,
    TEXT_VALUE,
    Value,
    choice,
)
from evergrid.config.yaml_tree import ScalarNode
from evergrid.model.errors import ConfigError

T = TypeVar("T")

_BOOTSTRAP_PURPOSE = "where the brokers are"
_DEFAULT_BOOTSTRAP = "127.0.0.1:9092"
_LIBRARY = "ssl.engine.location"  # no file of ours: it is looked for as the system does
_PROBE = "probe"  # librdkafka's word for looking itself
_PEM = "-----BEGIN"
_PATH = "Write the path itself, without ${file:} around it."
_OLD_KEYS = ("-----BEGIN RSA PRIVATE KEY", "-----BEGIN EC PRIVATE KEY")
_USER = ("user", "password")
_CLIENT = ("token_url", "client_id", "client_secret")
_TOKEN = (*_CLIENT, "scope", "extensions", "token_ca")
_MECHANISM = replace(choice(Mechanism), read=lambda text: Mechanism(text.upper()))
_TOKEN_URL = replace(TEXT_VALUE, verbatim=False)
_WITH_PASSWORD = "must be given for `PLAIN` and `SCRAM`"
_WITH_TOKEN = "must be given for `OAUTHBEARER`"


class SecurityKeys(DeclaredKeys, frozen=True):
    """How to get into a secured cluster; docs/security.md has examples."""

    tls: bool = setting(BOOLEAN, "whether connections are encrypted", "true")
    ca: str | None = setting(
        FILE,
        "PEM file: who signs the brokers' certificates",
        unset="what the system trusts, and for Spark what Java does (its `cacerts`)",
    )
    certificate: str | None = setting(
        FILE, "PEM file: a certificate to show to the brokers", unset="none"
    )
    key: str | None = setting(FILE, "PEM file: its private key, in PKCS #8", unset="none")
    key_password: str | None = setting(
        TEXT_VALUE, "the private key's password", unset="none", secret=True
    )
    mechanism: Mechanism | None = setting(_MECHANISM, "how to log in", unset="no login")
    user: str | None = setting(TEXT_VALUE, "the user's name", unset=_WITH_PASSWORD)
    password: str | None = setting(
        TEXT_VALUE, "the user's password", unset=_WITH_PASSWORD, secret=True
    )
    token_url: str | None = setting(_TOKEN_URL, "address of the token endpoint", unset=_WITH_TOKEN)
    client_id: str | None = setting(
        TEXT_VALUE, "client ID at the token endpoint", unset=_WITH_TOKEN
    )
    client_secret: str | None = setting(
        TEXT_VALUE, "client secret at the token endpoint", unset=_WITH_TOKEN, secret=True
    )
    scope: str | None = setting(TEXT_VALUE, "the scope of the token", unset="none")
    extensions: Mapping[str, str] = subsection(
        NamedSections(
            Key(PROPERTY_VALUE, "its value", secret=True),
            "what some clusters want to know beside the token",
            "none",
        )
    )
    token_ca: str | None = setting(
        FILE, "PEM file: who signs the certificate of the token endpoint", unset="as for `ca`"
    )


def _client_properties(purpose: str) -> Properties:
    own_key = "the brokers' addresses have a key of their own", "Set 'bootstrap' instead."
    return Properties(purpose, PROPERTY, {"bootstrap.servers": own_key}, is_lower=True)


class ConnectionKeys(DeclaredKeys, frozen=True):
    """Another cluster; each key given here replaces the common one as a whole."""

    bootstrap: str = setting(BOOTSTRAP, _BOOTSTRAP_PURPOSE, unset="`kafka.bootstrap`")
    security: SecurityKeys = subsection(Group(SecurityKeys, is_optional=True))
    properties: Mapping[str, str] = subsection(
        _client_properties(
            "client properties by the names of the Java client, translated for the Python client; "
            "lines of a .properties file can be pasted after `properties: |`"
        )
    )
    java: Mapping[str, str] = subsection(
        _client_properties("what only the Java client inside Spark knows")
    )
    python: Mapping[str, str] = subsection(
        _client_properties("what only the Python client (librdkafka) knows")
    )


class KafkaKeys(ConnectionKeys, frozen=True):
    """How to reach Kafka. Source topics, control topic and Evergrid's own topics may be on
    different clusters: a key given in `source`, `control` or `internal` replaces the common one
    as a whole."""

    bootstrap: str = setting(BOOTSTRAP, _BOOTSTRAP_PURPOSE, _DEFAULT_BOOTSTRAP)
    source: ConnectionKeys = subsection(
        Group(ConnectionKeys, "the source topics' cluster, where it is another")
    )
    control: ConnectionKeys = subsection(
        Group(ConnectionKeys, "the control topic's cluster, where it is another")
    )
    internal: ConnectionKeys = subsection(
        Group(ConnectionKeys, "Evergrid's own topics' cluster, where it is another")
    )


class _ClientProperties(msgspec.Struct):
    """Properties for both clients, in Java's names, and for each alone; secrets by reference."""

    properties: dict[str, str] = {}
    java: dict[str, str] = {}
    python: dict[str, str] = {}


def read_kafka(section: Section, secrets: SecretReader) -> Kafka:
    """The three connections; each takes from the common keys what its own section leaves out."""
    defaults = {"bootstrap": _DEFAULT_BOOTSTRAP, "security": _ClientProperties()}
    common = {**defaults, **_read(section, secrets)}
    names = Kafka.__struct_fields__
    return Kafka(*(_connection(section.section(name), common, secrets) for name in names))


def _connection(section: Section, common: Mapping[str, Any], secrets: SecretReader) -> Connection:
    name, given = section.path[-1], {**common, **_read(section, secrets)}
    own: dict[str, Any] = msgspec.structs.asdict(given["security"])
    own |= {kind: {**lines, **given.get(kind, {})} for kind, lines in own.items()}
    try:
        return Connection(name, given["bootstrap"], **own).revealed(secrets)
    except ConfigError as error:
        if not section.problems:  # or it was reported where it was read
            section.report(error.what, error.remedy)
        return Connection(name, "")


def _read(section: Section, secrets: SecretReader) -> dict[str, Any]:
    """What the section gives; what references stand for is looked at, and they stay in place."""
    given: dict[str, Any] = {
        kind: _properties(section, kind, secrets)
        for kind in _ClientProperties.__struct_fields__
        if kind in section
    }
    if "bootstrap" in section:
        found = _revealed_value(section, "bootstrap", BOOTSTRAP, secrets)
        node = section.node("bootstrap")
        given["bootstrap"] = node.text if isinstance(node, ScalarNode) else found
    if "security" in section:
        given["security"] = _read_security(section.section("security"), secrets)
    return given


def _properties(section: Section, kind: str, secrets: SecretReader) -> dict[str, str]:
    """What is given under `kind`; paths start from where the file is."""
    below = section.section(kind)
    properties: dict[str, str] = section.field(ConnectionKeys, kind)
    for name, text in properties.items():
        _reveal(below, name, text, secrets)
        is_path = name.endswith(LOCATION) and name != _LIBRARY and text not in ("", _PROBE)
        if is_path and not _refers(below, name):
            # In a path nothing is a reference.
            properties[name] = str(from_base(section.base, text)).replace("${", "$${")
    return properties


def _refers(section: Section, key: str) -> bool:
    """Whether the value of `key` has a reference to a secret in it."""
    node = section.node(key)
    return isinstance(node, ScalarNode) and "${" in node.text


def _reveal(section: Section, key: str, text: str, secrets: SecretReader) -> str:
    """What `text`, which belongs to `key`, stands for; a secret that is not there is reported."""
    try:
        return secrets.reveal(text)
    except ConfigError as error:
        section.report(error.what, error.remedy, key)
        return ""


def _revealed_value(section: Section, key: str, kind: Value[T], secrets: SecretReader) -> T:
    """As `section.value`, with the secrets in place; no error repeats what they are."""
    node = section.node(key)
    if not (isinstance(node, ScalarNode) and _refers(section, key)):
        return section.value(key, kind)
    found = _reveal(section, key, node.text, secrets)
    if kind.accepts(found):
        return kind.read(found)
    section.report(f"what the references stand for is not {kind.expected}", kind.remedy, key)
    return kind.stand_in


def _read_security(section: Section, secrets: SecretReader) -> _ClientProperties:
    """The lines for what the section asks for; none when it is empty."""
    if not section.names:
        return _ClientProperties()
    for checked in (section, section.section("extensions")):
        for name in checked.names:
            if isinstance(node := checked.node(name), ScalarNode):
                _reveal(checked, name, node.text, secrets)
    tls = _revealed_value(section, "tls", BOOLEAN, secrets) if "tls" in section else True
    mechanism = None
    if "mechanism" in section:
        mechanism = _revealed_value(section, "mechanism", _MECHANISM, secrets)
    _check(section, tls, mechanism)
    protocol = ("SASL_" if mechanism else "") + ("SSL" if tls else "PLAINTEXT")
    lines = _ClientProperties({"security.protocol": protocol})
    _add_certificates(section, secrets, lines)
    if mechanism:
        lines.properties["sasl.mechanism"] = mechanism.value
    if mechanism is Mechanism.OAUTHBEARER:
        _add_token(section, secrets, lines)
    elif mechanism:
        user, password = (_text(section, key) for key in _USER)
        lines.java[LOGIN] = login(mechanism, {"username": user, "password": password})
        lines.python |= {"sasl.username": user, "sasl.password": password}
    return lines


def _check(section: Section, tls: bool, mechanism: Mechanism | None) -> None:
    """Report what is missing for what is asked for, and what nobody would read."""
    needed: tuple[str, ...] = _CLIENT if mechanism is Mechanism.OAUTHBEARER else _USER
    missing = [quoted(key) for key in needed if key not in section]
    if mechanism and missing:
        verb = "is" if len(missing) == 1 else "are"
        remedy = f"{mechanism.value} needs {', '.join(needed)}."
        section.report(f"{', '.join(missing)} {verb} missing", remedy, "mechanism")
    useless = {None: (*_USER, *_TOKEN), Mechanism.OAUTHBEARER: _USER}.get(mechanism, _TOKEN)
    for key in useless:
        if key in section:
            told = f"mechanism {mechanism.value}" if mechanism else "a connection without mechanism"
            section.report(f"is not for {told}", "Set mechanism, or delete the line.", key)
    for key, other in (("certificate", "key"), ("key", "certificate"), ("key_password", "key")):
        if key in section and other not in section:
            section.report(f"needs {quoted(other)} beside it", "Add it, or delete the line.", key)
    if not tls:
        for key in ("ca", "certificate", "key", "key_password"):
            if key in section:
                section.report("is for TLS, and tls is false", "Delete one of the two.", key)


def _pem_file(section: Section, key: str, secrets: SecretReader) -> tuple[str, str]:
    """The file under `key`: its path as written, and a reference to what it holds."""
    given = os.path.expanduser(section.value(key, FILE))
    if not _refers(section, key):
        path = str(from_base(section.base, given))
        return path, _held(section, key, path, path, secrets)
    found = _reveal(section, key, given, secrets)
    if _PEM in found:
        section.report("found what a file holds, expected its path", _PATH, key)
        return given, given
    # Relative to where the file is, and still without what its references stand for.
    start = "" if os.path.isabs(found) else f"{section.base}/".replace("${", "$${")
    path = os.path.normpath(section.base / found)
    return start + given, _held(section, key, path, given, secrets)


def _held(section: Section, key: str, path: str, told: str, secrets: SecretReader) -> str:
    """A reference to what the file holds; `told` is how its path is said while it may yet be
    a secret that was put in the wrong place."""
    reference = f"${{file:{path}}}"
    try:
        text = secrets.reveal(reference)
    except ConfigError as error:
        section.report(error.what.replace(path, told), error.remedy, key)
        return reference
    if _PEM not in text:
        section.report(f"{told} is no PEM file", "Convert it with openssl.", key)
    elif key == "key" and any(old in text for old in _OLD_KEYS):
        # One with a password keeps having one.
        plain = "" if "ENCRYPTED" in text else "-nocrypt "
        command = f"openssl pkcs8 -topk8 {plain}-in {shlex.quote(path)} -out new.key"
        section.report("Java reads private keys in PKCS #8 alone", f"Convert it: {command}", key)
    return reference


def _add_certificates(section: Section, secrets: SecretReader, lines: _ClientProperties) -> None:
    """Whom the client trusts, and its own certificate."""
    java, python = lines.java, lines.python
    if "ca" in section:
        python["ssl.ca.location"], ca = _pem_file(section, "ca", secrets)
        java |= _trusted(ca)
    if "certificate" in section and "key" in section:
        java["ssl.keystore.type"] = "PEM"
        python["ssl.certificate.location"], java["ssl.keystore.certificate.chain"] = _pem_file(
            section, "certificate", secrets
        )
        python["ssl.key.location"], java["ssl.keystore.key"] = _pem_file(section, "key", secrets)
        if "key_password" in section:
            lines.properties["ssl.key.password"] = _text(section, "key_password")


def _trusted(certificates: str) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates}


def _add_token(section: Section, secrets: SecretReader, lines: _ClientProperties) -> None:
    lines.properties["sasl.oauthbearer.token.endpoint.url"] = _text(section, "token_url")
    options: dict[str, str] = {}
    python = lines.python
    python["sasl.oauthbearer.method"] = "oidc"
    words = {"client_id": "clientId", "client_secret": "clientSecret", "scope": "scope"}
    for key, option in words.items():
        if key in section:
            options[option] = _text(section, key)
            python[f"sasl.oauthbearer.{key.replace('_', '.')}"] = options[option]
    below = section.section("extensions")
    extensions = {name: below.value(name, PROPERTY_VALUE) for name in below.names}
    options |= {f"extension_{name}": value for name, value in extensions.items()}
    if extensions:
        pairs = (f"{name}={outside_references(listed, v)}" for name, v in extensions.items())
        python[EXTENSIONS] = ",".join(pairs)
    if "token_ca" in section:
        python["https.ca.location"], ca = _pem_file(section, "token_ca", secrets)
        options |= _trusted(ca)
    lines.java[LOGIN] = login(Mechanism.OAUTHBEARER, options)


def _text(section: Section, key: str) -> str:
    return section.field(SecurityKeys, key) or ""
