"""The properties of a Kafka connection, for both clients.

Users write the Java client's names, as Kafka's documentation and every vendor do. Spark takes
them as they are; the Python client (librdkafka) has other names for some. A property that cannot
be translated is refused by name: a security setting that one client silently lacks would be worse
than none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from evergrid.config.secrets import EXTENSIONS, LOGIN, listed
from evergrid.config.settings import Connection
from evergrid.kafka import property_names as names
from evergrid.kafka.certificates import UnreadableStore, is_pkcs12, store_certificates
from evergrid.kafka.login_properties import (
    parse_login,
    property_error,
    to_kafka_login,
    with_line_breaks,
    with_login_options,
)
from evergrid.kafka.property_names import HANDLER, OAUTH_LOGIN, Role, Store
from evergrid.model.errors import ConfigError

_SPARKS = "kafka."  # how its options for Kafka begin
_SPLIT_LOGIN = (
    "Move sasl.jaas.config to kafka.java, and set what the Python client needs for the same "
    "login under kafka.python."
)


def java_properties(connection: Connection) -> dict[str, str]:
    """What the Java client inside Spark is given."""
    for name in connection.properties:
        _refuse_ours(connection, name)
    if LOGIN in connection.properties and parse_login(connection.properties[LOGIN]) is None:
        raise _no_login(connection)  # Java's own error would quote parts of it
    properties = {
        "bootstrap.servers": connection.bootstrap,
        **to_kafka_login(connection),
        **connection.java,
    }
    if _is_oidc(properties):
        properties[HANDLER] = names.OIDC_HANDLER
        properties.setdefault(names.REFRESH, names.EARLY_REFRESH)
    return with_line_breaks(with_login_options(properties))


def python_properties(connection: Connection, role: Role | None = None) -> dict[str, str]:
    """What the Python client is given; with a role, without what is for the other kind only."""
    translated = {"bootstrap.servers": connection.bootstrap}
    rest = with_login_options(to_kafka_login(connection))
    translated |= _stores(connection, rest, names.STORES)
    translated |= _login(connection, rest)
    for name, value in rest.items():
        _refuse_ours(connection, name)
        translation = names.PROPERTY_NAMES.get(name)
        if translation is None and _needs_no_name(name, value):
            continue
        if translation is None:
            raise _no_property(connection, name)
        if role is None or translation.role in (Role.ANY, role):
            translated[translation.name] = translation.value(value)
    return with_line_breaks(translated | dict(connection.python))


def _is_oidc(properties: Mapping[str, str]) -> bool:
    """Whether Java gets its tokens from an endpoint; the handler itself may be left out."""
    default = names.OIDC_HANDLER if names.TOKEN_ENDPOINT in properties else ""
    return properties.get(HANDLER, default) in names.OIDC_HANDLERS


def _needs_no_name(name: str, value: str) -> bool:
    implied = re.fullmatch(names.IMPLIED.get(name, "(?!)"), value.strip())
    return name.startswith(names.JAVA_ONLY) or implied is not None


def _stores(
    connection: Connection, rest: dict[str, str], kinds: tuple[Store, ...]
) -> dict[str, str]:
    """Take the properties of key and trust stores out of `rest`, translated."""
    translated: dict[str, str] = {}
    for store in kinds:
        given = {
            name.removeprefix(store.family): rest.pop(name)
            for name in list(rest)
            if name.startswith(store.family)
        }
        kind = given.pop("type", names.DEFAULT_STORE_TYPE).upper()
        if not given:
            continue
        location = given.get("location", "")
        try:
            if kind not in store.names and store is names.TRUST_STORE and location:
                translated["ssl.ca.pem"] = store_certificates(location, given.get("password", ""))
                continue
            if kind == names.DEFAULT_STORE_TYPE and names.PKCS12 in store.names and location:
                kind = names.PKCS12 if is_pkcs12(location) else kind
        except UnreadableStore as error:
            raise _unreadable(connection, store, kind, error) from None
        if kind not in store.names:
            raise _unreadable(connection, store, kind)
        for part, value in given.items():
            if part not in store.names[kind]:
                raise _no_property(connection, f"{store.family}{part}")
            translated |= dict.fromkeys(store.names[kind][part], value)
    return translated


def _login(connection: Connection, rest: dict[str, str]) -> dict[str, str]:
    """Take the login out of `rest`, translated."""
    translated: dict[str, str] = {}
    if _is_oidc(rest):
        translated |= names.OIDC
        rest.pop(HANDLER, None)
    if LOGIN not in rest:
        return translated
    login = parse_login(rest.pop(LOGIN))
    if login is None:
        raise _no_login(connection)
    if login.module not in names.LOGIN_OPTIONS:
        what = f"the Python client does not support the login module {login.module}"
        raise property_error(connection, LOGIN, what, _SPLIT_LOGIN)
    options, is_oauth = dict(login.options), login.module == OAUTH_LOGIN
    if is_oauth:
        translated |= names.OIDC
        # The authority of the token endpoint is an option like all others.
        trust = _stores(connection, options, (names.TRUST_STORE,))
        translated |= {names.TOKEN_TRUST[name]: value for name, value in trust.items()}
    known, extensions = names.LOGIN_OPTIONS[login.module], []
    for option, value in options.items():
        if option in known:
            translated[known[option]] = value
        elif is_oauth and option.startswith(names.EXTENSION):
            extensions.append(f"{option.removeprefix(names.EXTENSION)}={listed(value)}")
        elif not (is_oauth and _needs_no_name(option, value)):
            first = names.USE_SECURITY if is_oauth else "Delete the option."
            what = f"the Python client does not support the option {option} of {login.module}"
            raise property_error(connection, LOGIN, what, f"{first} Or: {_SPLIT_LOGIN}")
    return translated | ({EXTENSIONS: ",".join(extensions)} if extensions else {})


def _no_login(connection: Connection) -> ConfigError:
    remedy = 'Write it as: <login module> required name="value" name="value";'
    return property_error(connection, LOGIN, "is not a login that Java can parse", remedy)


def _refuse_ours(connection: Connection, name: str) -> None:
    if remedy := names.remedy_for(name, names.RESERVED):
        raise property_error(connection, name, "cannot be set", remedy)


def _no_property(connection: Connection, name: str) -> ConfigError:
    if remedy := names.remedy_for(name, names.PYTHON_ONLY):
        what = "it is a property of the Python client, which Spark's Java client does not know"
        return property_error(connection, name, what, remedy)
    if name.startswith(_SPARKS):
        what = f"the prefix {_SPARKS} is Spark's, and unknown to both clients"
        return property_error(connection, name, what, f"Write {name.removeprefix(_SPARKS)}.")
    what = "the Python client has no such property"
    return property_error(connection, name, what, names.remedy_for(name, names.REMEDIES))


def _unreadable(
    connection: Connection, store: Store, kind: str, error: UnreadableStore | None = None
) -> ConfigError:
    if error is not None and error.part:
        name = f"{store.family}{error.part}"
        return property_error(connection, name, error.what, error.remedy)
    what = f"the Python client cannot read a store of type {kind}"
    what += f": {error.what}" if error is not None else ""
    remedy = f"Convert it ({store.conversion}) and set the type to {' or '.join(store.names)}."
    return property_error(connection, f"{store.family}type", what, remedy)
