"""The properties of a Kafka connection, for both clients.

Users write the Java client's names, as Kafka's documentation and every vendor do. Spark takes
them as they are; the Python client (librdkafka) has other names for some. A property that cannot
be translated is refused by name: a security setting that one client silently lacks would be worse
than none.
"""

from __future__ import annotations

from collections.abc import Mapping

from evergrid.config.secrets import EXTENSIONS, LOGIN, listed
from evergrid.config.settings import Connection
from evergrid.kafka import jaas, keystores, login_properties
from evergrid.kafka.property_names import (
    DEFAULT_STORE_TYPE,
    EARLY_REFRESH,
    EXTENSION,
    HANDLER,
    IMPLIED,
    JAVA_ONLY,
    LOGIN_OPTIONS,
    OAUTH_LOGIN,
    OIDC,
    OIDC_HANDLER,
    OIDC_HANDLERS,
    PKCS12,
    PROPERTY_NAMES,
    PYTHON_ONLY,
    REFRESH,
    REMEDIES,
    RESERVED,
    STORES,
    TOKEN_ENDPOINT,
    TOKEN_TRUST,
    TRUST_STORE,
    USE_SECURITY,
    Role,
    Store,
)
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
    if LOGIN in connection.properties and jaas.parse(connection.properties[LOGIN]) is None:
        raise _no_login(connection)  # Java's own error would quote parts of it
    properties = {
        "bootstrap.servers": connection.bootstrap,
        **login_properties.to_kafka_login(connection.properties, _name(connection)),
        **connection.java,
    }
    if _is_oidc(properties):
        properties[HANDLER] = OIDC_HANDLER
        properties.setdefault(REFRESH, EARLY_REFRESH)
    return login_properties.with_line_breaks(login_properties.with_login_options(properties))


def python_properties(connection: Connection, role: Role | None = None) -> dict[str, str]:
    """What the Python client is given; with a role, without what is for the other kind only."""
    translated = {"bootstrap.servers": connection.bootstrap}
    rest = login_properties.with_login_options(
        login_properties.to_kafka_login(connection.properties, _name(connection))
    )
    translated |= _stores(connection, rest, STORES)
    translated |= _login(connection, rest)
    for name, value in rest.items():
        _refuse_ours(connection, name)
        translation = PROPERTY_NAMES.get(name)
        if translation is None and _needs_no_name(name, value):
            continue
        if translation is None:
            raise _no_property(connection, name)
        if role is None or translation.role in (Role.ANY, role):
            translated[translation.name] = translation.value(value)
    return login_properties.with_line_breaks(translated | dict(connection.python))


def _is_oidc(properties: Mapping[str, str]) -> bool:
    """Whether Java gets its tokens from an endpoint; the handler itself may be left out."""
    default = OIDC_HANDLER if TOKEN_ENDPOINT in properties else ""
    return properties.get(HANDLER, default) in OIDC_HANDLERS


def _needs_no_name(name: str, value: str) -> bool:
    anyway = IMPLIED.get(name)
    return name in JAVA_ONLY or (anyway is not None and bool(anyway.fullmatch(value.strip())))


def _stores(
    connection: Connection, rest: dict[str, str], kinds: tuple[Store, ...]
) -> dict[str, str]:
    """Take the properties of key and trust stores out of `rest`, translated."""
    translated: dict[str, str] = {}
    for store in kinds:
        family = store.type_property.removesuffix("type")
        given = {name: rest.pop(name) for name in list(rest) if name.startswith(family)}
        kind = given.pop(store.type_property, DEFAULT_STORE_TYPE).upper()
        if not given:
            continue
        location = given.get(f"{family}location", "")
        try:
            if kind not in store.names and store is TRUST_STORE and location:
                password = given.get(f"{family}password", "")
                translated["ssl.ca.pem"] = keystores.certificates(location, password)
                continue
            if kind == DEFAULT_STORE_TYPE and PKCS12 in store.names and location:
                kind = PKCS12 if keystores.is_pkcs12(location) else kind
        except keystores.Unreadable as error:
            raise _unreadable(connection, store, kind, error) from None
        if kind not in store.names:
            raise _unreadable(connection, store, kind)
        for name, value in given.items():
            if name not in store.names[kind]:
                raise _no_property(connection, name)
            translated |= dict.fromkeys(store.names[kind][name], value)
    return translated


