"""How one logs in to Kafka, and the line that tells Java so."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from evergrid.config.secrets import escaped, outside_references

_SECURITY = "org.apache.kafka.common.security"


class Mechanism(enum.Enum):
    """The value is Kafka's word."""

    PLAIN = "PLAIN"
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    OAUTHBEARER = "OAUTHBEARER"

    @property
    def module(self) -> str:
        """The login module of both sides."""
        if self is Mechanism.OAUTHBEARER:
            return f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule"
        return f"{_SECURITY}.{'scram.Scram' if self.is_scram else 'plain.Plain'}LoginModule"

    @property
    def is_scram(self) -> bool:
        return self in (Mechanism.SCRAM_SHA_256, Mechanism.SCRAM_SHA_512)


def login(mechanism: Mechanism, options: Mapping[str, str]) -> str:
    """The value of `sasl.jaas.config`, as Kafka reads it; references to secrets may be in it."""
    quoted = {name: outside_references(escaped, value) for name, value in options.items()}
    words = (f' {name}="{value}"' for name, value in quoted.items())
    return f"{mechanism.module} required{''.join(words)};"
