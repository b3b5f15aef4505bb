"""The web page in the package is what its sources make, and small enough for a first visit."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import pytest

Tool = Callable[[str], ModuleType]

FILES = {
    "index.html": b'<link rel="stylesheet" href="styles-A.css"><script src="main-A.js"></script>',
    "styles-A.css": b"body {}",
    "main-A.js": b"main",
    "chunk-B.js": b"shared",
    "chunk-C.js": b"dashboard",
    "chunk-D.js": b"status",
    "client.js": b"client",
}
DASHBOARD = "app/src/app/dashboard/dashboard.ts"


def imports(**kinds: str) -> list[dict[str, str]]:
    return [{"path": f"chunk-{name.upper()}.js", "kind": f"{kind}"} for name, kind in kinds.items()]


def stats(dashboard: str = DASHBOARD) -> Mapping[str, object]:
    return {
        "outputs": {
            "main-A.js": {
                "inputs": {"app/src/main.ts": {}},
                "imports": imports(c="dynamic-import", d="dynamic-import"),
            },
            "chunk-B.js": {"inputs": {"node_modules/x.js": {}}, "imports": []},
            "chunk-C.js": {"inputs": {dashboard: {}}, "imports": imports(b="import-statement")},
            "chunk-D.js": {"inputs": {"app/src/app/status/x.ts": {}}, "imports": []},
        }
    }


def test_a_first_visit_loads_the_page_the_dashboard_and_what_they_import(tool: Tool) -> None:
    loaded = tool("web").first_load(FILES, stats())
    assert set(loaded) == FILES.keys() - {"chunk-D.js", "client.js"}


def test_a_first_visit_that_loads_too_much_is_refused(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    web = tool("web")
    web.check_first_load(FILES, stats())
    monkeypatch.setattr(web, "FIRST_LOAD_BYTES", 1000)
    files = FILES | {"chunk-C.js": os.urandom(2000)}
    with pytest.raises(SystemExit, match="loads too much: 2 KB of 1 KB"):
        web.check_first_load(files, stats())
    assert "2.0 KB  chunk-C.js" in capsys.readouterr().out


def test_what_cannot_be_measured_is_no_success(tool: Tool) -> None:
    with pytest.raises(SystemExit, match="the first load is not known"):
        tool("web").first_load(FILES, stats("app/src/app/elsewhere/dashboard.ts"))


def test_the_package_gets_what_was_built_and_nothing_else(tool: Tool, tmp_path: Path) -> None:
    web = tool("web")
    (tmp_path / "old-X.js").write_bytes(b"old")
    (tmp_path / "main-A.js").write_bytes(b"main")
    changed = web.put({**FILES, "media/font.woff2": b"font"}, tmp_path)
    assert changed == len(FILES) + 1  # one was there, one went
    assert web.read(tmp_path) == {**FILES, "media/font.woff2": b"font"}
    assert web.put({**FILES, "media/font.woff2": b"font"}, tmp_path) == 0


def test_each_difference_is_named(tool: Tool) -> None:
    there = {**FILES, "main-A.js": b"other", "old.js": b""}
    del there["client.js"]
    assert list(tool("web").compare(FILES, there)) == [
        "client.js is missing in the package",
        "main-A.js differs",
        "old.js is in the package, but is not built any more",
    ]
    assert list(tool("web").compare(FILES, dict(FILES))) == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("npm error code ENOTFOUND\nnpm error network request to …", "NPM_CONFIG_REGISTRY"),
        ("npm error code ECONNREFUSED", "HTTPS_PROXY"),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN", "NODE_EXTRA_CA_CERTS"),
        ("npm error code EINTEGRITY", "changes files"),
        ("npm error code ENOSPC", "disk is full"),
        ("npm error code EUSAGE", ""),
        ("TS2322: Type 'string' is not … ENOTFOUND", ""),
    ],
)
def test_a_failed_installation_ends_in_advice(tool: Tool, said: str, words: str) -> None:
    advice = tool("web").advice(said)
    assert words in advice
    assert bool(advice) == bool(words)


def test_npm_packages_are_installed_when_they_are_not_those_of_the_lock(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = tool("web")
    (tmp_path / "package-lock.json").write_text("{}")
    (tmp_path / "node_modules").mkdir()
    monkeypatch.setattr(web, "WEB", tmp_path)
    monkeypatch.setattr(web, "STAMP", tmp_path / "node_modules" / ".evergrid-lock")
    calls: list[list[str]] = []
    monkeypatch.setattr(web, "run", lambda command, _remedy: calls.append(command))
    web.install()
    web.install()
    assert [call[:3] for call in calls] == [["npm", "ci", "--ignore-scripts"]]
    (tmp_path / "package-lock.json").write_text('{"a": 1}')
    web.install()
    assert len(calls) == 2


def test_every_npm_package_is_pinned_with_its_hash_and_no_address(tool: Tool) -> None:
    lock = (tool("web").WEB / "package-lock.json").read_text()
    assert lock.count('"integrity": "sha512-') == lock.count('"node_modules/')
    assert '"resolved"' not in lock
