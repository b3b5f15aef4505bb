"""The `kafka.security` section: what a person wants, in the lines that each client wants.

Files are named to the Python client. Java gets what they hold: it wants certificate and key in
one file, which nobody has, and Spark's executors may be on machines without these files.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from evergrid.config.connection import ClientProperties
from evergrid.config.declaration import DeclaredKeys, Key, NamedSections, setting, subsection
from evergrid.config.problems import quoted
from evergrid.config.sasl import Mechanism, login
from evergrid.config.secrets import EXTENSIONS, LOGIN, SecretReader, listed, outside_references
from evergrid.config.section import Section, from_base
from evergrid.config.value_types import (
    BOOLEAN,
    FILE,
    PROPERTY_VALUE,
    TEXT_VALUE,
    Value,
    choice,
)
from evergrid.config.yaml_tree import ScalarNode
from evergrid.model.errors import ConfigError

T = TypeVar("T")

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


def refers(section: Section, key: str) -> bool:
    """Whether the value of `key` has a reference to a secret in it."""
    node = section.node(key)
    return isinstance(node, ScalarNode) and "${" in node.text


def reveal(section: Section, key: str, text: str, secrets: SecretReader) -> str:
    """What `text`, which belongs to `key`, stands for; a secret that is not there is reported."""
    try:
        return secrets.reveal(text)
    except ConfigError as error:
        section.report(error.what, error.remedy, key)
        return ""


def revealed_value(section: Section, key: str, kind: Value[T], secrets: SecretReader) -> T:
    """As `section.value`, with the secrets in place; no error repeats what they are."""
    node = section.node(key)
    if not (isinstance(node, ScalarNode) and refers(section, key)):
        return section.value(key, kind)
    found = reveal(section, key, node.text, secrets)
    if kind.accepts(found):
        return kind.read(found)
    section.report(f"what the references stand for is not {kind.expected}", kind.remedy, key)
    return kind.stand_in


def read_security(section: Section, secrets: SecretReader) -> ClientProperties:
    """The lines for what the section asks for; none when it is empty."""
    if not section.names:
        return ClientProperties()
    for checked in (section, section.section("extensions")):
        for name in checked.names:
            if isinstance(node := checked.node(name), ScalarNode):
                reveal(checked, name, node.text, secrets)
    tls = revealed_value(section, "tls", BOOLEAN, secrets) if "tls" in section else True
    mechanism = None
    if "mechanism" in section:
        mechanism = revealed_value(section, "mechanism", _MECHANISM, secrets)
    _check(section, tls, mechanism)
    protocol = ("SASL_" if mechanism else "") + ("SSL" if tls else "PLAINTEXT")
    lines = ClientProperties({"security.protocol": protocol}).under(_tls(section, secrets))
    if mechanism is Mechanism.OAUTHBEARER:
        return lines.under(_token(section, secrets))
    return lines.under(_login(section, mechanism)) if mechanism else lines


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
    if not refers(section, key):
        path = str(from_base(section.base, given))
        return path, _held(section, key, path, path, secrets)
    found = reveal(section, key, given, secrets)
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


def _tls(section: Section, secrets: SecretReader) -> ClientProperties:
    """Whom the client trusts, and its own certificate."""
    both: dict[str, str] = {}
    java: dict[str, str] = {}
    python: dict[str, str] = {}
    if "ca" in section:
        python["ssl.ca.location"], ca = _pem_file(section, "ca", secrets)
        java |= _trusted(ca)
    if "certificate" in section and "key" in section:
        python["ssl.certificate.location"], chain = _pem_file(section, "certificate", secrets)
        python["ssl.key.location"], key = _pem_file(section, "key", secrets)
        java["ssl.keystore.type"] = "PEM"
        java["ssl.keystore.certificate.chain"] = chain
        java["ssl.keystore.key"] = key
        if "key_password" in section:
            both["ssl.key.password"] = _text(section, "key_password")
    return ClientProperties(both, java, python)


def _trusted(certificates: str) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": certificates}


def _login(section: Section, mechanism: Mechanism) -> ClientProperties:
    user, password = (_text(section, key) for key in _USER)
    return ClientProperties(
        {"sasl.mechanism": mechanism.value},
        {LOGIN: login(mechanism, {"username": user, "password": password})},
        {"sasl.username": user, "sasl.password": password},
    )


def _token(section: Section, secrets: SecretReader) -> ClientProperties:
    options: dict[str, str] = {}
    python = {"sasl.oauthbearer.method": "oidc"}
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
    return ClientProperties(
        {
            "sasl.mechanism": Mechanism.OAUTHBEARER.value,
            "sasl.oauthbearer.token.endpoint.url": _text(section, "token_url"),
        },
        {LOGIN: login(Mechanism.OAUTHBEARER, options)},
        python,
    )


def _text(section: Section, key: str) -> str:
    return section.field(SecurityKeys, key) or ""
