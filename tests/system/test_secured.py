"""Source message to client window through a secured broker, with the rights that are needed and
no more; and what keeps it from that is said, and is over when it is mended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evergrid.client import Patience
from evergrid.kafka.secured.broker import SecuredBroker
from evergrid.testing.viewer import Audience
from tests.system.secured import ACCOUNTS, OAUTH, SCRAM, TABLE, SecuredWorld, telling

EAGER = Patience(first_wait=0.1, longest_wait=1.0)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with SecuredBroker(tmp_path_factory.mktemp("house"), [SCRAM, OAUTH], ACCOUNTS) as running:
        yield running


def test_scram(house: SecuredBroker, tmp_path: Path) -> None:
    stage = SecuredWorld(tmp_path, house, SCRAM, "scram")
    world = stage.world
    world.make_topics()
    stage.send()
    gateway = stage.gateway()
    with (
        telling(world),
        world.start_live(),
        gateway,
        Audience(gateway.address, gateway.secret, EAGER) as audience,
    ):
        viewer = audience.add(TABLE, limit=5000)
        stage.wait_until_shown(viewer)
        stage.send()
        stage.wait_until_shown(viewer)
        audience.check()
