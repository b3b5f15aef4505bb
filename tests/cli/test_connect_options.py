"""The gateway's address and key, and that the key is never shown."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import pytest

from evergrid.cli.connect_options import (
    add_arguments,
    configured_url,
    from_arguments,
)
from evergrid.config import load
from evergrid.config.settings import Gateway, Tls
from evergrid.model.errors import ConfigError

GATEWAY = load(None, {}).gateway
SECRET = "not-to-be-shown-anywhere"


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


def gateway(**changes: object) -> Gateway:
    return msgspec.structs.replace(GATEWAY, **changes)


def test_an_option_wins_over_the_environment_and_that_over_the_configuration() -> None:
    environ = {"EVERGRID_KEY": SECRET}
    assert from_arguments(GATEWAY, options(), environ).url == "http://127.0.0.1:8080"
    environ["EVERGRID_URL"] = "https://there"
    assert from_arguments(GATEWAY, options(), environ).url == "https://there"
    assert from_arguments(GATEWAY, options("--url", "http://here"), environ).url == "http://here"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:8080"),
        ("::", "http://[::1]:8080"),
        ("::1", "http://[::1]:8080"),
        ("tables.example.com", "http://tables.example.com:8080"),
    ],
)
def test_a_gateway_is_asked_where_it_listens(host: str, url: str) -> None:
    assert configured_url(gateway(host=host)) == url


def test_one_with_a_certificate_is_asked_over_https() -> None:
    tls = Tls(Path("server.pem"), Path("server.key"))
    assert configured_url(gateway(tls=tls)) == "https://127.0.0.1:8080"


def test_one_at_any_free_port_cannot_be_found_by_its_configuration() -> None:
    with pytest.raises(ConfigError, match="--url"):
        configured_url(gateway(port=0))


def test_a_file_with_the_key_wins_over_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "my.key"
    file.write_text(f"{SECRET}\n")
    found = from_arguments(GATEWAY, options("--key-file", str(file)), {"EVERGRID_KEY": "another"})
    assert found.key == SECRET
    assert SECRET not in repr(found)


def test_without_a_key_it_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no key for the gateway.*evergrid key create NAME"):
        from_arguments(GATEWAY, options(), {})
    with pytest.raises(ConfigError, match="No such file"):
        from_arguments(GATEWAY, options("--key-file", str(tmp_path / "none")), {})


@pytest.mark.parametrize("text", ["", "\n\n", f"keys:\n  - {SECRET}\n"])
def test_a_file_with_anything_but_a_key_is_refused_unseen(tmp_path: Path, text: str) -> None:
    file = tmp_path / "my.key"
    file.write_text(text)
    with pytest.raises(ConfigError, match="does not hold exactly one key") as caught:
        from_arguments(GATEWAY, options("--key-file", str(file)), {})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("url", [f"http://here/#key={SECRET}", f"http://here?key={SECRET}", "here"])
def test_an_address_with_more_or_less_than_an_address_is_refused_unseen(url: str) -> None:
    with pytest.raises(ConfigError, match="Write the address like") as caught:
        from_arguments(GATEWAY, options("--url", url), {"EVERGRID_KEY": "k"})
    assert SECRET not in str(caught.value)
