"""What Evergrid keeps is for its owner alone."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from evergrid.process import child_process
from evergrid.process.private_directory import make_private, private_files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_one_is_private_and_nothing_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    make_private(tmp_path / "a" / "data", said.append)
    make_private(tmp_path / "a" / "data", said.append)
    assert mode(tmp_path / "a" / "data") == 0o700
    assert not said


def test_one_that_others_could_read_is_corrected_and_that_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o755)
    make_private(tmp_path / "data", said.append)
    assert mode(tmp_path / "data") == 0o700
    assert said == [f"Other users could read {tmp_path}/data (mode 755); its mode is 700 now."]


def test_one_for_everybody_stays_so_with_a_warning(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(0o1777)
    make_private(tmp_path / "data", said.append)
    assert mode(tmp_path / "data") == 0o1777
    assert "Warning: other users can list" in said[0]


def test_files_of_a_child_process_are_private(tmp_path: Path) -> None:
    for name, umask in (("a", child_process.PRIVATE), ("b", 0o022)):
        makes = f"open({str(tmp_path / name)!r}, 'w')"
        assert child_process.start((sys.executable, "-S", "-c", makes), umask=umask).wait(60) == 0
    assert (mode(tmp_path / "a"), mode(tmp_path / "b")) == (0o600, 0o644)


def test_so_are_those_made_in_a_block(tmp_path: Path) -> None:
    with private_files():
        (tmp_path / "file").touch()
        (tmp_path / "folder").mkdir()
    assert (mode(tmp_path / "file"), mode(tmp_path / "folder")) == (0o600, 0o700)
