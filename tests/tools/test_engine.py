"""The jar in the package is what its sources make."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Tool = Callable[[str], ModuleType]


@pytest.fixture
def engine(tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool, with the sources and the jar copied to a folder that a test may change."""
    module = tool("engine")
    shutil.copytree(module.SOURCES, tmp_path / "java")
    shutil.copy(module.JAR, tmp_path)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "SOURCES", tmp_path / "java")
    monkeypatch.setattr(module, "JAR", tmp_path / module.JAR.name)
    return module


def test_the_jar_is_what_its_sources_make(tool: Tool) -> None:
    assert tool("engine").check().startswith("evergrid-engine.jar")


def test_without_a_compiler_the_hash_is_compared(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "compiler_version", lambda: "")
    assert "has the hash of its sources" in engine.check()
    (engine.SOURCES / "Other.java").write_text("class Other {}\n")
    with pytest.raises(SystemExit, match=r"is not what its sources make\. Run make engine"):
        engine.check()


def test_a_missing_jar_is_named(engine: ModuleType) -> None:
    engine.JAR.unlink()
    with pytest.raises(SystemExit, match=r"evergrid-engine\.jar is missing\. Run make engine"):
        engine.check()


def test_the_same_classes_make_the_same_bytes_in_any_order(engine: ModuleType) -> None:
    classes = {"b/B.class": b"2", "a/A.class": b"1"}
    jar = engine.write_jar(classes, "17.0.1")
    assert jar == engine.write_jar(dict(reversed(classes.items())), "17.0.1")
    manifest = engine.read_manifest(jar)
    assert manifest["Sources-SHA256"] == engine.sources_hash()
    assert manifest["Javac-Version"] == "17.0.1"


def test_java_that_does_not_compile_is_shown(engine: ModuleType) -> None:
    if not engine.compiler_version():
        pytest.skip("no javac")
    (engine.SOURCES / "Other.java").write_text("class Other { int x = unknownWord; }\n")
    with pytest.raises(SystemExit, match=r"(?s)unknownWord.*The Java does not compile"):
        engine.build("17")
