"""What people install has everything in it that is no Python, the web page above all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BUILD = "from setuptools.build_meta import build_wheel; build_wheel('.')"


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    passing = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=passing)
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, tmp_path)
    folder = tmp_path / "src" / "evergrid" / "gateway" / "web"
    # Whether or not the page has such folders today.
    (folder / "media").mkdir(parents=True, exist_ok=True)
    (folder / "media" / "font-ABCD2345.woff2").write_bytes(b"font")
    done = subprocess.run(
        [sys.executable, "-c", _BUILD], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        held = set(packed.namelist())
    source = tmp_path / "src"
    files = {
        path.relative_to(source).as_posix()
        for path in (source / "evergrid").rglob("*")
        if path.is_file() and path.suffix != ".java"  # it is in the jar, compiled
    }
    assert files <= held
    assert "evergrid/pipeline/engine/evergrid-engine.jar" in held
    assert not [name for name in held if name.endswith(".java")]
    assert "evergrid/gateway/web/media/font-ABCD2345.woff2" in held
