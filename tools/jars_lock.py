"""Fetch the Java libraries that ivy.xml names, and write jars.lock anew."""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path

from evergrid.broker.jars import LOCK_FILE, fetch_into, write_lock
from evergrid.model.errors import EvergridError


def main() -> None:
    report = functools.partial(print, file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        fresh = Path(name) / "jars"
        fetch_into(fresh, Path(name) / "ivy", Path.cwd() / "fetch.log", report)
        LOCK_FILE.write_text(write_lock(fresh))
    report(f"{LOCK_FILE} is written")


if __name__ == "__main__":
    try:
        main()
    except EvergridError as error:
        sys.exit(str(error))
