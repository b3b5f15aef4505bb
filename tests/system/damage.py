"""What power cuts, disks and people do to the checkpoint of a query."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def numbered(folder: Path) -> list[Path]:
    """What Spark counts: commits, offsets."""
    return sorted((f for f in folder.iterdir() if f.name.isdecimal()), key=lambda f: int(f.name))


def commits_gone(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "commits")


def last_commit_gone(checkpoint: Path) -> None:
    numbered(checkpoint / "commits")[-1].unlink()


def last_commit_empty(checkpoint: Path) -> None:
    torn(numbered(checkpoint / "commits")[-1], 0)


def offsets_gone(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "offsets")


def last_offsets_empty(checkpoint: Path) -> None:
    torn(numbered(checkpoint / "offsets")[-1], 0)


def everything_but_metadata_gone(checkpoint: Path) -> None:
    for folder in ("commits", "offsets", "sources", "state"):
        shutil.rmtree(checkpoint / folder)


def state_gone(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "state")


def last_state_files_gone(checkpoint: Path) -> None:
    for file in last_state_files(checkpoint):
        file.unlink()


def last_state_files_torn(checkpoint: Path) -> None:
    for file in last_state_files(checkpoint):
        torn(file, file.stat().st_size // 2)


def first_state_files_torn(checkpoint: Path) -> None:
    for file in checkpoint.glob("state/*/*/1_*.changelog"):
        torn(file, file.stat().st_size // 2)


def folder_gone(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint)


def last_state_files(checkpoint: Path) -> list[Path]:
    last = numbered(checkpoint / "commits")[-1].name
    files = list(checkpoint.glob(f"state/*/*/{int(last) + 1}_*.changelog"))
    assert files
    return files


def torn(file: Path, size: int) -> None:
    """As a power cut leaves it: shorter, with Hadoop's checksum of the whole beside it."""
    os.truncate(file, size)


DAMAGES = (
    *(commits_gone, last_commit_gone, last_commit_empty, offsets_gone, last_offsets_empty),
    *(everything_but_metadata_gone, state_gone, last_state_files_gone, last_state_files_torn),
    *(first_state_files_torn, folder_gone),
)
