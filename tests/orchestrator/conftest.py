from __future__ import annotations

from collections.abc import Iterator

import pytest

from evergrid.kafka.broker import EmbeddedBroker


@pytest.fixture(scope="package")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka")) as running:
        yield running
