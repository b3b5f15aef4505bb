"""The listeners of a secured broker, and the broker's settings for them.

Beside the listeners for clients there are two for the broker itself, on loopback like all:

    CONTROLLER   between broker and controller, which are one process
    INTERNAL     for the broker and its administrator

Both require the administrator's password, which is new at each start, so that only the process
that started the broker has all rights. A listener without a login would give them to every user of
this machine.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path

import msgspec

from evergrid.config.sasl import Mechanism, login

CONTROLLER, INTERNAL = "CONTROLLER", "INTERNAL"
ANONYMOUS = "ANONYMOUS"
AUDIENCE = "kafka"  # of the tokens that are accepted
KEYS_PATH = "/keys"  # of the public keys, at the issuer of the tokens

_SECURITY = "org.apache.kafka.common.security"
_OAUTH_VALIDATOR = f"{_SECURITY}.oauthbearer.OAuthBearerValidatorCallbackHandler"
_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class Protocol(enum.Enum):
    """Kafka's security protocols: with or without TLS, with or without a login."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def is_encrypted(self) -> bool:
        return self in (Protocol.SSL, Protocol.SASL_SSL)


class Listener(msgspec.Struct, frozen=True):
    """One listener; it has a mechanism exactly when its protocol has a login.

    With `client_certificates` every client must have one. A `label` tells two listeners of
    one kind apart.
    """

    protocol: Protocol
    mechanism: Mechanism | None = None
    client_certificates: bool = False
    label: str = ""

    @property
    def name(self) -> str:
        """The broker's name of the listener."""
        mechanism = self.mechanism.name if self.mechanism else ""
        certified = "CERTIFIED" if self.client_certificates else ""
        words = (self.protocol.name, mechanism, certified, self.label.upper())
        return "_".join(filter(None, words))

    def principal(self, account: str) -> str:
        """The principal of a client with that account, as ACLs name it."""
        known = self.mechanism is not None or self.client_certificates
        return f"User:{account if known else ANONYMOUS}"


class Account(msgspec.Struct, frozen=True):
    """A user name and its password."""

    name: str
    password: str

    @property
    def login(self) -> dict[str, str]:
        """The options of a login with it."""
        return {"username": self.name, "password": self.password}

    def __repr__(self) -> str:
        return f"Account({self.name!r}, hidden)"


class Security(msgspec.Struct, frozen=True):
    """The security settings of a broker.

    `certificates` is the folder with the certificate and key of each encrypted listener. The
    `accounts` are those of PLAIN and SCRAM. What an account may do is up to the ACLs, of which
    there are none at first. `issuer` is the address of a token endpoint.
    """

    listeners: tuple[Listener, ...]
    administrator: Account
    accounts: tuple[Account, ...]
    authority: Path
    certificates: Path
    issuer: str = ""

    @property
    def protocols(self) -> dict[str, str]:
        """The protocol of each listener, in order."""
        used = {listener.name: listener.protocol.value for listener in self.listeners}
        return used | dict.fromkeys((INTERNAL, CONTROLLER), Protocol.SASL_PLAINTEXT.value)

    @property
    def java_options(self) -> tuple[str, ...]:
        # Kafka fetches keys from addresses in this list alone.
        allowed = f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={self.issuer}{KEYS_PATH}"
        return (allowed,) if self.issuer else ()

    def certificate(self, listener: Listener) -> Path:
        return self.certificates / f"{listener.name.lower()}.pem"

    def certificate_setting(self, listener: Listener) -> str:
        """The broker's setting that names this file."""
        return f"{_prefix(listener.name)}ssl.keystore.location"

    def scram_mechanisms(self) -> set[Mechanism]:
        """The mechanisms whose accounts the broker stores itself, once it runs."""
        used = (listener.mechanism for listener in self.listeners)
        return {mechanism for mechanism in used if mechanism and mechanism.is_scram}

    def settings(self) -> dict[str, str]:
        """The broker's settings, apart from the addresses of its listeners."""
        settings = {
            "inter.broker.listener.name": INTERNAL,
            "sasl.mechanism.inter.broker.protocol": Mechanism.PLAIN.value,
            "sasl.mechanism.controller.protocol": Mechanism.PLAIN.value,
            "authorizer.class.name": _AUTHORIZER,
            "super.users": f"User:{self.administrator.name}",
            "allow.everyone.if.no.acl.found": "false",
            # A client certificate's owner goes by its common name.
            "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/",
        }
        own = self.administrator.login | _users((self.administrator,))
        for name in (INTERNAL, CONTROLLER):
            settings |= _login(name, Mechanism.PLAIN, own)
        for listener in self.listeners:
            settings |= self._listener(listener)
        return settings

    def _listener(self, listener: Listener) -> dict[str, str]:
        settings: dict[str, str] = {}
        if listener.protocol.is_encrypted:
            tls = trust(self.authority) | {
                "ssl.keystore.type": "PEM",
                "ssl.client.auth": "required" if listener.client_certificates else "none",
            }
            settings |= {f"{_prefix(listener.name)}{key}": value for key, value in tls.items()}
            settings[self.certificate_setting(listener)] = str(self.certificate(listener))
        if listener.mechanism is Mechanism.OAUTHBEARER:
            settings |= self._tokens(listener.name)
        elif listener.mechanism is not None:
            is_plain = listener.mechanism is Mechanism.PLAIN
            users = _users(self.accounts) if is_plain else {}
            settings |= _login(listener.name, listener.mechanism, users)
        return settings

    def _tokens(self, name: str) -> dict[str, str]:
        # The broker logs in at none of these listeners, but Kafka requires a login for it.
        unused = {"unsecuredLoginStringClaim_sub": "unused"}
        mechanism = f"{_prefix(name)}{Mechanism.OAUTHBEARER.value.lower()}."
        return _login(name, Mechanism.OAUTHBEARER, trust(self.authority) | unused) | {
            f"{mechanism}sasl.server.callback.handler.class": _OAUTH_VALIDATOR,
            f"{mechanism}sasl.oauthbearer.jwks.endpoint.url": f"{self.issuer}{KEYS_PATH}",
            f"{mechanism}sasl.oauthbearer.expected.issuer": self.issuer,
            f"{mechanism}sasl.oauthbearer.expected.audience": AUDIENCE,
            f"{mechanism}sasl.oauthbearer.clock.skew.seconds": "0",
            # A connection ends with its token unless the client brings a new one.
            f"{mechanism}connections.max.reauth.ms": "3600000",
        }


def trust(authority: Path) -> dict[str, str]:
    """Java's properties that make it trust the certificates of an authority."""
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority)}


def _users(accounts: tuple[Account, ...]) -> dict[str, str]:
    """The options of PLAIN for the accounts that may log in."""
    return {f"user_{account.name}": account.password for account in accounts}


def _login(name: str, mechanism: Mechanism, options: Mapping[str, str]) -> dict[str, str]:
    prefix = _prefix(name)
    return {
        f"{prefix}sasl.enabled.mechanisms": mechanism.value,
        f"{prefix}{mechanism.value.lower()}.sasl.jaas.config": login(mechanism, options),
    }


def _prefix(name: str) -> str:
    return f"listener.name.{name.lower()}."
