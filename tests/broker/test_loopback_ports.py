"""Ports are the same again where they are free, and never another's."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from evergrid.broker.loopback_ports import choose_ports, free_port
from evergrid.model.errors import ConfigError


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        owner.listen()
        yield owner.getsockname()[1]


def test_remembered_ports_are_taken_again(tmp_path: Path) -> None:
    wanted = [free_port(), free_port()]
    (tmp_path / "port").write_text(f"{wanted[0]}\n{wanted[1]}\n")
    assert choose_ports(tmp_path / "port", 2) == wanted
    more = choose_ports(tmp_path / "port", 4)
    assert more[:2] == wanted
    assert len(set(more)) == 4


def test_one_that_is_another_s_now_is_replaced(tmp_path: Path, taken: int) -> None:
    mine = free_port()
    (tmp_path / "port").write_text(f"{taken} {mine}")
    first, second = choose_ports(tmp_path / "port", 2)
    assert first not in (taken, mine)
    assert second == mine


@pytest.mark.parametrize("text", ["", "many", "0", "70000", "-1"])
def test_a_file_that_makes_no_sense_is_no_hindrance(tmp_path: Path, text: str) -> None:
    (tmp_path / "port").write_text(text)
    (port,) = choose_ports(tmp_path / "port", 1)
    assert 1024 < port < 65536


def test_a_port_that_was_asked_for_must_be_free(tmp_path: Path, taken: int) -> None:
    with pytest.raises(ConfigError, match=f"port {taken} .* in use by another program"):
        choose_ports(tmp_path / "port", 1, taken)
    chosen = free_port()
    assert choose_ports(tmp_path / "port", 2, chosen)[0] == chosen
