"""The demo's broker: a plain installation runs it, and says what a secured one needs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evergrid.broker.jars import Jars
from evergrid.demo.demo_broker import NO_SECURITY, DemoBroker
from evergrid.model.errors import ConfigError

NO_JARS = Jars(spark=(), broker=())
SECURED = ("secured_broker", "certificate_authority", "token_endpoint")


@pytest.fixture
def plain_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    for name in SECURED:
        monkeypatch.delitem(sys.modules, f"evergrid.broker.{name}", raising=False)


@pytest.mark.usefixtures("plain_installation")
def test_without_the_extra_only_a_secured_broker_is_refused(tmp_path: Path) -> None:
    said: list[str] = []
    DemoBroker(tmp_path, NO_SECURITY, None, jars=NO_JARS, report=said.append)
    with pytest.raises(ConfigError, match=r"cryptography.*pip install 'evergrid\[demo-security\]'"):
        DemoBroker(tmp_path, "scram", None, jars=NO_JARS, report=said.append)
