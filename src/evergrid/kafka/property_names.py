"""Which property of the Python client (librdkafka) stands for which of the Java client.

Tables only: `properties.py` and `login_properties.py` use them.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping

import msgspec


class Role(enum.Enum):
    """Which kind of client a property is for."""

    ANY = "any"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class PropertyName(msgspec.Struct, frozen=True):
    """librdkafka's name of a property, the kind of client that has it, and its value's change."""

    name: str
    role: Role = Role.ANY
    value: Callable[[str], str] = str


def _same(role: Role, *names: str) -> dict[str, PropertyName]:
    return {name: PropertyName(name, role) for name in names}


def _system_default(value: str) -> str:
    return "0" if value.strip() == "-1" else value


def _kilobytes(value: str) -> str:
    return str(max(1, int(value) // 1024)) if value.strip().isdigit() else value


def _or_none(value: str) -> str:
    return value.strip() or "none"


# Java's name → librdkafka's.
PROPERTY_NAMES: Mapping[str, PropertyName] = {
    **_same(
        Role.ANY,
        "bootstrap.servers",
        "client.dns.lookup",
        "client.id",
        "client.rack",
        "connections.max.idle.ms",
        "enable.metrics.push",
        "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "sasl.oauthbearer.sub.claim.name",
        "sasl.oauthbearer.token.endpoint.url",
        "security.protocol",
        "socket.connection.setup.timeout.ms",
        "ssl.key.password",
    ),
    "max.request.size": PropertyName("message.max.bytes"),
    "receive.buffer.bytes": PropertyName("socket.receive.buffer.bytes", value=_system_default),
    "request.timeout.ms": PropertyName("socket.timeout.ms"),
    "sasl.mechanism": PropertyName("sasl.mechanisms"),
    "send.buffer.bytes": PropertyName("socket.send.buffer.bytes", value=_system_default),
    "ssl.endpoint.identification.algorithm": PropertyName(
        "ssl.endpoint.identification.algorithm", value=_or_none
    ),
    **_same(
        Role.PRODUCER,
        "acks",
        "batch.size",
        "compression.type",
        "delivery.timeout.ms",
        "enable.idempotence",
        "linger.ms",
        "max.in.flight.requests.per.connection",
        "retries",
        "transaction.timeout.ms",
    ),
    "buffer.memory": PropertyName("queue.buffering.max.kbytes", Role.PRODUCER, _kilobytes),
    **_same(
        Role.CONSUMER,
        "check.crcs",
        "fetch.max.bytes",
        "fetch.min.bytes",
        "heartbeat.interval.ms",
        "isolation.level",
        "max.partition.fetch.bytes",
        "max.poll.interval.ms",
        "session.timeout.ms",
    ),
    "fetch.max.wait.ms": PropertyName("fetch.wait.max.ms", Role.CONSUMER),
}


class Store(msgspec.Struct, frozen=True):
    """A Java key or trust store: librdkafka's properties for each type that it can read itself.

    All properties of the store begin with `family`. One that is not named for the store's type is
    refused. `conversion` is the command that makes a readable store of another.
    """

    family: str
    names: Mapping[str, Mapping[str, tuple[str, ...]]]
    conversion: str


PKCS12 = "PKCS12"
TRUST_STORE = Store(
    "ssl.truststore.",
    {"PEM": {"location": ("ssl.ca.location",), "certificates": ("ssl.ca.pem",)}},
    "keytool -exportcert -rfc -keystore <file> -alias <name> -file ca.pem",
)
KEY_STORE = Store(
    "ssl.keystore.",
    {
        # Java wants key and certificates in one file; librdkafka reads each out of it.
        "PEM": {
            "location": ("ssl.key.location", "ssl.certificate.location"),
            "key": ("ssl.key.pem",),
            "certificate.chain": ("ssl.certificate.pem",),
        },
        PKCS12: {"location": ("ssl.keystore.location",), "password": ("ssl.keystore.password",)},
    },
    "keytool -importkeystore -srckeystore <file> -destkeystore client.p12 -deststoretype PKCS12",
)
STORES = (TRUST_STORE, KEY_STORE)
DEFAULT_STORE_TYPE = "JKS"  # Java's, which also stands for files of the other kind
# How properties end that hold certificates and keys themselves, of either client.
PEM_TEXTS = (".pem", "store.certificates", "store.key", "store.certificate.chain")

# Login module → its options → librdkafka's properties; and what the module for tokens implies.
# Java takes the authority of the token endpoint from options of the login, as a trust store.
_USER = {"username": "sasl.username", "password": "sasl.password"}
OAUTH_LOGIN = "OAuthBearerLoginModule"
LOGIN_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "PlainLoginModule": _USER,
    "ScramLoginModule": _USER,
    OAUTH_LOGIN: {
        "clientId": "sasl.oauthbearer.client.id",
        "clientSecret": "sasl.oauthbearer.client.secret",
        "scope": "sasl.oauthbearer.scope",
    },
}
OIDC: Mapping[str, str] = {"sasl.oauthbearer.method": "oidc"}
EXTENSION = "extension_"  # of the OAuth login module; librdkafka takes them as one list
TOKEN_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
TOKEN_TRUST = {"ssl.ca.location": "https.ca.location", "ssl.ca.pem": "https.ca.pem"}

# Java's way of naming what `sasl.oauthbearer.method=oidc` says for librdkafka. The Java client
# has had the class under two names; from its version 4 on the old one is gone.
HANDLER = "sasl.login.callback.handler.class"
_OAUTH = "org.apache.kafka.common.security.oauthbearer"
OIDC_HANDLER = f"{_OAUTH}.OAuthBearerLoginCallbackHandler"
OIDC_HANDLERS = frozenset((OIDC_HANDLER, f"{_OAUTH}.secured.OAuthBearerLoginCallbackHandler"))

# What Kafka's clients take as properties since 4.1 (KIP-1139), and as options of the login before.
CREDENTIALS: Mapping[str, str] = {
    "sasl.oauthbearer.client.credentials.client.id": "clientId",
    "sasl.oauthbearer.client.credentials.client.secret": "clientSecret",
    "sasl.oauthbearer.scope": "scope",
}

USE_SECURITY = (
    "Use kafka.security with mechanism OAUTHBEARER instead of the sasl.* lines: it gets tokens by "
    "client credentials, for both clients."
)

# When Java renews a token: after half of its lifetime, the earliest that it can. The default is
# four fifths, as for librdkafka; but after a late renewal a query fails, since Java does not try a
# second time when a token has expired.
REFRESH = "sasl.login.refresh.window.factor"
EARLY_REFRESH = "0.5"

# How the names of properties begin that librdkafka does not need: they tune the Java client, or are
# for Kerberos, which is refused where it is used.
JAVA_ONLY = (
    "default.api.timeout.ms",
    "sasl.kerberos.",
    "sasl.login.connect.",
    "sasl.login.read.",
    "sasl.login.refresh.",
    "sasl.login.retry.",
    "sasl.oauthbearer.scope.claim.name",
    "socket.connection.setup.timeout.max.ms",
    "ssl.keymanager.algorithm",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
)

# Values that librdkafka follows anyway. It uses TLS 1.2 and 1.3, so values that allow older
# versions, or 1.3 alone, are not among them. It gets tokens by client credentials.
IMPLIED: Mapping[str, str] = {
    "sasl.oauthbearer.jwt.retriever.class": rf"{_OAUTH}\.(Default|ClientCredentials)JwtRetriever",
    "sasl.oauthbearer.jwt.validator.class": rf"{_OAUTH}\.(Default|Client)JwtValidator",
    "ssl.protocol": r"SSL|TLS(v1\.[23])?",
    "ssl.enabled.protocols": r"(TLSv1\.3\s*,\s*)?TLSv1\.2(\s*,\s*TLSv1\.3)?",
}

# Below, names are patterns. Properties that Evergrid sets itself, and why nobody else may.
RESERVED: Mapping[str, str] = {
    r"auto\.offset\.reset|enable\.auto\.commit|group\.(instance\.)?id": (
        "Evergrid keeps its own position in each topic; delete the line."
    ),
    r"(key|value)\.(de)?serializer": "Evergrid reads and writes bytes; delete the line.",
}

# Properties of the Python client that Java does not know: what to write instead, for both.
PYTHON_ONLY: Mapping[str, str] = {
    r"sasl\.mechanisms": "Write sasl.mechanism, without the last letter.",
    r"sasl\.(username|password)": (
        "Write sasl.mechanism and sasl.jaas.config, or use kafka.security."
    ),
    r"sasl\.oauthbearer\.(client\.id|client\.secret|extensions|method)": (
        "Write Java's sasl.* lines, or use kafka.security with mechanism OAUTHBEARER."
    ),
    r"ssl\.(certificate|key)\.location": (
        "Use kafka.security.certificate and key, or write ssl.keystore.type and location."
    ),
    r"ssl\.ca\.location": (
        "Use kafka.security.ca, or write ssl.truststore.type=PEM and ssl.truststore.location."
    ),
}

# Properties of Java alone, where "move it to kafka.java" would not be the best advice.
REMEDIES: Mapping[str, str] = {
    r"sasl\.(login|client)\.callback\.handler\.class|sasl\.login\.class|.*\.jwt\..*\.class": (
        "The Python client cannot run a Java class. For client credentials from a token endpoint "
        "use kafka.security with mechanism OAUTHBEARER; else move the sasl.* lines to kafka.java, "
        "and set how the Python client logs in under kafka.python."
    ),
    "|".join(map(re.escape, CREDENTIALS)): (
        "It is for OAUTHBEARER, and sasl.jaas.config has another login: delete one of the two."
    ),
    r"ssl\.(enabled\.protocols|protocol)": (
        "The Python client uses TLS 1.2 and 1.3, the newest that both sides have: delete the line, "
        "or move it to kafka.java if it is meant for Spark alone."
    ),
    r"ssl\.cipher\.suites": (
        "The two clients name ciphers differently: set it under kafka.java with Java's names and "
        "under kafka.python with OpenSSL's."
    ),
    r"ssl\.truststore\.password": "A PEM truststore has no password; delete the line.",
    r"ssl\.keystore\.password": (
        "A PEM keystore has no password, its key may have one: ssl.key.password. Or set "
        "ssl.keystore.type to PKCS12 if it is such a file."
    ),
    ".*": (
        "If only Spark's Java client needs it, move it to kafka.java; if the Python client has its "
        "own setting for it, add that under kafka.python."
    ),
}


def remedy_for(name: str, remedies: Mapping[str, str]) -> str:
    """The remedy whose pattern is the first to match a property's name; empty if none does."""
    return next((text for words, text in remedies.items() if re.fullmatch(words, name)), "")
