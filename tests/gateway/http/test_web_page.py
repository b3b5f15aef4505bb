"""The web app comes out of the package: its files for good, its page anew each time."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.caller import Answer, calling
from tests.support.local_gateway import LocalGateway

OTHER_PAGE = "https://boards.example"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
INDEX = b'<!doctype html><base href="/"><app-root ngCspNonce="evergrid-nonce"></app-root>'
MAIN = b"export const answer = 42;\n" * 100
FILES = {
    "index.html": INDEX,
    "main-ABCD2345.js": MAIN,
    "styles-ABCD2345.css": b"body { margin: 0 }\n" * 100,
    "client.js": b"export const connect = () => 1;\n" * 100,
    "favicon.svg": b"<svg></svg>",
    "chunk-aB_d-345.js": MAIN,
    "site-manifest.json": b"{}",
    "media/font-ABCD2345.woff2": b"\0\1\2\3",
    "3rdpartylicenses.txt": b"MIT\n" * 100,
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalGateway]:
    folder = tmp_path_factory.mktemp("app")
    for name, body in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(body)
    keys = tmp_path_factory.mktemp("keys")
    with LocalGateway(keys, origins=(OTHER_PAGE,), web_app=folder) as running:
        yield running


def ask(gateway: LocalGateway, target: str, method: str = "GET", **headers: str) -> Answer:
    """As one who has no key."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with calling(gateway) as caller:
        return caller.ask(target, {"Authorization": ""} | named, method)


def nonce_of(answer: Answer) -> str:
    found = re.search(rb'ngCspNonce="([^"]*)"', answer.body)
    assert found is not None, answer.body
    return found[1].decode()


@pytest.mark.parametrize(
    "view",
    ["/", "/dashboard", "/tables/final_ui", "/tables/final_ui?order=-ts", "/status", "/login"],
)
def test_every_view_is_the_page(gateway: LocalGateway, view: str) -> None:
    answer = ask(gateway, view, Accept=BROWSER)
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert b"<app-root" in answer.body


def test_each_page_has_a_nonce_of_its_own_for_styles(gateway: LocalGateway) -> None:
    answers = [ask(gateway, "/dashboard", Accept=BROWSER) for _ in range(3)]
    nonces = [nonce_of(answer) for answer in answers]
    assert len(set(nonces)) == 3
    for answer, nonce in zip(answers, nonces, strict=True):
        assert len(nonce) >= 20
        policy = answer.headers["content-security-policy"].split("; ")
        assert f"style-src 'self' 'nonce-{nonce}'" in policy
        assert "script-src 'self'" in policy
        assert "default-src 'none'" in policy
        assert "unsafe" not in " ".join(policy)


def test_files_have_their_types(gateway: LocalGateway) -> None:
    for name, media in {
        "main-ABCD2345.js": "text/javascript; charset=utf-8",
        "styles-ABCD2345.css": "text/css; charset=utf-8",
        "favicon.svg": "image/svg+xml",
        "media/font-ABCD2345.woff2": "font/woff2",
        "3rdpartylicenses.txt": "text/plain; charset=utf-8",
    }.items():
        answer = ask(gateway, f"/{name}")
        assert (answer.status, answer.headers["content-type"]) == (200, media)
        assert answer.body == FILES[name]
        assert "nonce" not in answer.headers["content-security-policy"]


def test_what_has_its_hash_in_its_name_is_kept_for_good(gateway: LocalGateway) -> None:
    forever = "public, max-age=31536000, immutable"
    for name in FILES.keys() - {"index.html"}:
        kept = ask(gateway, f"/{name}").headers["cache-control"]
        hashed = re.search("ABCD2345|aB_d-345", name)
        assert kept == (forever if hashed else "no-cache"), name


@pytest.mark.parametrize("encodings", ["gzip", "br, gzip, deflate", "gzip;q=0.5"])
def test_who_can_unpack_gets_it_packed(gateway: LocalGateway, encodings: str) -> None:
    answer = ask(gateway, "/main-ABCD2345.js", Accept_Encoding=encodings)
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) == len(answer.body) < len(MAIN)
    assert gzip.decompress(answer.body) == MAIN
    assert answer.headers["vary"] == "Origin, Accept-Encoding"


@pytest.mark.parametrize("encodings", ["", "br", "gzip;q=0", "identity"])
def test_who_cannot_gets_it_as_it_is(gateway: LocalGateway, encodings: str) -> None:
    answer = ask(gateway, "/main-ABCD2345.js", Accept_Encoding=encodings)
    assert "content-encoding" not in answer.headers
    assert answer.body == MAIN
    assert answer.headers["vary"] == "Origin, Accept-Encoding"


