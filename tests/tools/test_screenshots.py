"""The pictures in the documentation are those that are taken, and small enough for a tree."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def screenshots(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """It is run with -m, from the root."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("tools.screenshots")


def test_each_picture_is_there_shown_and_small(screenshots: ModuleType) -> None:
    taken = {
        f"{name}-{theme}.png" for name, shot in screenshots.SHOTS.items() for theme in shot.themes
    }
    animation = f"{screenshots.SWAP}.png"
    there = {path.name: path.stat().st_size for path in screenshots.PICTURES.iterdir()}
    pages = (ROOT / "docs/web.md").read_text() + (ROOT / "README.md").read_text()
    shown = set(re.findall(r"images/web/([\w-]+\.png)", pages))
    assert taken | {animation} == set(there) == shown
    assert there.pop(animation) <= screenshots.LARGEST_ANIMATION_BYTES
    assert max(there.values()) <= screenshots.LARGEST_BYTES


def test_rows_come_as_their_times_pass(screenshots: ModuleType, tmp_path: Path) -> None:
    with screenshots.open_bank(tmp_path, second=10) as bank:
        gateway = bank.gateway
        before = {table.name: table for table in gateway.run(gateway.engine.tables())}
        bank.pass_second()
        after = {table.name: table for table in gateway.run(gateway.engine.tables())}
        assert after["accounts_ui"].rows > before["accounts_ui"].rows > 0
        assert after["accounts_ui"].newest > before["accounts_ui"].newest
        assert after["accounts_ui"].changes_per_second > 0
