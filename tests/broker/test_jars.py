from __future__ import annotations

import os
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from evergrid.broker import jars
from evergrid.model.errors import ConfigError


@pytest.fixture
def fetched(tmp_path: Path) -> Path:
    """A folder as Ivy leaves it, with two jars."""
    for name, content in {"spark/a-1.jar": b"a", "broker/b-2.jar": b"b"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(content)
    return tmp_path


def test_a_lock_written_for_jars_fits_them(fetched: Path) -> None:
    text = jars.write_lock(fetched)
    assert [line.split()[1] for line in text.splitlines()] == ["broker/b-2.jar", "spark/a-1.jar"]
    jars.verify(fetched, jars.read_lock(text))


def test_a_changed_missing_or_unexpected_jar_is_named(fetched: Path) -> None:
    lock = jars.read_lock(jars.write_lock(fetched))
    (fetched / "spark" / "a-1.jar").write_bytes(b"other")
    with pytest.raises(ConfigError, match=r"spark/a-1\.jar is not the file .* SHA-256 differs"):
        jars.verify(fetched, lock)
    (fetched / "spark" / "a-1.jar").unlink()
    with pytest.raises(ConfigError, match=r"spark/a-1\.jar was not fetched"):
        jars.verify(fetched, lock)
    (fetched / "spark" / "a-1.jar").write_bytes(b"a")
    (fetched / "broker" / "evil.jar").write_bytes(b"!")
    with pytest.raises(ConfigError, match=r"broker/evil\.jar was fetched, but"):
        jars.verify(fetched, lock)


def test_the_lock_fits_the_versions_that_are_asked_for() -> None:
    locked = jars.read_lock(jars.LOCK_FILE.read_text())
    for wanted in xml.parse(jars.IVY_FILE).iter("dependency"):
        conf = wanted.attrib["conf"].partition("->")[0]
        assert f"{conf}/{wanted.attrib['name']}-{wanted.attrib['rev']}.jar" in locked
    assert len({name.partition("/")[0] for name in locked}) == 2


def test_the_brokers_log_binding_is_of_its_log4js_version() -> None:
    names = jars.read_lock(jars.LOCK_FILE.read_text())
    versions = {
        name.rpartition("-")[2]
        for name in names
        if name.startswith(("broker/log4j-core-", "broker/log4j-slf4j-impl-"))
    }
    assert len(versions) == 1


def test_jars_are_fetched_once_and_there_at_once_the_second_time() -> None:
    first = jars.fetch()
    lines: list[str] = []
    assert jars.fetch(lines.append) == first
    assert lines == []
    assert len(first.spark) == 4
    assert all(jar.is_file() for jar in first.spark + first.broker)


def test_a_damaged_or_forged_jar_is_noticed_at_the_next_start(fetched: Path) -> None:
    lock = jars.read_lock(jars.write_lock(fetched))
    (fetched / "verified").write_text("broker/b-2.jar 1\nspark/a-1.jar 1\n")  # of an older version
    assert jars._is_complete(fetched, lock)
    for forged in (b"!", b""):  # of the same size, and truncated
        (fetched / "spark" / "a-1.jar").write_bytes(forged)
        assert not jars._is_complete(fetched, lock)
    (fetched / "spark" / "a-1.jar").unlink()
    assert not jars._is_complete(fetched, lock)


def test_without_a_network_it_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVERGRID_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")  # nobody listens there
    with pytest.raises(ConfigError) as caught:
        jars.fetch()
    for word in ("spark-sql-kafka", "HTTPS_PROXY", "EVERGRID_IVY_SETTINGS", "fetch.log"):
        assert word in str(caught.value)
    assert sorted(os.listdir(tmp_path / "cache")) == ["fetch.log", "fetching.lock"]


def test_settings_for_ivy_that_are_not_there_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVERGRID_CACHE", str(tmp_path))
    monkeypatch.setenv("EVERGRID_IVY_SETTINGS", "/no/ivysettings.xml")
    with pytest.raises(ConfigError, match=r"EVERGRID_IVY_SETTINGS is /no/ivysettings\.xml"):
        jars.fetch()


def test_a_cache_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVERGRID_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ConfigError, match=r"cannot keep Java libraries in .*EVERGRID_CACHE"):
        jars.fetch()


def test_the_proxies_of_the_environment_reach_java() -> None:
    assert jars.proxy_options({}) == []
    assert jars.proxy_options({"https": "http://proxy:3128", "no": "localhost, .corp"}) == [
        "-Dhttps.proxyHost=proxy",
        "-Dhttps.proxyPort=3128",
        "-Dhttp.nonProxyHosts=localhost|*.corp",
    ]
