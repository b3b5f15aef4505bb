"""The `kafka` section of a configuration for a client of a listener, with the Java client's names.

Secrets are references to files, so that the section can be shown to anyone.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from evergrid.broker.listeners import Listener
from evergrid.broker.token_endpoint import SCOPE
from evergrid.config.sasl import Mechanism, login

_LOGIN_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"


class KafkaSection(msgspec.Struct, frozen=True):
    """The `kafka` section of a configuration."""

    bootstrap: str
    properties: dict[str, str]

    def document(self) -> dict[str, object]:
        """The section as YAML has it."""
        return {"bootstrap": self.bootstrap, "properties": dict(self.properties)}


class Credentials(msgspec.Struct, frozen=True):
    """An account: its name, and the files with its secrets and with the trusted authority."""

    name: str
    password: Path
    certificate: Path
    authority: Path
    token_url: str = ""


def kafka_section(listener: Listener, bootstrap: str, known: Credentials) -> KafkaSection:
    """How a client connects to `listener` at that address."""
    properties = {"security.protocol": listener.protocol.value}
    if listener.protocol.is_encrypted:
        properties |= _trust(known)
    if listener.client_certificates:
        properties |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(known.certificate),
        }
    if listener.mechanism is not None:
        properties |= _login(listener.mechanism, known)
    return KafkaSection(bootstrap, properties)


def _trust(known: Credentials) -> dict[str, str]:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(known.authority)}


def _login(mechanism: Mechanism, known: Credentials) -> dict[str, str]:
    secret = f"${{file:{known.password}}}"
    if mechanism is not Mechanism.OAUTHBEARER:
        options = {"username": known.name, "password": secret}
        return {
            "sasl.mechanism": mechanism.value,
            "sasl.jaas.config": login(mechanism, options),
        }
    # Java takes the authority of the token endpoint from the login's own options.
    options = {"clientId": known.name, "clientSecret": secret, "scope": SCOPE, **_trust(known)}
    return {
        "sasl.mechanism": mechanism.value,
        "sasl.jaas.config": login(mechanism, options),
        "sasl.login.callback.handler.class": _LOGIN_HANDLER,
        "sasl.oauthbearer.token.endpoint.url": known.token_url,
    }
