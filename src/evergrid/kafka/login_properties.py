"""Logins: read `sasl.jaas.config`, and write those of other programs as Spark's Java knows them.

From there `properties.py` translates them for the Python client, so both log in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from evergrid.config.sasl import Mechanism
from evergrid.config.secrets import LOGIN, escaped
from evergrid.config.settings import Connection
from evergrid.kafka import property_names as names
from evergrid.kafka.certificates import restore_line_breaks
from evergrid.kafka.property_names import HANDLER, OAUTH_LOGIN, TOKEN_ENDPOINT
from evergrid.model.errors import ConfigError

_OPTION = re.compile(
    r"""\s*(?P<name>[\w.$-]+)\s*=\s*
        (?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s;"']+))""",
    re.VERBOSE | re.DOTALL,
)
_MODULE = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b", re.IGNORECASE)
_END = re.compile(r"\s*;\s*\Z")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v"}

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
}
_TRUST_STORE = "oauth.ssl.truststore."
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
_AMAZON = "a login with Amazon's IAM (AWS_MSK_IAM)"
_UNSUPPORTED = (  # by a property and the beginning of its value
    ("sasl.mechanism", r"(?i)\s*GSSAPI\b", _KERBEROS),
    ("sasl.mechanism", r"(?i)\s*AWS_MSK_IAM\b", _AMAZON),
    (LOGIN, r"\s*[\w.$]*\bKrb5LoginModule\s", _KERBEROS),
    (LOGIN, r"\s*[\w.$]*\bIAMLoginModule\s", _AMAZON),
    (HANDLER, r"software\.amazon\.msk\.", _AMAZON),
)
_USE_ANOTHER = (
    "Use SCRAM, a client certificate, PLAIN or OAUTHBEARER: docs/security.md has the lines."
)


class Login(msgspec.Struct, frozen=True):
    """A login module by its class name without the package, and its options."""

    module: str
    options: Mapping[str, str]


def parse_login(text: str) -> Login | None:
    """The one login that `text` configures, or None when it is not well formed.

    The rules are those of the Java client's own reader: values may be bare words or quoted with
    single or double quotes, and a backslash in quotes escapes the next character. It says no more
    than None on purpose: the text holds passwords, and an error that quotes the place would show
    them.
    """
    module = _MODULE.match(text)
    if module is None:
        return None
    options: dict[str, str] = {}
    at = module.end()
    while option := _OPTION.match(text, at):
        quoted = option["double"] or option["single"] or ""
        plain = _ESCAPED.sub(lambda found: _CONTROL.get(found[1], found[1]), quoted)
        options[option["name"]] = option["bare"] or plain
        at = option.end()
    if not _END.match(text, at):
        return None
    return Login(module[1].rpartition(".")[2], options)


def property_error(connection: Connection, name: str, what: str, remedy: str) -> ConfigError:
    where = f"Kafka connection {connection.name}, property {name}"
    return ConfigError(what, where=where, remedy=remedy)


def to_kafka_login(connection: Connection) -> dict[str, str]:
    """The properties with Strimzi's way to get tokens, and Databricks' classes, in Kafka's names.

    ConfigError for a login that one of the clients does not support.
    """
    properties = {
        name: _SHADED.sub("", value) if name in (LOGIN, HANDLER) else value
        for name, value in connection.properties.items()
    }
    login = parse_login(properties.get(LOGIN, ""))
    _refuse_unsupported(connection, properties)
    if login is None or login.module != OAUTH_LOGIN:
        return properties
    has_options = any(option.startswith(_START) for option in login.options)
    if not has_options and properties.get(HANDLER) != _HANDLER:
        return properties
    options = _options(connection, login)
    endpoint = {TOKEN_ENDPOINT: options.pop(TOKEN_ENDPOINT)}
    return {**endpoint, **properties, HANDLER: names.OIDC_HANDLER, LOGIN: _line(options)}


def with_login_options(properties: Mapping[str, str]) -> dict[str, str]:
    """`properties` with the credentials that Kafka 4.1 takes as properties in the login's line.

    They win over those of the line, as they do there. PEM in the line has its line breaks back.
    """
    told = {
        option: properties[name] for name, option in names.CREDENTIALS.items() if name in properties
    }
    login = parse_login(properties[LOGIN]) if LOGIN in properties else Login(OAUTH_LOGIN, {})
    is_oauth = login is not None and login.module == OAUTH_LOGIN
    if login is None or not is_oauth or not (told or any(map(_is_pem, login.options))):
        return dict(properties)
    options = {**login.options, **told}
    rest = {name: value for name, value in properties.items() if name not in names.CREDENTIALS}
    return {**rest, LOGIN: _line(with_line_breaks(options))}


def with_line_breaks(properties: Mapping[str, str]) -> dict[str, str]:
    """`properties` with the line breaks of certificates and keys put back."""
    return {
        name: restore_line_breaks(value) if _is_pem(name) else value
        for name, value in properties.items()
    }


def _is_pem(name: str) -> bool:
    return name.endswith(names.PEM_TEXTS)


def _refuse_unsupported(connection: Connection, properties: Mapping[str, str]) -> None:
    found = [(n, told) for n, value, told in _UNSUPPORTED if re.match(value, properties.get(n, ""))]
    service = "sasl.kerberos.service.name"
    if service in properties and not properties.get("sasl.mechanism"):  # then Kafka chooses GSSAPI
        found.append((service, _KERBEROS))
    for name, told in found:
        raise property_error(connection, name, f"{told} is not supported", _USE_ANOTHER)


def _options(connection: Connection, login: Login) -> dict[str, str]:
    """The options under Kafka's own names, the token endpoint's address among them."""
    found: dict[str, str] = {}
    for option, value in login.options.items():
        if option in _OPTIONS:
            found[_OPTIONS[option]] = value
        elif option.startswith(_EXTENSION):
            found[names.EXTENSION + option.removeprefix(_EXTENSION)] = value
        elif option.startswith(_TRUST_STORE) or not option.startswith(_START):
            found[option.removeprefix(_START)] = value
        # Both clients look into their tokens, which they can do with a JWT alone.
        elif option not in _TUNING and (option, value.lower()) != (_IS_JWT, "true"):
            what = f"{option} of Strimzi's login is not known to the two clients"
            raise property_error(connection, LOGIN, what, names.USE_SECURITY)
    missing = [option for option in _NEEDED if _OPTIONS[option] not in found]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        what = f"{', '.join(missing)} {verb} missing in Strimzi's login"
        raise property_error(connection, LOGIN, what, names.USE_SECURITY)
    if "ssl.truststore.certificates" in found:
        found.setdefault("ssl.truststore.type", "PEM")
    return found


def _line(options: Mapping[str, str]) -> str:
    words = (f' {name}="{escaped(value)}"' for name, value in options.items())
    return f"{Mechanism.OAUTHBEARER.module} required{''.join(words)};"
