"""Logins as other versions and other programs write them, as properties that Spark's Java knows.

From there `properties.py` translates them for the Python client, so both log in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evergrid.config.sasl import Mechanism
from evergrid.config.secrets import LOGIN, escaped
from evergrid.kafka import jaas
from evergrid.kafka.pem import restore_line_breaks
from evergrid.kafka.property_names import (
    CREDENTIALS,
    EXTENSION,
    HANDLER,
    OAUTH_LOGIN,
    OIDC_HANDLER,
    PEM_TEXTS,
    TOKEN_ENDPOINT,
    USE_SECURITY,
)
from evergrid.model.errors import ConfigError

# Strimzi's handler reads options of its own; so far as they say the same, Kafka's own ones stand
# for them. Without those of `_TUNING` both clients get the same tokens.
_HANDLER = "io.strimzi.kafka.oauth.client.JaasClientOauthLoginCallbackHandler"
_START = "oauth."
_EXTENSION = "oauth.sasl.extension."
_NEEDED = ("oauth.client.id", "oauth.client.secret", "oauth.token.endpoint.uri")
_OPTIONS: Mapping[str, str] = {
    "oauth.client.id": "clientId",
    "oauth.client.secret": "clientSecret",
    "oauth.scope": "scope",
    "oauth.token.endpoint.uri": TOKEN_ENDPOINT,
    "oauth.ssl.truststore.certificates": "ssl.truststore.certificates",
    "oauth.ssl.truststore.location": "ssl.truststore.location",
    "oauth.ssl.truststore.password": "ssl.truststore.password",
    "oauth.ssl.truststore.type": "ssl.truststore.type",
}
_IS_JWT = "oauth.access.token.is.jwt"
_TUNING = frozenset(
    f"oauth.{name}"
    for name in (
        "config.id",
        "connect.timeout.seconds",
        "enable.metrics",
        "http.retries",
        "http.retry.pause.millis",
        "include.accept.header",
        "max.token.expiry.seconds",
        "read.timeout.seconds",
    )
)

# Databricks has Kafka's classes in a package of its own.
_SHADED = re.compile(r"\A\s*kafkashaded\.")

# Logins that need a Kerberos library or a signature of Amazon's, which the Python client lacks.
_KERBEROS = "a login with Kerberos (GSSAPI)"
_KERBEROS_SERVICE = "sasl.kerberos.service.name"
_AMAZON = "a login with Amazon's IAM (AWS_MSK_IAM)"
_MECHANISMS: Mapping[str, str] = {"GSSAPI": _KERBEROS, "AWS_MSK_IAM": _AMAZON}
_MODULES: Mapping[str, str] = {"Krb5LoginModule": _KERBEROS, "IAMLoginModule": _AMAZON}
_HANDLERS: Mapping[str, str] = {"software.amazon.msk.": _AMAZON}
_USE_ANOTHER = (
    "Use SCRAM, a client certificate, PLAIN or OAUTHBEARER: docs/security.md has the lines."
)


def to_kafka_login(properties: Mapping[str, str], where: str) -> dict[str, str]:
    """`properties` with Strimzi's way to get tokens, and Databricks' classes, in Kafka's own names.

    ConfigError for a login that one of the clients does not support; `where` is the connection.
    """
    properties = {
        name: _SHADED.sub("", value) if name in (LOGIN, HANDLER) else value
        for name, value in properties.items()
    }
    login = jaas.parse(properties.get(LOGIN, ""))
    _refuse_unsupported(properties, login, where)
    if login is None or login.module != OAUTH_LOGIN or not _is_strimzi(properties, login):
        return properties
    options = _options(login, where)
    endpoint = options.pop(TOKEN_ENDPOINT)
    return {
        TOKEN_ENDPOINT: endpoint,
        **properties,
        HANDLER: OIDC_HANDLER,
        LOGIN: _line(options),
    }


def with_login_options(properties: Mapping[str, str]) -> dict[str, str]:
    """`properties` with the credentials that Kafka 4.1 takes as properties in the login's line.

    They win over those of the line, as they do there. PEM in the line has its line breaks back.
    """
    told = {option: properties[name] for name, option in CREDENTIALS.items() if name in properties}
    login = jaas.parse(properties[LOGIN]) if LOGIN in properties else jaas.Login(OAUTH_LOGIN, {})
    if login is None or login.module != OAUTH_LOGIN:
        return dict(properties)
    if not (told or PEM_TEXTS & login.options.keys()):
        return dict(properties)
    options = {**login.options, **told}
    rest = {name: value for name, value in properties.items() if name not in CREDENTIALS}
    return {**rest, LOGIN: _line(with_line_breaks(options))}


def with_line_breaks(properties: Mapping[str, str]) -> dict[str, str]:
    """`properties` with the line breaks of certificates and keys put back."""
    return {
        name: restore_line_breaks(value) if name in PEM_TEXTS else value
        for name, value in properties.items()
    }


def _refuse_unsupported(
    properties: Mapping[str, str], login: jaas.Login | None, where: str
) -> None:
    mechanism = properties.get("sasl.mechanism", "").strip().upper()
    # Kafka's own choice where none is written.
    is_kerberos = not mechanism and _KERBEROS_SERVICE in properties
    handler = properties.get(HANDLER, "")
    package = next((start for start in _HANDLERS if handler.startswith(start)), "")
    for name, told in (
        ("sasl.mechanism", _MECHANISMS.get(mechanism)),
        (_KERBEROS_SERVICE, _KERBEROS if is_kerberos else None),
        (LOGIN, _MODULES.get(login.module) if login else None),
        (HANDLER, _HANDLERS.get(package)),
    ):
        if told:
            raise ConfigError(
                f"{told} is not supported",
                where=f"{where}, property {name}",
                remedy=_USE_ANOTHER,
            )


def _is_strimzi(properties: Mapping[str, str], login: jaas.Login) -> bool:
    return properties.get(HANDLER) == _HANDLER or any(
        option.startswith(_START) for option in login.options
    )


def _options(login: jaas.Login, where: str) -> dict[str, str]:
    """The options under Kafka's own names, the token endpoint's address among them."""
    found: dict[str, str] = {}
    for option, value in login.options.items():
        if option in _OPTIONS:
            found[_OPTIONS[option]] = value
        elif option.startswith(_EXTENSION):
            found[EXTENSION + option.removeprefix(_EXTENSION)] = value
        elif option.startswith(_START) and not _only_tunes(option, value):
            raise _unsupported(
                f"{option} of Strimzi's login is not known to the two clients", where
            )
        elif not option.startswith(_START):
            found[option] = value
    missing = [option for option in _NEEDED if _OPTIONS[option] not in found]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise _unsupported(f"{', '.join(missing)} {verb} missing in Strimzi's login", where)
    if "ssl.truststore.certificates" in found:
        found.setdefault("ssl.truststore.type", "PEM")
    return found


def _only_tunes(option: str, value: str) -> bool:
    # Both clients look into their tokens, which they can do with a JWT alone.
    return option in _TUNING or (option == _IS_JWT and value.lower() == "true")


def _unsupported(what: str, where: str) -> ConfigError:
    return ConfigError(what, where=f"{where}, property {LOGIN}", remedy=USE_SECURITY)


def _line(options: Mapping[str, str]) -> str:
    words = (f' {name}="{escaped(value)}"' for name, value in options.items())
    return f"{Mechanism.OAUTHBEARER.module} required{''.join(words)};"
