"""The demo's Kafka broker: without security for this machine alone, or secured as chosen.

On a secured broker each user gets only the permissions it needs: Evergrid those that the
documentation lists, the sender of the sample events those to write to the source topics. The
administrator only creates the topics.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evergrid.broker import rights
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.broker.jars import Jars
from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.rights import RequiredRights
from evergrid.config.sasl import Mechanism
from evergrid.config.settings import Connection
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import ConfigError

if TYPE_CHECKING:
    from evergrid.broker.secured_broker import SecuredBroker

_PARTITIONS = 2
_EVERGRID = "evergrid"
_SENDER = "sample-events"


class KafkaSecurity(enum.Enum):
    """How clients connect to the demo's broker; all but the first with TLS and ACLs."""

    NONE = "none"
    SSL = "ssl"
    PLAIN = "plain"
    SCRAM = "scram"
    OAUTH = "oauth"


_LISTENERS = {
    KafkaSecurity.SSL: Listener(Protocol.SSL, client_certificates=True),
    KafkaSecurity.PLAIN: Listener(Protocol.SASL_SSL, Mechanism.PLAIN),
    KafkaSecurity.SCRAM: Listener(Protocol.SASL_SSL, Mechanism.SCRAM_SHA_512),
    KafkaSecurity.OAUTH: Listener(Protocol.SASL_SSL, Mechanism.OAUTHBEARER),
}
_DESCRIPTIONS = {
    KafkaSecurity.SSL: "with client certificates",
    KafkaSecurity.PLAIN: "with TLS and passwords (PLAIN)",
    KafkaSecurity.SCRAM: "with TLS and passwords (SCRAM-SHA-512)",
    KafkaSecurity.OAUTH: "with TLS and tokens (OAUTHBEARER)",
}


class DemoBroker:
    """Keeps its data in `directory`/broker and its secrets in `directory`/security."""

    def __init__(
        self,
        directory: Path,
        security: KafkaSecurity,
        port: int | None,
        *,
        jars: Jars,
        report: Callable[[str], None],
    ) -> None:
        self._listener = _LISTENERS.get(security)
        self._secured: SecuredBroker | None = None
        if self._listener is None:
            report("Starting a Kafka broker.")
            data = directory / "broker"
            self._broker = EmbeddedBroker(data, port, jars=jars, report=report)
            return
        report(f"Starting a Kafka broker {_DESCRIPTIONS[security]}.")
        self._secured = _secured_broker()(
            directory / "security",
            (self._listener,),
            (_EVERGRID, _SENDER),
            port,
            data=directory / "broker",
            jars=jars,
            report=report,
        )
        self._broker = self._secured.broker

    @property
    def bootstrap(self) -> str:
        return self._broker.bootstrap

    @property
    def pid(self) -> int | None:
        return self._broker.pid

    def start(self, sources: Sequence[str], prefix: str, control: str) -> None:
        """Start, create these source topics, and grant the permissions."""
        (self._secured or self._broker).start()
        administrator = self._broker.connection()
        topics.create(administrator, [NewTopicSpec(name, _PARTITIONS) for name in sources])
        if self._listener is not None:
            needed = RequiredRights(tuple(sources), prefix, control).whole()
            rights.grant(administrator, self._listener.principal(_EVERGRID), needed)
            sending = rights.producer_rights(sources)
            rights.grant(administrator, self._listener.principal(_SENDER), sending)

    def restart(self) -> None:
        """Start the broker again after it ended, with the same address."""
        before = self.bootstrap
        self._broker.kill()
        self._broker.start()
        if self.bootstrap != before:
            raise ConfigError(
                f"address in use: the broker ended, and another program took {before}",
                remedy="Start the demo again.",
            )

    def stop(self) -> None:
        (self._secured or self._broker).stop()

    def evergrid_connection(self) -> Connection:
        return self._connection(_EVERGRID)

    def sender_connection(self) -> Connection:
        return self._connection(_SENDER)

    def config_section(self) -> dict[str, object]:
        """The `kafka` section of the configuration; secrets are references to files."""
        if self._secured is None or self._listener is None:
            return {"bootstrap": self.bootstrap}
        return self._secured.section(self._listener, _EVERGRID).document()

    def _connection(self, name: str) -> Connection:
        if self._secured is None or self._listener is None:
            return self._broker.connection(name)
        return self._secured.connection(self._listener, name, called=name)


def _secured_broker() -> type[SecuredBroker]:
    """Imported only when it is needed: its certificates need a package of an extra."""
    try:
        from evergrid.broker.secured_broker import SecuredBroker
    except ImportError as error:
        raise ConfigError(
            f"a secured broker needs the Python package cryptography ({error})",
            remedy="Install it: pip install 'evergrid[demo-security]'",
        ) from error
    return SecuredBroker
