"""Why a client cannot use its cluster: the step that failed, the reason and the remedy.

It knows the error texts of both clients; the Java client's come from Spark's queries. What the
texts leave open is found out with a connection of our own (`socket_probe.py`).
"""

from __future__ import annotations

import enum
import re
from datetime import UTC, datetime

import msgspec

from evergrid.config.settings import Connection
from evergrid.kafka import socket_probe
from evergrid.kafka.identity import (
    Identity,
    has_certificate,
    identity,
    own_certificate,
    scrub,
    where,
)
from evergrid.kafka.property_names import TOKEN_ENDPOINT
from evergrid.kafka.socket_probe import Reply
from evergrid.model.errors import LinkError


class Step(enum.Enum):
    """The steps of a connection, in order; the value says that a step has succeeded."""

    HOST = "host reached"
    TLS = "TLS agreed"
    LOGIN = "login accepted"
    RIGHT = "allowed"


class Diagnosis(msgspec.Struct, frozen=True):
    """The step that failed, why, and what to do."""

    step: Step
    what: str
    remedy: str


_SETTINGS = "under kafka.security or kafka.properties"
_RELOADED = "Secret files are reloaded automatically."
_ASK = "Ask the cluster's administrator: docs/kafka.md has the commands for all rights."
_CLOCKS = "Compare the clocks of the token endpoint, of the brokers and of this machine."

# Parts of both clients' error texts, by what failed. The first match counts.
_RIGHTS = re.compile("uthorization failed|AuthorizationException|Not authorized")
_NO_TOKEN = re.compile(
    "OAUTHBEARER token|token endpoint|retrieving token|token callback|unable to obtain"
)
_TOKEN_EXPIRED = re.compile("expired token|token expired")
_TOKEN_REFUSED = re.compile("invalid_client|unauthorized_client|invalid_scope|response code 4")
_UNTRUSTED = re.compile("verify result|PKIX|certificate verify failed|could not be verified")
_MECHANISM = re.compile("Unsupported SASL mechanism|not enabled in the server")
_BAD_LOGIN = re.compile(
    "Authentication fail(ed|ure)|invalid credentials|invalid_token|SaslAuthenticationException"
)
# Java also names the alert that it sends itself, when it does not trust the broker.
_CERTIFICATE = re.compile(
    "alert (bad certificate|certificate|unknown ca)"
    "|fatal alert: (bad_certificate|certificate_|unknown_ca)"
)
_NO_TLS = re.compile(
    "PLAINTEXT broker|wrong version number|plaintext connection|SSL handshake|SSL routines"
    "|(SSL|SslAuthentication|SSLHandshake)Exception"
)


def diagnose(connection: Connection, reason: str) -> Diagnosis | None:
    """What a client's error text means for the connection; None when it is not about security."""
    who = identity(connection)
    if _RIGHTS.search(reason):
        # Name the group or id where the right is about that, and not about what we were doing. A
        # broker names the cluster when a producer may write to no topic at all; it means the topic.
        on = " on its consumer group" if "Group" in reason else ""
        on = " on its transactional id" if "Transactional" in reason else on
        return Diagnosis(Step.RIGHT, f"authorization failed for {_principal(who)}{on}", _ASK)
    if who.mechanism == "OAUTHBEARER" and _NO_TOKEN.search(reason):
        return _no_token(connection, who, reason)
    if who.mechanism and (_MECHANISM.search(reason) or _BAD_LOGIN.search(reason)):
        return _no_login(connection, who, reason)
    if who.protocol.endswith("SSL"):
        return _no_tls(connection, reason)
    return None


def probe_connection(connection: Connection) -> Diagnosis | None:
    """Why a client gets no answer, found out with our own connection; None when all is well."""
    who = identity(connection)
    unreachable = socket_probe.why_unreachable(socket_probe.addresses(connection))
    if unreachable:
        remedy = "Check that the broker runs and that kafka.bootstrap is its address."
        return Diagnosis(Step.HOST, f"no broker can be reached ({unreachable})", remedy)
    to_tls, encrypted = socket_probe.reply_to_tls(connection), who.protocol.endswith("SSL")
    if to_tls is Reply.ANSWER and not encrypted:
        remedy = f"Set security.protocol to {who.protocol.replace('PLAINTEXT', 'SSL')}."
        what = "the broker expects TLS, and this connection is plaintext"
        return Diagnosis(Step.TLS, what, remedy)
    if encrypted and to_tls is Reply.CLOSED:
        remedy = "Correct kafka.bootstrap, or set security.protocol to "
        remedy += f"{who.protocol.replace('SSL', 'PLAINTEXT')}."
        return Diagnosis(Step.TLS, "the broker does not use TLS on this port", remedy)
    if encrypted and to_tls is Reply.SILENCE:
        return _silent(Step.TLS)
    untrusted = socket_probe.why_untrusted(connection) if encrypted else ""
    if untrusted:
        return _untrusted(untrusted)
    return _silent(Step.LOGIN) if socket_probe.reply(connection) is Reply.SILENCE else None


def wants_login(connection: Connection) -> Diagnosis | None:
    """Whether the broker closes a connection that does not log in."""
    who = identity(connection)
    if who.mechanism or socket_probe.reply(connection) is not Reply.CLOSED:
        return None
    what = "the broker closed the connection; it may require a SASL login"
    remedy = f"Set security.protocol to SASL_{who.protocol}, and sasl.mechanism."
    return Diagnosis(Step.LOGIN, what, remedy)


