"""Files that nobody but their owner may read."""

from __future__ import annotations

import os
from pathlib import Path

MODE = 0o600


def write_secret(path: Path, text: str) -> Path:
    """Write `text` whole or not at all; its readers never see half of it."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)  # one left behind may have been opened to others
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE), "w") as file:
        file.write(text)
    new.replace(path)
    return path
