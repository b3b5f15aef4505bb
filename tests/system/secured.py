"""A whole Evergrid on a secured broker: the pipeline as one account, the gateway as another.

Each has just the rights that the documentation lists. What a test itself does on the broker, it
does as its administrator.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from evergrid.broker.listeners import Listener, Protocol
from evergrid.broker.rights import RequiredRights, Right, grant, producer_rights
from evergrid.broker.secured_broker import SecuredBroker
from evergrid.client import LiveWindow
from evergrid.config.sasl import Mechanism
from evergrid.testing import oracle
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Script, random_case
from tests.support.free_ports import free_port
from tests.support.reference_viewer import Viewer, plain
from tests.system.conftest import PATIENCE, two_sources
from tests.system.gateways import GatewayProcess, gateway_section

PIPELINE, GATEWAY, FEEDER = ACCOUNTS = ("pipeline", "gateway", "feeder")
TABLE = "final_ui"

PLAINTEXT = Listener(Protocol.PLAINTEXT)
TLS = Listener(Protocol.SSL)
CERTIFIED = Listener(Protocol.SSL, client_certificates=True)
SCRAM = Listener(Protocol.SASL_SSL, Mechanism.SCRAM_SHA_512)
OAUTH = Listener(Protocol.SASL_SSL, Mechanism.OAUTHBEARER)
LOGINS = tuple(
    Listener(protocol, mechanism)
    for protocol in (Protocol.SASL_PLAINTEXT, Protocol.SASL_SSL)
    for mechanism in Mechanism
)
LISTENERS = (TLS, CERTIFIED, *LOGINS)


def listener_name(listener: object) -> str:
    """A test's name for its listener."""
    assert isinstance(listener, Listener)
    return listener.name


class SecuredWorld:
    """Pipeline and gateway at one listener, with topics and a prefix of their own."""

    def __init__(
        self,
        folder: Path,
        house: SecuredBroker,
        listener: Listener,
        name: str,
        *,
        kafka: Mapping[str, object] | None = None,
        viewing: Mapping[str, object] | None = None,
        spark: Mapping[str, object] | None = None,
    ) -> None:
        """`kafka` and `viewing` are the `kafka` sections of pipeline and gateway, where they are
        not to be the usual ones."""
        self._house = house
        self._port = free_port()
        self._rng = random.Random(name)
        self._number = 0
        self.name = name
        self.listener = listener
        control = f"control-{name}"
        self.needs = RequiredRights((f"users-{name}", f"accounts-{name}"), f"eg-{name}", control)
        section = house.section(listener, PIPELINE)
        self.world = self._world(
            folder / "pipeline", kafka or section, {"spark": {"batch": "20s", **(spark or {})}}
        )
        self.viewing = self._world(
            folder / "gateway",
            viewing or house.section(listener, GATEWAY),
            {"gateway": gateway_section(self._port)},
        )
        self.grant(PIPELINE, self.needs.pipeline())
        self.grant(GATEWAY, self.needs.gateway())
        self.grant(FEEDER, producer_rights(self.needs.sources))

    def _world(
        self, folder: Path, kafka: Mapping[str, object], more: Mapping[str, object]
    ) -> Installation:
        folder.mkdir()
        config = {
            "internal_topics": {"prefix": self.needs.prefix},
            "sources": two_sources(self.name),
            "joins": {"final": {"table": TABLE, "left": "users", "right": "accounts"}},
            "kafka": kafka,
            "control": {"topic": self.needs.control},
            **more,
        }
        return Installation(folder, self._house.administration(), config)

    def grant(self, account: str, rights: tuple[Right, ...]) -> None:
        grant(self._house.administration(), self.listener.principal(account), rights)

    def send(self) -> None:
        """Another case of messages, with keys of its own."""
        self._number += 1
        spec, script = self.world.spec, Script(partitions=2, bad_share=0.0)
        prefix = f"k{self._number}-"
        self.world.send(random_case(self._rng, spec.joins["final"], spec.sources, prefix, script))

    def gateway(self) -> GatewayProcess:
        return GatewayProcess(self.viewing, self._port)

    def wait_until_shown(self, viewer: Viewer) -> None:
        """Return when a viewer of the whole joined table sees what the oracle says."""
        expected = self.world.expected(TABLE)
        different = ""

        def is_right(window: LiveWindow) -> bool:
            nonlocal different
            rows = {str(row.pop("_id")): row for row in plain(window.rows)}
            different = oracle.differences(expected, dict(rows))
            return window.live and not different

        try:
            viewer.wait_for(is_right, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{different}") from None


@contextlib.contextmanager
def telling(world: Installation) -> Iterator[None]:
    """Print what a pipeline has said when a test fails."""
    try:
        yield
    except BaseException:
        screen = world.folder / "screen.txt"
        print(f"the pipeline said:\n{screen.read_text() if screen.exists() else ''}")
        raise
