"""The `kafka.security` section: what a person wants, in the lines that each client wants.

Files are named to the Python client. Java gets what they hold: it wants certificate and key in
one file, which nobody has, and Spark's executors may be on machines without these files.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from evergrid.config import references
from evergrid.config.connection import ClientProperties
from evergrid.config.declaration import DeclaredKeys, Key, NamedSections, setting, subsection
from evergrid.config.problems import quoted
from evergrid.config.sasl import Mechanism, login
from evergrid.config.secrets import EXTENSIONS, SecretReader, extensions
from evergrid.config.section import Section, from_base
from evergrid.config.value_types import (
    BOOLEAN,
    FILE,
    PROPERTY_VALUE,
    TEXT_VALUE,
    choice,
    text_value,
)
from evergrid.model.errors import ConfigError

_PEM = "-----BEGIN"
_PATH = "Write the path itself, without ${file:} around it."
_OLD_KEYS = ("-----BEGIN RSA PRIVATE KEY", "-----BEGIN EC PRIVATE KEY")
_USER = ("user", "password")
_CLIENT = ("token_url", "client_id", "client_secret")
_TOKEN = (*_CLIENT, "scope", "extensions", "token_ca")
_MECHANISM = choice(Mechanism, lambda text: Mechanism(text.upper()))
_TOKEN_URL = text_value(TEXT_VALUE.accepts, TEXT_VALUE.expected, TEXT_VALUE.remedy)
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


def read_security(section: Section, secrets: SecretReader) -> ClientProperties:
    """The lines for what the section asks for; none when it is empty."""
    if not section.names:
        return ClientProperties()
    tls = references.value(section, "tls", BOOLEAN, secrets) if "tls" in section else True
    mechanism = None
    if "mechanism" in section:
        mechanism = references.value(section, "mechanism", _MECHANISM, secrets)
    _check(section, tls, mechanism)
    files = _PemFiles(section, secrets)
    protocol = ("SASL_" if mechanism else "") + ("SSL" if tls else "PLAINTEXT")
    common = ClientProperties({"security.protocol": protocol})
    lines = common.under(_trust(files)).under(_own(section, files))
    if mechanism is Mechanism.OAUTHBEARER:
        return lines.under(_token(section, files))
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


class _PemFiles:
    """PEM files that the section names."""

    def __init__(self, section: Section, secrets: SecretReader) -> None:
        self._section = section
        self._base = section.base
        self._secrets = secrets

    def read(self, key: str) -> tuple[str, str]:
        """The file under `key`: its path as written, and a reference to what it holds."""
        given = os.path.expanduser(self._section.value(key, FILE))
        if not references.refers(self._section, key):
            path = str(from_base(self._base, given))
            return path, self._held(key, path, path)
        found = references.reveal(self._section, key, given, self._secrets)
        if _PEM in found:
            self._section.report("found what a file holds, expected its path", _PATH, key)
            return given, given
        # Relative to where the file is, and still without what its references stand for.
        start = "" if os.path.isabs(found) else f"{self._base}/".replace("${", "$${")
        return start + given, self._held(key, os.path.normpath(self._base / found), given)

    def _held(self, key: str, path: str, told: str) -> str:
        """A reference to what the file holds; `told` is how its path is said while it may yet be
        a secret that was put in the wrong place."""
        reference = f"${{file:{path}}}"
        try:
            text = self._secrets.reveal(reference).text
        except ConfigError as error:
            self._section.report(error.what.replace(path, told), error.remedy, key)
            return reference
        if _PEM not in text:
            self._section.report(f"{told} is no PEM file", "Convert it with openssl.", key)
        elif key == "key" and any(old in text for old in _OLD_KEYS):
            self._section.report(
                "Java reads private keys in PKCS #8 alone", _conversion(path, text), key
            )
        return reference

    def __contains__(self, key: str) -> bool:
        return key in self._section


def _conversion(path: str, text: str) -> str:
    """The command that makes a key readable; one with a password keeps having one."""
    plain = "" if "ENCRYPTED" in text else "-nocrypt "
    return f"Convert it: openssl pkcs8 -topk8 {plain}-in {shlex.quote(path)} -out new.key"


def _trust(files: _PemFiles) -> ClientProperties:
    if "ca" not in files:
        return ClientProperties()
    path, held = files.read("ca")
    return ClientProperties(java=_store(held), python={"ssl.ca.location": path})


def _store(held: str) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": held}


def _own(section: Section, files: _PemFiles) -> ClientProperties:
    """The client's own certificate."""
    if not ("certificate" in files and "key" in files):
        return ClientProperties()
    certificate, chain = files.read("certificate")
    key, private = files.read("key")
    java = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": chain,
        "ssl.keystore.key": private,
    }
    both = {"ssl.key.password": _text(section, "key_password")} if "key_password" in section else {}
    python = {"ssl.certificate.location": certificate, "ssl.key.location": key}
    return ClientProperties(both, java, python)


def _login(section: Section, mechanism: Mechanism) -> ClientProperties:
    user, password = (_text(section, key) for key in _USER)
    return ClientProperties(
        {"sasl.mechanism": mechanism.value},
        {"sasl.jaas.config": login(mechanism, {"username": user, "password": password})},
        {"sasl.username": user, "sasl.password": password},
    )


def _token(section: Section, files: _PemFiles) -> ClientProperties:
    given = {key: _text(section, key) for key in (*_CLIENT, "scope") if key in section}
    words = {"client_id": "clientId", "client_secret": "clientSecret", "scope": "scope"}
    options = {words[key]: value for key, value in given.items() if key in words}
    python = {
        f"sasl.oauthbearer.{key.replace('_', '.')}": value
        for key, value in given.items()
        if key in words
    }
    given_extensions = section.section("extensions")
    told = {name: given_extensions.value(name, PROPERTY_VALUE) for name in given_extensions.names}
    options |= {f"extension_{name}": value for name, value in told.items()}
    if told:
        python[EXTENSIONS] = extensions(told)
    if "token_ca" in files:
        path, held = files.read("token_ca")
        options |= _store(held)
        python["https.ca.location"] = path
    return ClientProperties(
        {
            "sasl.mechanism": Mechanism.OAUTHBEARER.value,
            "sasl.oauthbearer.token.endpoint.url": given.get("token_url", ""),
        },
        {"sasl.jaas.config": login(Mechanism.OAUTHBEARER, options)},
        {"sasl.oauthbearer.method": "oidc", **python},
    )


def _text(section: Section, key: str) -> str:
    return section.field(SecurityKeys, key) or ""
