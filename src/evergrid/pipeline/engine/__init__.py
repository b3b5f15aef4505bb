"""The part of the pipeline that is written in Java, and the Python that calls it."""

from __future__ import annotations

from pathlib import Path


def engine_jar() -> Path:
    """The Java that this package ships, built by `make engine`."""
    return Path(__file__).with_name("evergrid-engine.jar")
