"""The gateway's section: what it says when nothing is said, and each mistake in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evergrid.config import Settings
from evergrid.config.settings import GatewayLimits, Tls

Load = Callable[..., Settings]

RANGE = "Choose a number in this range."
LISTEN = (
    "expected an address of this machine such as 127.0.0.1, ::1 or 0.0.0.0, or its name. "
    "Write it without a scheme and a port."
)
HOSTS = (
    "expected a host's name or address such as grid.example.com, with or without a port. Write "
    "it as it stands in the browser's address bar, without https:// and without a path; each "
    "name by itself, no * in it."
)
ORIGINS = (
    "expected a site's address such as https://portal.example.com. Write http:// or https://, "
    "the name, and the port if it has one; no path, no *."
)
PATH = "Write a path, absolute or relative to the configuration file."

CASES = {
    "host: http://x": f"host: found 'http://x', {LISTEN}",
    "host: 127.0.0.1:80": f"host: found '127.0.0.1:80', {LISTEN}",
    "host: ''": f"host: found '', {LISTEN}",
    "host: 1.2.3.400": f"host: found '1.2.3.400', {LISTEN}",
    "port: 65536": f"port: found '65536', expected a whole number from 0 to 65535. {RANGE}",
    "hosts: [ok.example, '*.example']": f"hosts.1: found '*.example', {HOSTS}",
    "hosts: [https://grid.example]": f"hosts.0: found 'https://grid.example', {HOSTS}",
    "hosts: {a: b}": f"hosts: found keys and values, {HOSTS}",
    "hosts: [[a]]": f"hosts.0: found a list, {HOSTS}",
    "origins: [portal.example]": f"origins.0: found 'portal.example', {ORIGINS}",
    "origins: ['*']": f"origins.0: found '*', {ORIGINS}",
    "origins: ['null']": f"origins.0: found 'null', {ORIGINS}",
    "tls: {certificate: a.pem}": "tls.key: missing. Add it: a file.",
    "tls: {certificate: a.pem, key: ''}": f"tls.key: found '', expected a file. {PATH}",
    "tls: a.pem": "tls: found a single value, expected keys and values. "
    "Write one 'key: value' to a line, indented under this key.",
    "behind_proxy: yes": "behind_proxy: found 'yes', expected true or false. Choose one of these.",
    "keys: ''": f"keys: found '', expected a file. {PATH}",
    "memory_per_table: 2": "memory_per_table: found '2', expected an amount of memory from 1m to "
    "1024g. Write a number and m or g such as 512m or 2g.",
    "frame_interval: 25": "frame_interval: found '25', expected a time from 1ms to 10s such as "
    "25ms. Write a number and one of ms, s, m.",
    "linger: never": "linger: found 'never', expected a time from 0s to 60m such as 10s. "
    "Write a number and one of ms, s, m.",
    "limits: {login: 5}": "limits.login: found '5', expected a time from 1s to 1m such as 5s. "
    "Write a number and one of s, m, h, d.",
    "limits: {views: 0}": "limits.views: found '0', expected a whole number from 1 to 1000000. "
    + RANGE,
    "limits: {windows: 1}": "limits.windows: unknown key 'windows'. Did you mean 'window_rows'?",
}


def test_it_is_closed_small_and_local_when_nothing_is_said(load_text: Load, tmp_path: Path) -> None:
    gateway = load_text().gateway
    assert (gateway.host, gateway.port) == ("127.0.0.1", 8080)
    assert (gateway.hosts, gateway.origins, gateway.tls) == ((), (), None)
    assert not gateway.behind_proxy
    assert gateway.keys == tmp_path / ".evergrid" / "keys.yaml"
    assert gateway.table_bytes == 2 * 1024**3
    assert (gateway.frame_interval_ms, gateway.linger_seconds) == (25, 10.0)
    assert gateway.limits == GatewayLimits(
        message_bytes=16384,
        messages_per_second=50,
        windows_per_connection=64,
        window_rows=5000,
        connections=5000,
        connections_per_key=2500,
        strangers=100,
        login_seconds=5,
        views=500,
        views_per_key=250,
        frame_bytes=8 * 1024**2,
        bytes_per_connection=64 * 1024**2,
        bytes_per_key=512 * 1024**2,
        total_bytes=1024**3,
        exports=4,
        exports_per_key=2,
    )


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_is_named_in_one_sentence(
    complaints: Callable[[str], list[str]], case: str
) -> None:
    assert complaints(f"gateway: {{{case}}}\n") == [f"evergrid.yaml:1: gateway.{CASES[case]}"]


def test_its_files_are_found_from_the_configuration_and_keys_from_the_data(
    load_text: Load, tmp_path: Path
) -> None:
    text = "data_dir: data\ngateway: {tls: {certificate: ../a.pem, key: /k.pem}}\n"
    gateway = load_text(text).gateway
    assert gateway.tls == Tls(tmp_path.parent / "a.pem", Path("/k.pem"))
    assert gateway.keys == tmp_path / "data" / "keys.yaml"
    assert load_text("gateway: {keys: k.yaml}").gateway.keys == tmp_path / "k.yaml"


def test_names_are_read_into_the_spelling_of_browsers(load_text: Load) -> None:
    gateway = load_text(
        "gateway:\n"
        "  host: 0:0:0:0:0:0:0:1\n"
        "  hosts: [GRID.Example.com, 'b:80', '[2001:DB8:0::7]:1', '[::1]', b:80, 192.0.2.7]\n"
        "  origins: ['HTTPS://Portal.example:443', 'http://x:443', 'http://[0::1]:80']\n"
    ).gateway
    assert gateway.host == "::1"
    assert gateway.hosts == ("grid.example.com", "b:80", "[2001:db8::7]:1", "[::1]", "192.0.2.7")
    assert gateway.origins == ("https://portal.example", "http://x:443", "http://[::1]")


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "a b", "a/", "a:0", "a:65536", "a:", ":80", "user@a", "a?b", "a#b", "a,b\\n"),
        *("a.", ".a", "a..b", "-a", "a-", "é.example", "\N{KELVIN SIGN}afka", "::1", "[::1", "[]"),
        *("[fe80::1%lo]", "[127.0.0.1]", "1.2.3", "0x7f.1", "127.0.0.01", "a" * 64, "*", "null:"),
    ],
)
def test_what_no_browser_would_send_as_a_host_is_refused(
    complaints: Callable[[str], list[str]], name: str
) -> None:
    [sentence] = complaints(f"gateway: {{hosts: ['{name}']}}\n")
    assert sentence.startswith("evergrid.yaml:1: gateway.hosts.0: found ")


def test_the_environment_gives_lists_with_commas(load_text: Load, tmp_path: Path) -> None:
    gateway = load_text(
        "gateway: {hosts: [a.example], origins: [https://a.example]}",
        {
            "EVERGRID_GATEWAY__HOSTS": "grid.example.com, [::1]:8443",
            "EVERGRID_GATEWAY__ORIGINS": "",
            "EVERGRID_GATEWAY__PORT": "9090",
            "EVERGRID_GATEWAY__TLS__CERTIFICATE": "c.pem",
            "EVERGRID_GATEWAY__TLS__KEY": "k.pem",
            "EVERGRID_GATEWAY__LIMITS__LOGIN": "7s",
            # What Kubernetes sets for a service named evergrid-gateway is none of ours.
            "EVERGRID_GATEWAY_PORT": "tcp://10.0.0.1:80",
            "EVERGRID_GATEWAY_SERVICE_HOST": "10.0.0.1",
        },
    ).gateway
    assert gateway.hosts == ("grid.example.com", "[::1]:8443")
    assert gateway.origins == ()
    assert gateway.port == 9090
    assert gateway.tls == Tls(tmp_path / "c.pem", tmp_path / "k.pem")
    assert gateway.limits.login_seconds == 7
