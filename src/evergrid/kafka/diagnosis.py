"""What kept a client from its cluster: how far it came, in plain words, and what to do.

Both clients' words are known here, the Java client's for what Spark says of its queries. What
they leave open is found out by knocking again by hand.
"""

from __future__ import annotations

import enum
from datetime import UTC, datetime

import msgspec

from evergrid.config.settings import Connection
from evergrid.kafka import socket_probe
from evergrid.kafka.identity import (
    Identity,
    identity,
    own_certificate,
    scrub,
    shows_certificate,
    where,
)
from evergrid.kafka.property_names import TOKEN_ENDPOINT
from evergrid.kafka.socket_probe import Reply, Speech
from evergrid.model.errors import LinkError


class Step(enum.Enum):
    """The way of a client to its cluster; the value is what is done when a step is taken."""

    HOST = "host reached"
    TLS = "TLS agreed"
    LOGIN = "login accepted"
    RIGHT = "allowed"


class Trouble(msgspec.Struct, frozen=True):
    """The step that failed, why, and the remedy."""

    step: Step
    what: str
    remedy: str


_SETTINGS = "under kafka.security or kafka.properties"
_BY_ITSELF = "What stands in a file is read again by itself."
_ASK = "Ask who runs the cluster for it: docs/kafka.md has the commands for all rights."
_CLOCKS = "Compare the clocks of the token endpoint, of the brokers and of this machine."

# What both clients say, by the step at which it is said. The first that fits counts.
_RIGHTS = ("uthorization failed", "AuthorizationException", "Not authorized")
_NO_TOKEN = (
    "OAUTHBEARER token",
    "token endpoint",
    "retrieving token",
    "token callback",
    "unable to obtain",
)
_TOKEN_EXPIRED = ("unexpired token", "expired token", "token expired")
_TOKEN_REFUSED = ("invalid_client", "unauthorized_client", "invalid_scope", "response code 4")
_UNTRUSTED = ("verify result", "PKIX", "certificate verify failed", "could not be verified")
_MECHANISM = ("Unsupported SASL mechanism", "not enabled in the server")
_BAD_LOGIN = (
    "Authentication failed",
    "Authentication failure",
    "invalid credentials",
    "invalid_token",
    "SaslAuthenticationException",
)
_CERTIFICATE = (
    "alert bad certificate",
    "alert certificate",
    "alert unknown ca",
    # Java also names the alert that it would send itself, where it is the one who does not trust.
    "fatal alert: bad_certificate",
    "fatal alert: certificate_",
    "fatal alert: unknown_ca",
)
_NO_TLS = (
    "PLAINTEXT broker",
    "wrong version number",
    "plaintext connection",
    "SSLException",
    "SSL handshake",
    "SslAuthenticationException",
    "SSLHandshakeException",
    "SSL routines",
)


def diagnose(connection: Connection, reason: str) -> Trouble | None:
    """What `reason`, in a client's words, means for the connection; None when it is about no
    security at all."""
    who = identity(connection)
    if _has(reason, _RIGHTS):
        return Trouble(Step.RIGHT, f"{_principal(who)} has no right to{_on(reason)}", _ASK)
    if who.mechanism == "OAUTHBEARER" and _has(reason, _NO_TOKEN):
        return _no_token(connection, reason)
    if who.mechanism and _has(reason, (*_MECHANISM, *_BAD_LOGIN)):
        return _no_login(connection, who, reason)
    if who.protocol.endswith("SSL") and _has(reason, (*_CERTIFICATE, *_UNTRUSTED, *_NO_TLS)):
        return _no_tls(connection, reason)
    return None


def knock(connection: Connection) -> Trouble | None:
    """Why a client might get no answer, found out without it; None when all seems well."""
    who = identity(connection)
    unreached = socket_probe.unreached(socket_probe.addresses(connection))
    if unreached:
        remedy = "Check that the broker runs and that kafka.bootstrap is its address."
        return Trouble(Step.HOST, f"no broker can be reached ({unreached})", remedy)
    spoken, encrypted = socket_probe.speech(connection), who.protocol.endswith("SSL")
    if spoken is Speech.TLS and not encrypted:
        remedy = f"Set security.protocol to {who.protocol.replace('PLAINTEXT', 'SSL')}."
        return Trouble(Step.TLS, "the broker speaks TLS there, and we do not", remedy)
    if encrypted and spoken is not Speech.TLS:
        return _without_tls(who) if spoken is Speech.OTHER else _silent(Step.TLS)
    untrusted = socket_probe.untrusted(connection) if encrypted else ""
    if untrusted:
        return _untrusted(untrusted)
    return _silent(Step.LOGIN) if socket_probe.reply(connection) is Reply.SILENCE else None


def wants_login(connection: Connection) -> Trouble | None:
    """For a broker that hangs up without a word: it may wait for a login that never comes."""
    who = identity(connection)
    if who.mechanism or socket_probe.reply(connection) is not Reply.HANG_UP:
        return None
    protocol = f"SASL_{who.protocol}"
    what = "the broker hangs up; it may want another kind of login"
    return Trouble(Step.LOGIN, what, f"Set security.protocol to {protocol}, and sasl.mechanism.")


class ShutOut(LinkError):
    """A client that did not get in; `step` is where it was held up."""

    def __init__(self, what: str, *, where: str, remedy: str, step: Step) -> None:
        self.step = step
        super().__init__(what, where=where, remedy=remedy)


def explained(connection: Connection, doing: str, trouble: Trouble) -> ShutOut:
    """The sentence for it."""
    what = f"could not {doing}: {trouble.what}"
    return ShutOut(what, where=where(connection), remedy=trouble.remedy, step=trouble.step)


