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

from evergrid.broker.loopback_ports import HOST
from evergrid.config.sasl import Mechanism, login

CONTROLLER, INTERNAL = "CONTROLLER", "INTERNAL"
ANONYMOUS = "ANONYMOUS"

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
        words = [self.protocol.name]
        if self.mechanism:
            words.append(self.mechanism.name)
        if self.client_certificates:
            words.append("CERTIFIED")
        return "_".join((*words, self.label.upper()) if self.label else words)

    def principal(self, account: str) -> str:
        """The principal of a client with that account, as ACLs name it."""
        known = self.mechanism is not None or self.client_certificates
        return f"User:{account if known else ANONYMOUS}"


class Account(msgspec.Struct, frozen=True):
    """A user name and its password."""

    name: str
    password: str

    def __repr__(self) -> str:
        return f"Account({self.name!r}, hidden)"


class Issuer(msgspec.Struct, frozen=True):
    """The issuer whose tokens a broker accepts, their audience, and where the keys are."""

    name: str
    audience: str
    keys_url: str


class Security(msgspec.Struct, frozen=True):
    """The security settings of a broker.

    `certificates` is the folder with the certificate and key of each encrypted listener. The
    `accounts` are those of PLAIN and SCRAM. What an account may do is up to the ACLs, of which
    there are none at first.
    """

    listeners: tuple[Listener, ...]
    administrator: Account
    accounts: tuple[Account, ...]
    authority: Path
    certificates: Path
    issuer: Issuer | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All listeners that need a port of their own, in order."""
        return (*(listener.name for listener in self.listeners), INTERNAL)

    @property
    def java_options(self) -> tuple[str, ...]:
        if self.issuer is None:
            return ()
        # Kafka fetches keys from addresses in this list alone.
        return (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={self.issuer.keys_url}",)

    def certificate(self, listener: Listener) -> Path:
        return self.certificates / f"{listener.name.lower()}.pem"

    def certificate_setting(self, listener: Listener) -> str:
        """The broker's setting that names this file."""
        return f"{_prefix(listener.name)}ssl.keystore.location"

    def scram_mechanisms(self) -> tuple[Mechanism, ...]:
        """The mechanisms whose accounts the broker stores itself, once it runs."""
        used = {listener.mechanism for listener in self.listeners}
        return tuple(
            mechanism for mechanism in Mechanism if mechanism in used and mechanism.is_scram
        )

    def settings(self, ports: Mapping[str, int], controller: int) -> dict[str, str]:
        """The broker's settings, for listeners at these ports."""
        protocols = {listener.name: listener.protocol for listener in self.listeners}
        protocols |= dict.fromkeys((INTERNAL, CONTROLLER), Protocol.SASL_PLAINTEXT)
        addresses = [f"{name}://{HOST}:{port}" for name, port in ports.items()]
        settings = {
            "listeners": ",".join((*addresses, f"{CONTROLLER}://{HOST}:{controller}")),
            "advertised.listeners": ",".join(addresses),
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol.value}" for name, protocol in protocols.items()
            ),
            "inter.broker.listener.name": INTERNAL,
            "sasl.mechanism.inter.broker.protocol": Mechanism.PLAIN.value,
            "sasl.mechanism.controller.protocol": Mechanism.PLAIN.value,
            "authorizer.class.name": _AUTHORIZER,
            "super.users": f"User:{self.administrator.name}",
            "allow.everyone.if.no.acl.found": "false",
            # A client certificate's owner goes by its common name.
            "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/",
        }
        for name in (INTERNAL, CONTROLLER):
            settings |= self._plain(name, (self.administrator,), own=self.administrator)
        for listener in self.listeners:
            settings |= self._listener(listener)
        return settings

    def _listener(self, listener: Listener) -> dict[str, str]:
        settings: dict[str, str] = {}
        if listener.protocol.is_encrypted:
            settings |= self._encrypted(listener)
        if listener.mechanism is Mechanism.PLAIN:
            settings |= self._plain(listener.name, self.accounts)
        elif listener.mechanism is Mechanism.OAUTHBEARER:
            settings |= self._tokens(listener.name)
        elif listener.mechanism is not None:
            settings |= _login(listener.name, listener.mechanism, {})
        return settings

    def _encrypted(self, listener: Listener) -> dict[str, str]:
        settings = {
            "ssl.keystore.type": "PEM",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority),
            "ssl.client.auth": "required" if listener.client_certificates else "none",
        }
        prefixed = {f"{_prefix(listener.name)}{key}": value for key, value in settings.items()}
        return {**prefixed, self.certificate_setting(listener): str(self.certificate(listener))}

    def _plain(
        self, name: str, accounts: tuple[Account, ...], own: Account | None = None
    ) -> dict[str, str]:
        """The accounts that may log in, and the broker's own account there."""
        options = {"username": own.name, "password": own.password} if own else {}
        options |= {f"user_{account.name}": account.password for account in accounts}
        return _login(name, Mechanism.PLAIN, options)

    def _tokens(self, name: str) -> dict[str, str]:
        assert self.issuer is not None
        trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.authority)}
        # The broker logs in at none of these listeners, but Kafka requires a login for it.
        unused = {"unsecuredLoginStringClaim_sub": "unused"}
        mechanism = f"{_prefix(name)}{Mechanism.OAUTHBEARER.value.lower()}."
        return _login(name, Mechanism.OAUTHBEARER, trust | unused) | {
            f"{mechanism}sasl.server.callback.handler.class": _OAUTH_VALIDATOR,
            f"{mechanism}sasl.oauthbearer.jwks.endpoint.url": self.issuer.keys_url,
            f"{mechanism}sasl.oauthbearer.expected.issuer": self.issuer.name,
            f"{mechanism}sasl.oauthbearer.expected.audience": self.issuer.audience,
            f"{mechanism}sasl.oauthbearer.clock.skew.seconds": "0",
            # A connection ends with its token unless the client brings a new one.
            f"{mechanism}connections.max.reauth.ms": "3600000",
        }


def _login(name: str, mechanism: Mechanism, options: Mapping[str, str]) -> dict[str, str]:
    prefix = _prefix(name)
    return {
        f"{prefix}sasl.enabled.mechanisms": mechanism.value,
        f"{prefix}{mechanism.value.lower()}.sasl.jaas.config": login(mechanism, options),
    }


def _prefix(name: str) -> str:
    return f"listener.name.{name.lower()}."
