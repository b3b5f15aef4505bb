"""The door lets in its own pages and those with a key, under its own names, and no one else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from evergrid.config import load
from evergrid.config.settings import Gateway, Tls
from evergrid.gateway.access.origin_policy import OriginPolicy, check_binding, is_loopback
from evergrid.gateway.access.request_error import RequestError
from evergrid.model.errors import ConfigError
from evergrid.protocol.error_codes import Code

PORT = 8080
TLS = Tls(Path("server.pem"), Path("server.key"))


def gateway(**changes: object) -> Gateway:
    return msgspec.structs.replace(load(None, {}).gateway, **changes)


def door(actual_port: int = PORT, /, **changes: object) -> OriginPolicy:
    return OriginPolicy(gateway(**changes), actual_port)


def answer(
    entry: OriginPolicy,
    host: str | None = "127.0.0.1:8080",
    origin: str | None = None,
    *,
    key: bool = True,
    query: tuple[str, ...] = (),
    public: bool = False,
) -> Code | None:
    try:
        entry.check(host, origin, key, query, public)
    except RequestError as error:
        code, sentence = error.code, error.sentence()
    else:
        return None
    assert sentence[0].islower()
    assert sentence.endswith(".")
    assert sentence.isprintable()
    assert len(sentence) < 400
    return code


HOSTILE_HOSTS = [
    None,
    "",
    " ",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:08080",
    "127.0.0.1:8080 ",
    " 127.0.0.1:8080",
    "127.0.0.1:8080:8080",
    "127.0.0.1.:8080",
    "127.0.0.1:8080/",
    "127.1:8080",
    "2130706433:8080",
    "0x7f.0.0.1:8080",
    "0177.0.0.1:8080",
    "0.0.0.0:8080",
    "localhost",
    "localhost.:8080",
    "localhost:8080.",
    "localhost:",
    "localhost:8081",
    "localhost:8080,evil.example",
    "localhost:8080, localhost:8080",
    "evil.example, localhost:8080",
    "localhost:8080\r\nX: y",
    "localhost:8080\x00",
    "localhost:8080#",
    "localhost:8080?",
    "localhost.evil.example:8080",
    "evil.example:8080",
    "evil.example",
    "evillocalhost:8080",
    "user@localhost:8080",
    "localhost:8080@evil.example",
    "http://localhost:8080",
    "//localhost:8080",
    "lоcalhost:8080",  # a Cyrillic o
    "ⓛocalhost:8080",
    "localhoſt:8080",  # its upper case is an S
    "localhost:８０８０",
    "[::1]",
    "::1:8080",
    "[::1]:80",
    "[0:0:0:0:0:0:0:1]:8080",
    "[::01]:8080",
    "[::1%25lo]:8080",
    "[::ffff:127.0.0.1]:8080",
    "[::1]:8080]",
    "null",
    "*",
    "*:8080",
    pytest.param("x" * 100_000, id="endless"),
]


@pytest.mark.parametrize("host", HOSTILE_HOSTS)
@pytest.mark.parametrize("public", [False, True])
def test_any_other_name_is_refused_even_with_a_key(host: str | None, public: bool) -> None:
    assert answer(door(), host, public=public) is Code.HOST_REFUSED


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"]
)
@pytest.mark.parametrize("bound", ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::"])
def test_on_loopback_it_goes_by_all_three_names_with_its_port(host: str, bound: str) -> None:
    assert answer(door(host=bound), host) is None


def test_the_real_port_counts_not_the_configured_one() -> None:
    entry = door(41234, port=0)
    assert answer(entry, "localhost:41234") is None
    assert answer(entry, "localhost:0") is Code.HOST_REFUSED


def test_the_port_may_be_left_out_where_it_is_the_schemes_own() -> None:
    assert answer(door(80), "localhost") is None
    assert answer(door(80), "localhost:80") is None
    assert answer(door(443), "localhost") is Code.HOST_REFUSED
    assert answer(door(443, tls=TLS), "localhost") is None
    assert answer(door(443, tls=TLS), "localhost", "https://localhost") is None
    assert answer(door(80, tls=TLS), "localhost") is Code.HOST_REFUSED


@pytest.mark.parametrize(
    ("bound", "good"),
    [
        ("192.0.2.7", "192.0.2.7:8080"),
        ("2001:db8::7", "[2001:db8::7]:8080"),
        ("grid.example.com", "grid.example.com:8080"),
    ],
)
def test_beyond_loopback_it_goes_by_the_address_it_listens_at(bound: str, good: str) -> None:
    entry = door(host=bound, tls=TLS)
    assert answer(entry, good) is None
    assert answer(entry, good, f"https://{good}") is None
    assert answer(entry, good, f"http://{good}") is Code.ORIGIN_REFUSED
    assert answer(entry, "localhost:8080") is Code.HOST_REFUSED


def test_listening_everywhere_it_goes_by_no_name_that_was_not_configured() -> None:
    entry = door(host="0.0.0.0", tls=TLS, hosts=("grid.example.com",))
    assert answer(entry, "grid.example.com:8080") is None
    assert answer(entry, "192.0.2.7:8080") is Code.HOST_REFUSED
    assert answer(entry, "0.0.0.0:8080") is Code.HOST_REFUSED


def test_configured_names_have_our_port_unless_they_say_another() -> None:
    entry = door(hosts=("grid.example.com", "mapped.example.com:80", "[2001:db8::7]"))
    for host in (
        "grid.example.com:8080",
        "GRID.example.com:8080",
        "mapped.example.com",
        "mapped.example.com:80",
        "[2001:db8::7]:8080",
        "localhost:8080",
    ):
        assert answer(entry, host) is None, host
        assert answer(entry, "localhost:8080", f"http://{host}") is None, host
    for host in (
        "grid.example.com",
        "grid.example.com:80",
        "grid.example.com.:8080",
        "mapped.example.com:8080",
        "a.grid.example.com:8080",
        "[2001:db8::7]",
    ):
        assert answer(entry, host) is Code.HOST_REFUSED, host


def test_letters_that_turn_into_ascii_ones_in_lower_case_stay_strangers() -> None:
    kelvin = "\N{KELVIN SIGN}afka.example.com:8080"
    assert kelvin.lower() == "kafka.example.com:8080"
    entry = door(hosts=("kafka.example.com",), origins=("http://kafka.example.com:8080",))
    assert answer(entry, "Kafka.example.com:8080") is None
    assert answer(entry, kelvin) is Code.HOST_REFUSED
    assert answer(entry, origin=f"http://{kelvin}") is Code.ORIGIN_REFUSED


def test_behind_a_proxy_the_world_sees_https_at_its_usual_port() -> None:
    entry = door(host="0.0.0.0", behind_proxy=True, hosts=("grid.example.com", "b.example:8443"))
    for host, origin in (
        ("grid.example.com", "https://grid.example.com"),
        ("grid.example.com:443", "https://grid.example.com"),
        ("b.example:8443", "https://b.example:8443"),
        ("127.0.0.1:8080", "https://grid.example.com"),  # a proxy that puts our own name there
        ("localhost:8080", "http://localhost:8080"),
    ):
        assert answer(entry, host, origin, key=False) is None, (host, origin)
    for origin in ("http://grid.example.com", "https://grid.example.com:8080", "https://b.example"):
        assert answer(entry, "grid.example.com", origin) is Code.ORIGIN_REFUSED, origin
    assert answer(entry, "grid.example.com:8080") is Code.HOST_REFUSED


HOSTILE_ORIGINS = [
    "",
    " ",
    "null",
    "NULL",
    "*",
    "file://",
    "http://",
    "localhost:8080",
    "//localhost:8080",
    "http:localhost:8080",
    "http://localhost",
    "http://localhost:80",
    "http://localhost:8081",
    "http://localhost:08080",
    "http://localhost:8080/",
    "http://localhost:8080/page",
    "http://localhost:8080 ",
    " http://localhost:8080",
    "http://localhost:8080 http://evil.example",
    "http://localhost:8080, http://evil.example",
    "http://evil.example, http://localhost:8080",
    "http://localhost:8080,http://localhost:8080",
    "https://localhost:8080",
    "ws://localhost:8080",
    "javascript://localhost:8080",
    "chrome-extension://localhost:8080",
    "http://localhost.:8080",
    "http://user@localhost:8080",
    "http://localhost:8080@evil.example",
    "http://evil.example#localhost:8080",
    "http://localhost:8080.evil.example",
    "http://localhost.evil.example:8080",
    "http://evil.example:8080",
    "http://evillocalhost:8080",
    "http://lоcalhost:8080",  # a Cyrillic o
    "http://localhoſt:8080",
    "http://xn--localhst-sbh:8080",
    "http://127.1:8080",
    "http://2130706433:8080",
    "http://0.0.0.0:8080",
    "http://[::1]",
    "http://[0:0:0:0:0:0:0:1]:8080",
    "http://::1:8080",
    "http://[::1%25lo]:8080",
    "http://localhost:8080\r\nSet-Cookie: a=b",
    "http://localhost:8080\x00",
    pytest.param("http://" + "x" * 100_000, id="endless"),
]


@pytest.mark.parametrize("origin", HOSTILE_ORIGINS)
@pytest.mark.parametrize(("key", "public"), [(True, False), (False, True)])
def test_pages_of_any_other_origin_are_refused_even_with_a_key(
    origin: str, key: bool, public: bool
) -> None:
    entry = door(origins=("https://portal.example.com",))
    assert answer(entry, origin=origin, key=key, public=public) is Code.ORIGIN_REFUSED


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:8080",
        "HTTP://LocalHost:8080",
        "http://127.0.0.1:8080",
        "http://[::1]:8080",
        "https://portal.example.com",
    ],
)
def test_its_own_pages_and_configured_ones_log_in_later(origin: str) -> None:
    entry = door(origins=("https://portal.example.com",))
    assert answer(entry, origin=origin, key=False) is None


def test_a_configured_origin_is_no_name_to_be_asked_for_by() -> None:
    entry = door(origins=("https://portal.example.com",))
    assert answer(entry, "portal.example.com") is Code.HOST_REFUSED


def test_without_an_origin_a_key_in_a_header_is_needed() -> None:
    assert answer(door(), key=False) is Code.NOT_LOGGED_IN
    assert answer(door(), key=True) is None
    assert answer(door(), key=False, public=True) is None


SECRET_NAMES = (
    *("key", "KEY", "Token", "access_token", "access-token", "api_key", "apikey", "API-Key"),
    *("psk", "password", " key", "secret", "Authorization"),
)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_key_in_the_address_is_refused_whatever_else_holds(name: str) -> None:
    query = ("order", name, "limit")
    for public in (False, True):
        for origin in (None, "http://localhost:8080", "null"):
            for host in ("localhost:8080", "evil.example", None):
                code = answer(door(), host, origin, query=query, public=public)
                assert code is Code.KEY_IN_ADDRESS


def test_other_parameters_are_none_of_its_business() -> None:
    query = ("columns", "filter", "search", "order", "offset", "limit", "format", "keys", "")
    assert answer(door(), query=query) is None


def policy(headers: Mapping[str, str]) -> dict[str, str]:
    parts = headers["Content-Security-Policy"].split("; ")
    return {name: value for name, _, value in (part.partition(" ") for part in parts)}


def test_every_answer_has_a_strict_policy_for_pages() -> None:
    for path in ("/", "/assets/main.js", "/api/tables", "/livez", "/nothing"):
        headers = door().headers(path)
        found = policy(headers)
        assert found.pop("connect-src").split()[0] == "'self'"
        assert found == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "'self' data:",
            "font-src": "'self'",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
            "require-trusted-types-for": "'script'",
            "trusted-types": "'none'",
        }
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "camera=()" in headers["Permissions-Policy"]


def test_the_web_page_may_have_styles_by_its_nonce_and_nothing_more() -> None:
    plain, page = policy(door().headers("/")), policy(door().headers("/", "abc"))
    assert page.pop("style-src") == "'self' 'nonce-abc'"
    assert page.pop("base-uri") == "'self'"
    assert page == {name: plain[name] for name in page}


def test_pages_of_other_sites_may_load_the_client_alone() -> None:
    name = "Cross-Origin-Resource-Policy"
    assert door().headers("/client.js")[name] == "cross-origin"
    for path in ("/", "/client.js/", "/client.js.map", "/api/client.js", "/main-ABCDEFGH.js"):
        assert door().headers(path)[name] == "same-origin"


def test_pages_may_connect_to_its_own_sockets_alone() -> None:
    plain = policy(door(hosts=("grid.example.com",)).headers("/"))["connect-src"].split()
    assert plain == [
        "'self'",
        "ws://127.0.0.1:8080",
        "ws://grid.example.com:8080",
        "ws://localhost:8080",
    ]
    secure = policy(door(host="192.0.2.7", tls=TLS).headers("/"))["connect-src"].split()
    assert secure == ["'self'", "wss://192.0.2.7:8080"]


def test_what_keys_open_is_never_kept_by_a_cache() -> None:
    for path in ("/api", "/api/tables", "/metrics", "/livez", "/readyz"):
        assert door().headers(path)["Cache-Control"] == "no-store"
    for path in ("/", "/apiary", "/main.js"):
        assert door().headers(path)["Cache-Control"] == "no-cache"


def test_browsers_are_told_to_stay_with_https_where_others_can_reach_it() -> None:
    name = "Strict-Transport-Security"
    assert door(host="0.0.0.0", tls=TLS).headers("/")[name] == "max-age=31536000"
    assert name not in door().headers("/")
    assert name not in door(tls=TLS).headers("/")
    assert name not in door(host="0.0.0.0", behind_proxy=True).headers("/")


def test_pages_of_allowed_origins_may_read_answers_and_others_not() -> None:
    entry = door(origins=("https://portal.example.com",))
    headers = entry.cors("https://portal.example.com")
    assert headers["Access-Control-Allow-Origin"] == "https://portal.example.com"
    assert "Authorization" in headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in headers
    assert headers["Vary"] == "Origin"
    for origin in ("null", "*", "https://evil.example", "https://portal.example.com.evil.example"):
        assert entry.cors(origin) == {"Vary": "Origin"}
    assert entry.cors(None) == {"Vary": "Origin"}
    assert door().cors(None) == {}


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_on_loopback_nothing_more_is_needed(host: str) -> None:
    assert is_loopback(host)
    check_binding(gateway(host=host))


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::7", "grid.example.com", "localhost.example"]
)
def test_beyond_loopback_it_wants_tls_or_a_proxy(host: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_binding(gateway(host=host))
    sentence = caught.value.sentence()
    assert sentence.startswith(f"gateway.host: TLS is missing: other machines can reach {host}")
    for remedy in ("gateway.tls", "gateway.behind_proxy: true", "127.0.0.1"):
        assert remedy in sentence
    check_binding(gateway(host=host, tls=TLS))
    check_binding(gateway(host=host, behind_proxy=True))