def _has(reason: str, fragments: tuple[str, ...]) -> bool:
    return any(fragment in reason for fragment in fragments)


def _on(reason: str) -> str:
    """What the right is about, where it is not what we were doing.

    A broker speaks of the cluster when a producer may write to no topic at all: the topic it is.
    """
    return " use its consumer group" if "Group" in reason else ""


def _principal(who: Identity) -> str:
    return who.principal or "a user without a name"


def _no_token(connection: Connection, reason: str) -> Trouble:
    place = _endpoint(connection)
    if _has(reason, _TOKEN_EXPIRED):
        return Trouble(Step.LOGIN, f"{place} gives tokens that have expired already", _CLOCKS)
    if _has(reason, _TOKEN_REFUSED):
        who = _principal(identity(connection))
        remedy = f"Correct id, secret or scope {_SETTINGS}. {_BY_ITSELF}"
        return Trouble(Step.LOGIN, f"{place} does not take {who} with this secret", remedy)
    found = _at_endpoint(connection)
    if found is not None:
        return found
    return Trouble(Step.LOGIN, f"no token could be had from {place}", f"Check it. {_CLOCKS}")


def _at_endpoint(connection: Connection) -> Trouble | None:
    """What is wrong with the token endpoint, found out without a client.

    Java does not tell why it got no token. librdkafka does so once, and then goes on with the
    token that it has until a broker does not take that any more.
    """
    if socket_probe.unreached(socket_probe.token_endpoint(connection)):
        remedy = f"Check that it runs and that {TOKEN_ENDPOINT} is its address."
        return Trouble(Step.LOGIN, f"{_endpoint(connection)} cannot be reached", remedy)
    untrusted = socket_probe.untrusted_endpoint(connection)
    if untrusted:
        what = f"{_endpoint(connection)} shows a certificate that is not trusted ({untrusted})"
        remedy = "Set kafka.security.token_ca to the authority's PEM file, or ssl.truststore.* as "
        return Trouble(Step.LOGIN, what, f"{remedy}options in sasl.jaas.config.")
    return None


def _endpoint(connection: Connection) -> str:
    url = connection.properties.get(TOKEN_ENDPOINT, "")
    return scrub(connection, f"the token endpoint {url}".rstrip())


def _no_login(connection: Connection, who: Identity, reason: str) -> Trouble:
    if _has(reason, _MECHANISM):
        known = reason.partition("mechanisms")[2].strip(" :are[]").partition("]")[0]
        known = known.partition(" (after")[0]
        what = f"the broker does not offer {who.mechanism}" + (f" but {known}" if known else "")
        return Trouble(Step.LOGIN, what, f"Correct sasl.mechanism {_SETTINGS}.")
    if who.mechanism == "OAUTHBEARER":
        what = f"the broker does not take the token of {who.principal}"
        remedy = f"{_CLOCKS} Then compare issuer, audience and scope with what the brokers expect."
        return _at_endpoint(connection) or Trouble(Step.LOGIN, what, remedy)
    what = f"the broker does not take {_principal(who)} with this password"
    return Trouble(Step.LOGIN, what, f"Correct user or password {_SETTINGS}. {_BY_ITSELF}")


def _no_tls(connection: Connection, reason: str) -> Trouble:
    if _has(reason, _CERTIFICATE):
        return _refused_certificate(connection)
    found = knock(connection)
    if found is not None:
        return found
    if _has(reason, _UNTRUSTED):
        return _untrusted("")
    remedy = f"Check security.protocol and the ssl.* settings {_SETTINGS}."
    return Trouble(Step.TLS, "no TLS connection could be made", remedy)


def _without_tls(who: Identity) -> Trouble:
    protocol = who.protocol.replace("SSL", "PLAINTEXT")
    remedy = f"Correct kafka.bootstrap, or set security.protocol to {protocol}."
    return Trouble(Step.TLS, "the broker does not speak TLS there", remedy)


def _silent(step: Step) -> Trouble:
    """Nothing is known of a broker's security that says nothing: so nothing is said of it."""
    remedy = "Look at the broker, which may be starting, overloaded or stuck, and try again."
    return Trouble(step, "the broker accepts connections but does not answer", remedy)


def _untrusted(why: str) -> Trouble:
    if "expired" in why:
        remedy = "Have who runs the cluster renew it."
        return Trouble(Step.TLS, "the broker's certificate has expired", remedy)
    if "mismatch" in why or "not valid for" in why:
        remedy = "Name the broker in kafka.bootstrap as its certificate does."
        return Trouble(Step.TLS, f"the broker's certificate is for another name ({why})", remedy)
    remedy = "Set kafka.security.ca, or ssl.truststore.*, to the PEM file of the authority that "
    remedy += "signed it."
    told = f" ({why})" if why else ""
    return Trouble(Step.TLS, f"the broker's certificate is not trusted here{told}", remedy)


def _refused_certificate(connection: Connection) -> Trouble:
    own = own_certificate(connection)
    if own is not None and own.ends < datetime.now(UTC):
        what = f"our certificate of {own.subject} expired at {own.ends:%Y-%m-%d %H:%M} UTC"
        return Trouble(Step.TLS, what, "Put a new one in its place: it is read again by itself.")
    if not shows_certificate(connection):
        remedy = "Set kafka.security.certificate and key, or ssl.keystore.*."
        return Trouble(
            Step.TLS, "the broker wants a certificate from us, and there is none", remedy
        )
    remedy = "Have it signed by an authority that the broker trusts."
    return Trouble(Step.TLS, "the broker does not take our certificate", remedy)