def test_small_files_and_packed_formats_are_not_packed(gateway: LocalGateway) -> None:
    for name in ("favicon.svg", "media/font-ABCD2345.woff2"):
        answer = ask(gateway, f"/{name}", Accept_Encoding="gzip")
        assert "content-encoding" not in answer.headers
        assert answer.body == FILES[name]


def test_what_a_browser_has_is_not_sent_again(gateway: LocalGateway) -> None:
    plain = ask(gateway, "/client.js").headers["etag"]
    packed = ask(gateway, "/client.js", Accept_Encoding="gzip").headers["etag"]
    assert plain != packed
    again = ask(gateway, "/client.js", If_None_Match=f'"other", W/{plain}')
    assert (again.status, again.body) == (304, b"")
    assert (again.headers["etag"], again.headers["cache-control"]) == (plain, "no-cache")
    assert ask(gateway, "/client.js", If_None_Match=packed).status == 200
    assert ask(gateway, "/client.js", If_None_Match='"other"').status == 200


def test_head_says_what_get_would_and_sends_nothing(gateway: LocalGateway) -> None:
    for target in ("/", "/dashboard", "/main-ABCD2345.js", "/client.js"):
        answer = ask(gateway, target, "HEAD", Accept=BROWSER)
        assert (answer.status, answer.body) == (200, b"")
        whole = ask(gateway, target, Accept=BROWSER)
        assert answer.headers["content-length"] == str(len(whole.body))
        assert answer.headers["content-type"] == whole.headers["content-type"]


@pytest.mark.parametrize(
    "target",
    [
        "/main-00000000.js",
        "/tables/absent.js",
        "/media",
        "/media/",
        "/livez/more",
        "/metrics/more",
        "/openapi.json/",
        "/../keys.yaml",
        "/%2e%2e/keys.yaml",
        "/..%2fkeys.yaml",
        "//etc/hosts.txt",
        "/main-ABCD2345.js/",
    ],
)
def test_what_is_not_there_is_said_in_json(gateway: LocalGateway, target: str) -> None:
    for accept in ("*/*", "application/json", ""):
        answer = ask(gateway, target, Accept=accept)
        assert (answer.status, answer.code) == (404, "not_found")


def test_only_who_wants_a_page_gets_one_where_nothing_is(gateway: LocalGateway) -> None:
    for accept in ("*/*", "application/json", "text/html;q=0", "image/avif,*/*"):
        assert ask(gateway, "/healthz", Accept=accept).status == 404
    for target in ("/absent.js", "/main-ABCD2345.js/", "/livez/more", "/metrics/x", "/readyz/"):
        assert ask(gateway, target, Accept=BROWSER).status == 404
    assert ask(gateway, "/", Accept="*/*").status == 200


def test_below_api_there_is_never_a_page(gateway: LocalGateway) -> None:
    for target in ("/api", "/api/", "/api/nothing", "/%61pi/nothing"):
        answer = ask(gateway, target, Accept=BROWSER)
        assert (answer.status, answer.code) == (401, "not_logged_in"), target
        known = ask(gateway, target, Accept=BROWSER, Authorization=f"Bearer {gateway.secret}")
        assert (known.status, known.code) == (404, "not_found"), target


def test_the_page_is_only_for_who_asks_by_the_right_name(gateway: LocalGateway) -> None:
    for target in ("/", "/dashboard", "/main-ABCD2345.js", "/client.js"):
        assert ask(gateway, target, Accept=BROWSER, Host="evil.example").status == 421
        assert ask(gateway, target, Accept=BROWSER, Origin="https://evil.example").status == 403
    assert ask(gateway, "/?key=eg_x", Accept=BROWSER).code == "key_in_address"


def test_nothing_can_be_sent_to_the_page(gateway: LocalGateway) -> None:
    for target in ("/", "/dashboard", "/client.js"):
        answer = ask(gateway, target, "POST")
        assert (answer.status, answer.code) == (405, "method_not_allowed")


def test_pages_of_configured_origins_may_import_the_client(gateway: LocalGateway) -> None:
    answer = ask(gateway, "/client.js", Origin=OTHER_PAGE)
    assert answer.body == FILES["client.js"]
    assert answer.headers["access-control-allow-origin"] == OTHER_PAGE
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert ask(gateway, "/").headers["cross-origin-resource-policy"] == "same-origin"


def test_without_a_built_page_it_says_how_to_get_one(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "main-ABCD2345.js").write_text("half an app")
    with LocalGateway(tmp_path, web_app=tmp_path / "app") as gateway:
        answer = ask(gateway, "/dashboard", Accept=BROWSER)
        assert answer.status == 503
        assert b"make web" in answer.body
        for word in (b"<script", b"<style", b"style=", b"http://", b"https://"):
            assert word not in answer.body
        for target in ("/client.js", "/main-ABCD2345.js"):
            assert ask(gateway, target).status == 404
        assert ask(gateway, "/livez").status == 200
