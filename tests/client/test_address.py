"""Addresses of every common spelling, and a key that shows nowhere."""

from __future__ import annotations

import pytest
from rich.pretty import pretty_repr

from evergrid.client.address import address
from evergrid.model.errors import ConfigError

KEY = "eg_secret-secret-secret"


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("ws://localhost:1", "http://localhost:1"),
        ("https://a.example/grid/", "https://a.example/grid"),
        ("wss://[::1]:9", "https://[::1]:9"),
    ],
)
def test_spellings(url: str, base: str) -> None:
    assert address(url, KEY).url == base


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8080", "ftp://a", "http://", "http://a:99999999", "http://[", "//a", "http:a"],
)
def test_what_is_no_address_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(ConfigError, match="https://tables"):
        address(url, KEY)


@pytest.mark.parametrize("url", [f"http://x:{KEY}@a", f"http://a/?key={KEY}", f"http://a/#{KEY}"])
def test_a_key_in_the_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="EVERGRID_KEY") as refused:
        address(url, KEY)
    assert KEY not in str(refused.value)


def test_the_key_comes_from_the_argument_or_the_environment() -> None:
    environment = {"EVERGRID_KEY": "of-the-environment"}
    assert address("http://a", KEY, environment=environment).key == KEY
    assert address("http://a", environment=environment).key == "of-the-environment"
    with pytest.raises(ConfigError, match="evergrid key create"):
        address("http://a", environment={})


@pytest.mark.parametrize("key", ["a b", "a\nb", "schlüssel"])
def test_what_cannot_be_a_key_is_refused_before_it_is_sent(key: str) -> None:
    with pytest.raises(ConfigError, match="no key has") as refused:
        address("http://a", key)
    assert key not in str(refused.value)


def test_printing_an_address_does_not_print_the_key() -> None:
    where = address("http://a", KEY)
    assert KEY not in f"{where} {where!r} {pretty_repr(where)}"


def test_a_ca_file_that_is_none_says_so() -> None:
    with pytest.raises(ConfigError, match="PEM"):
        address("https://a", KEY, "/nowhere/ca.pem").tls()