class AccessError(LinkError):
    """A connection that failed for a reason of its security or its address, at `step`."""

    def __init__(self, what: str, *, where: str, remedy: str, step: Step) -> None:
        self.step = step
        super().__init__(what, where=where, remedy=remedy)


def access_error(connection: Connection, doing: str, trouble: Diagnosis) -> AccessError:
    """The error for a diagnosis, while `doing` something such as "read topic users"."""
    what = f"could not {doing}: {trouble.what}"
    return AccessError(what, where=where(connection), remedy=trouble.remedy, step=trouble.step)


def _principal(who: Identity) -> str:
    return who.principal or "a user without a name"


def _no_token(connection: Connection, who: Identity, reason: str) -> Diagnosis:
    place = _endpoint(connection)
    if _TOKEN_EXPIRED.search(reason):
        return Diagnosis(Step.LOGIN, f"{place} returns expired tokens", _CLOCKS)
    if _TOKEN_REFUSED.search(reason):
        what = f"authentication failed for {_principal(who)} at {place}"
        remedy = f"Correct id, secret or scope {_SETTINGS}. {_RELOADED}"
        return Diagnosis(Step.LOGIN, what, remedy)
    what = f"no token was received from {place}"
    return _at_endpoint(connection) or Diagnosis(Step.LOGIN, what, f"Check it. {_CLOCKS}")


def _at_endpoint(connection: Connection) -> Diagnosis | None:
    """What is wrong with the token endpoint, found out with a connection of our own.

    Java does not tell why it got no token. librdkafka tells it once, and then uses the token that
    it has until a broker rejects it.
    """
    if socket_probe.why_unreachable(socket_probe.token_endpoint(connection)):
        remedy = f"Check that it runs and that {TOKEN_ENDPOINT} is its address."
        return Diagnosis(Step.LOGIN, f"{_endpoint(connection)} cannot be reached", remedy)
    untrusted = socket_probe.why_untrusted(connection, socket_probe.ENDPOINT)
    if untrusted:
        what = f"{_endpoint(connection)} has a certificate that is not trusted ({untrusted})"
        remedy = "Set kafka.security.token_ca to the authority's PEM file, or ssl.truststore.* as "
        return Diagnosis(Step.LOGIN, what, f"{remedy}options in sasl.jaas.config.")
    return None


def _endpoint(connection: Connection) -> str:
    url = connection.properties.get(TOKEN_ENDPOINT, "")
    return scrub(connection, f"the token endpoint {url}".rstrip())


def _no_login(connection: Connection, who: Identity, reason: str) -> Diagnosis:
    if _MECHANISM.search(reason):
        known = reason.partition("mechanisms")[2].strip(" :are[]").partition("]")[0]
        known = known.partition(" (after")[0]
        what = f"SASL mechanism {who.mechanism} is not enabled on the broker"
        what += f", only {known}" if known else ""
        return Diagnosis(Step.LOGIN, what, f"Correct sasl.mechanism {_SETTINGS}.")
    if who.mechanism == "OAUTHBEARER":
        what = f"authentication failed: the broker rejected the token of {who.principal}"
        remedy = f"{_CLOCKS} Then compare issuer, audience and scope with what the brokers expect."
        return _at_endpoint(connection) or Diagnosis(Step.LOGIN, what, remedy)
    what = f"authentication failed for {_principal(who)}"
    return Diagnosis(Step.LOGIN, what, f"Correct user or password {_SETTINGS}. {_RELOADED}")


def _no_tls(connection: Connection, reason: str) -> Diagnosis | None:
    if _CERTIFICATE.search(reason):
        return _refused_certificate(connection)
    is_untrusted = _UNTRUSTED.search(reason)
    if not is_untrusted and not _NO_TLS.search(reason):
        return None
    remedy = f"Check security.protocol and the ssl.* settings {_SETTINGS}."
    failed = Diagnosis(Step.TLS, "TLS handshake failed", remedy)
    return probe_connection(connection) or (_untrusted("") if is_untrusted else failed)


def _silent(step: Step) -> Diagnosis:
    """A broker that does not answer: that says nothing about its security settings."""
    remedy = "Check the broker, which may be starting, overloaded or stuck, and try again."
    return Diagnosis(step, "the broker accepts connections but does not answer", remedy)


def _untrusted(why: str) -> Diagnosis:
    if "expired" in why:
        remedy = "Ask the cluster's administrator to renew it."
        return Diagnosis(Step.TLS, "the broker's certificate has expired", remedy)
    if "mismatch" in why or "not valid for" in why:
        remedy = "Name the broker in kafka.bootstrap as its certificate does."
        return Diagnosis(Step.TLS, f"the broker's certificate is for another name ({why})", remedy)
    remedy = "Set kafka.security.ca, or ssl.truststore.*, to the PEM file of the authority that "
    remedy += "signed it."
    told = f" ({why})" if why else ""
    return Diagnosis(Step.TLS, f"the broker's certificate is not trusted{told}", remedy)


def _refused_certificate(connection: Connection) -> Diagnosis:
    own = own_certificate(connection)
    if own is not None and own.expires < datetime.now(UTC):
        what = f"our certificate of {own.subject} expired at {own.expires:%Y-%m-%d %H:%M} UTC"
        return Diagnosis(Step.TLS, what, "Replace the file: it is reloaded automatically.")
    if not has_certificate(connection):
        what = "the broker requires a client certificate, and none is configured"
        return Diagnosis(
            Step.TLS, what, "Set kafka.security.certificate and key, or ssl.keystore.*."
        )
    remedy = "Have it signed by an authority that the broker trusts."
    return Diagnosis(Step.TLS, "the broker rejected our client certificate", remedy)
