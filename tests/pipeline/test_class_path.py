"""A user's own Java classes are added to Evergrid's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Self

import msgspec
import pytest

from evergrid.broker.jars import Jars
from evergrid.config import load
from evergrid.model.errors import ConfigError
from evergrid.pipeline import session
from evergrid.pipeline.engine import engine_jar


class Builder:
    """Takes down what Spark is started with, and does not start it."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}

    def config(self, name: str, value: str) -> Self:
        self.options[name] = value
        return self

    def getOrCreate(self) -> None:
        raise RuntimeError("not started")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, f"/ours/a.jar:/ours/b.jar:{engine_jar()}"),
        (
            {"spark.driver.extraClassPath": "/mine/*"},
            f"/ours/a.jar:/ours/b.jar:{engine_jar()}:/mine/*",
        ),
    ],
)
def test_theirs_come_after_ours(
    given: dict[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JAVA_HOME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"):  # to be put back afterwards
        monkeypatch.setenv(name, "")
    monkeypatch.delenv("JAVA_HOME")
    builder = Builder()
    monkeypatch.setattr(session, "SparkSession", SimpleNamespace(builder=builder))
    settings = load(None, {})
    spark = msgspec.structs.replace(settings.spark, settings=given)
    settings = msgspec.structs.replace(settings, data_dir=tmp_path, spark=spark)
    jars = Jars(spark=(Path("/ours/a.jar"), Path("/ours/b.jar")), broker=())
    with pytest.raises(ConfigError, match="Spark did not start: not started"):
        session.open_session(settings, jars, slots=1)
    assert builder.options["spark.driver.extraClassPath"] == expected
