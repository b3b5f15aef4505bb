"""The demo's Kafka broker: without security for this machine alone, or secured as chosen.

On a secured broker each user gets only the permissions it needs: Evergrid those that the
documentation lists, the sender of the sample events those to write to the source topics. The
administrator only creates the topics.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evergrid.broker import rights
from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.broker.jars import Jars
from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.rights import RequiredRights
from evergrid.config.sasl import Mechanism
from evergrid.config.settings import Connection, Settings
from evergrid.kafka import topics
from evergrid.kafka.topics import NewTopicSpec
from evergrid.model.errors import ConfigError

if TYPE_CHECKING:
    from evergrid.broker.secured_broker import SecuredBroker

EVERGRID = "evergrid"
SENDER = "sample-events"
NO_SECURITY = "none"
SECURED = {
    "ssl": Listener(Protocol.SSL, client_certificates=True),
    "plain": Listener(Protocol.SASL_SSL, Mechanism.PLAIN),
    "scram": Listener(Protocol.SASL_SSL, Mechanism.SCRAM_SHA_512),
    "oauth": Listener(Protocol.SASL_SSL, Mechanism.OAUTHBEARER),
}

_PARTITIONS = 2


class DemoBroker:
    """Keeps its data in `directory`/broker and its secrets in `directory`/security."""

    def __init__(
        self,
        directory: Path,
        security: str,
        port: int | None,
        *,
        jars: Jars,
        report: Callable[[str], None],
    ) -> None:
        self._listener = SECURED.get(security)
        self._secured: SecuredBroker | None = None
        data = directory / "broker"
        if self._listener is None:
            report("Starting a Kafka broker.")
            self._broker = EmbeddedBroker(data, port, jars=jars, report=report)
            return
        report(f"Starting a Kafka broker {_description(self._listener)}.")
        self._secured = _secured_broker()(
            directory / "security",
            (self._listener,),
            (EVERGRID, SENDER),
            port,
            data=data,
            jars=jars,
            report=report,
        )
        self._broker = self._secured.broker

    @property
    def bootstrap(self) -> str:
        return self._broker.bootstrap

    @property
    def is_running(self) -> bool:
        if self._broker.pid is None:
            return False
        try:
            os.kill(self._broker.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def start(self, sources: Sequence[str], settings: Settings) -> None:
        """Start, create these source topics, and grant the permissions."""
        (self._secured or self._broker).start()
        administrator = self._broker.connection()
        topics.create(administrator, [NewTopicSpec(name, _PARTITIONS) for name in sources])
        if self._listener is not None:
            prefix, control = settings.internal_topics.prefix, settings.control.topic
            needed = RequiredRights(tuple(sources), prefix, control).whole()
            rights.grant(administrator, self._listener.principal(EVERGRID), needed)
            sending = rights.producer_rights(sources)
            rights.grant(administrator, self._listener.principal(SENDER), sending)

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

    def connection(self, name: str) -> Connection:
        """The connection of the user EVERGRID or SENDER."""
        if self._secured is None or self._listener is None:
            return self._broker.connection(name)
        return self._secured.connection(self._listener, name, called=name)

    def config_section(self) -> dict[str, object]:
        """The `kafka` section of the configuration; secrets are references to files."""
        if self._secured is None or self._listener is None:
            return {"bootstrap": self.bootstrap}
        return self._secured.section(self._listener, EVERGRID)


def _description(listener: Listener) -> str:
    if listener.mechanism is None:
        return "with client certificates"
    secrets = "tokens" if listener.mechanism is Mechanism.OAUTHBEARER else "passwords"
    return f"with TLS and {secrets} ({listener.mechanism.value})"


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