def _login(connection: Connection, rest: dict[str, str]) -> dict[str, str]:
    """Take the login out of `rest`, translated."""
    implied: dict[str, str] = {}
    if _is_oidc(rest):
        implied |= OIDC
        rest.pop(HANDLER, None)
    if LOGIN not in rest:
        return implied
    where = _where(connection, LOGIN)
    login = jaas.parse(rest.pop(LOGIN))
    if login is None:
        raise _no_login(connection)
    if login.module not in LOGIN_OPTIONS:
        raise ConfigError(
            f"the Python client does not support the login module {login.module}",
            where=where,
            remedy=_SPLIT_LOGIN,
        )
    options = dict(login.options)
    if login.module == OAUTH_LOGIN:
        implied |= OIDC
        # The authority of the token endpoint is an option like all others.
        trust = _stores(connection, options, (TRUST_STORE,))
        implied |= {TOKEN_TRUST[name]: value for name, value in trust.items()}
    return implied | _login_options(login.module, options, where)


def _no_login(connection: Connection) -> ConfigError:
    return ConfigError(
        "is not a login that Java can parse",
        where=_where(connection, LOGIN),
        remedy='Write it as: <login module> required name="value" name="value";',
    )


def _login_options(module: str, options: Mapping[str, str], where: str) -> dict[str, str]:
    names = LOGIN_OPTIONS[module]
    translated: dict[str, str] = {}
    extensions = []
    for option, value in options.items():
        if option in names:
            translated[names[option]] = value
        elif option.startswith(EXTENSION) and module == OAUTH_LOGIN:
            extensions.append(f"{option.removeprefix(EXTENSION)}={listed(value)}")
        elif not (module == OAUTH_LOGIN and _needs_no_name(option, value)):
            first = USE_SECURITY if module == OAUTH_LOGIN else "Delete the option."
            raise ConfigError(
                f"the Python client does not support the option {option} of {module}",
                where=where,
                remedy=f"{first} Or: {_SPLIT_LOGIN}",
            )
    if extensions:
        translated[EXTENSIONS] = ",".join(extensions)
    return translated


def _name(connection: Connection) -> str:
    return f"Kafka connection {connection.name}"


def _where(connection: Connection, name: str) -> str:
    return f"{_name(connection)}, property {name}"


def _refuse_ours(connection: Connection, name: str) -> None:
    if name in RESERVED:
        raise ConfigError("cannot be set", where=_where(connection, name), remedy=RESERVED[name])


def _no_property(connection: Connection, name: str) -> ConfigError:
    if name in PYTHON_ONLY:
        what = "it is a property of the Python client, which Spark's Java client does not know"
        return ConfigError(what, where=_where(connection, name), remedy=PYTHON_ONLY[name])
    if name.startswith(_SPARKS):
        what = f"the prefix {_SPARKS} is Spark's, and unknown to both clients"
        return ConfigError(
            what, where=_where(connection, name), remedy=f"Write {name.removeprefix(_SPARKS)}."
        )
    return ConfigError(
        "the Python client has no such property",
        where=_where(connection, name),
        remedy=REMEDIES.get(
            name,
            "If only Spark's Java client needs it, move it to kafka.java; if the Python client "
            "has its own setting for it, add that under kafka.python.",
        ),
    )


def _unreadable(
    connection: Connection, store: Store, kind: str, error: keystores.Unreadable | None = None
) -> ConfigError:
    if error is not None and error.part:
        where = _where(connection, f"{store.type_property.removesuffix('type')}{error.part}")
        return ConfigError(error.what, where=where, remedy=error.remedy)
    what = f"the Python client cannot read a store of type {kind}"
    return ConfigError(
        f"{what}: {error.what}" if error is not None else what,
        where=_where(connection, store.type_property),
        remedy=f"Convert it ({store.conversion}) and set the type to {' or '.join(store.names)}.",
    )
