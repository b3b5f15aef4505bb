"""One description of a Kafka connection, in the words of both clients.

Users write the Java client's names, which is what Kafka's documentation and every vendor
give them. Spark takes them as they are; the Python client (librdkafka) has its own word
for some. What cannot be translated is refused by name: a security setting that one client
silently lacks would be worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping

from evergrid.config.secrets import EXTENSIONS, LOGIN, listed
from evergrid.config.settings import Connection
from evergrid.kafka import jaas, keystores, login_properties
from evergrid.kafka.property_names import (
    ANYWAY,
    DEFAULT_STORE_TYPE,
    EARLY,
    EXTENSION,
    HANDLER,
    JAVA_ALONE,
    LOGINS,
    OAUTH_LOGIN,
    OIDC,
    OIDC_HANDLER,
    OIDC_HANDLERS,
    OURS,
    PKCS12,
    PYTHONS,
    REFRESH,
    REMEDIES,
    STORES,
    TOKEN_ENDPOINT,
    TOKEN_TRUST,
    TRUST_STORE,
    USE_SECURITY,
    WORDS,
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
        raise _no_login(connection)  # Java's own error would quote words of it
    properties = {
        "bootstrap.servers": connection.bootstrap,
        **login_properties.standard(connection.properties, _name(connection)),
        **connection.java,
    }
    if _is_oidc(properties):
        properties[HANDLER] = OIDC_HANDLER
        properties.setdefault(REFRESH, EARLY)
    return login_properties.whole(login_properties.folded(properties))


def python_properties(connection: Connection, role: Role | None = None) -> dict[str, str]:
    """What the Python client is given; with a role, without what is for the other kind only."""
    translated = {"bootstrap.servers": connection.bootstrap}
    rest = login_properties.folded(
        login_properties.standard(connection.properties, _name(connection))
    )
    translated |= _stores(connection, rest, STORES)
    translated |= _login(connection, rest)
    for name, value in rest.items():
        _refuse_ours(connection, name)
        word = WORDS.get(name)
        if word is None and _needs_no_word(name, value):
            continue
        if word is None:
            raise _no_word(connection, name)
        if role is None or word.role in (Role.ANY, role):
            translated[word.name] = word.value(value)
    return login_properties.whole(translated | dict(connection.python))


def _is_oidc(properties: Mapping[str, str]) -> bool:
    """Whether Java gets its tokens from an endpoint; which may be left out of its lines."""
    default = OIDC_HANDLER if TOKEN_ENDPOINT in properties else ""
    return properties.get(HANDLER, default) in OIDC_HANDLERS


def _needs_no_word(name: str, value: str) -> bool:
    anyway = ANYWAY.get(name)
    return name in JAVA_ALONE or (anyway is not None and bool(anyway.fullmatch(value.strip())))


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
            if kind not in store.words and store is TRUST_STORE and location:
                password = given.get(f"{family}password", "")
                translated["ssl.ca.pem"] = keystores.certificates(location, password)
                continue
            if kind == DEFAULT_STORE_TYPE and PKCS12 in store.words and location:
                kind = PKCS12 if keystores.is_pkcs12(location) else kind
        except keystores.Unreadable as error:
            raise _unreadable(connection, store, kind, error) from None
        if kind not in store.words:
            raise _unreadable(connection, store, kind)
        for name, value in given.items():
            if name not in store.words[kind]:
                raise _no_word(connection, name)
            translated |= dict.fromkeys(store.words[kind][name], value)
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
    if login.module not in LOGINS:
        raise ConfigError(
            f"the Python client has no words for the login module {login.module}",
            where=where,
            remedy=_SPLIT_LOGIN,
        )
    options = dict(login.options)
    if login.module == OAUTH_LOGIN:
        implied |= OIDC
        # The authority of the token endpoint is an option like all others.
        trust = _stores(connection, options, (TRUST_STORE,))
        implied |= {TOKEN_TRUST[word]: value for word, value in trust.items()}
    return implied | _login_options(login.module, options, where)


def _no_login(connection: Connection) -> ConfigError:
    return ConfigError(
        "is not a login that Java would understand",
        where=_where(connection, LOGIN),
        remedy='Write it as: <login module> required name="value" name="value";',
    )


def _login_options(module: str, options: Mapping[str, str], where: str) -> dict[str, str]:
    words = LOGINS[module]
    translated: dict[str, str] = {}
    extensions = []
    for option, value in options.items():
        if option in words:
            translated[words[option]] = value
        elif option.startswith(EXTENSION) and module == OAUTH_LOGIN:
            extensions.append(f"{option.removeprefix(EXTENSION)}={listed(value)}")
        elif not (module == OAUTH_LOGIN and _needs_no_word(option, value)):
            first = USE_SECURITY if module == OAUTH_LOGIN else "Delete the option."
            raise ConfigError(
                f"the Python client has no word for the option {option} of {module}",
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
    if name in OURS:
        raise ConfigError("cannot be set", where=_where(connection, name), remedy=OURS[name])


def _no_word(connection: Connection, name: str) -> ConfigError:
    if name in PYTHONS:
        what = "it is the Python client's word, which Spark's Java does not know"
        return ConfigError(what, where=_where(connection, name), remedy=PYTHONS[name])
    if name.startswith(_SPARKS):
        what = f"no client knows it with {_SPARKS.removesuffix('.')} in front, as Spark writes it"
        return ConfigError(
            what, where=_where(connection, name), remedy=f"Write {name.removeprefix(_SPARKS)}."
        )
    return ConfigError(
        "the Python client has no word for it",
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
        remedy=f"Convert it ({store.conversion}) and set the type to {' or '.join(store.words)}.",
    )
