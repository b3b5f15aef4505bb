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


@pytest.mark.parametrize("theirs", ["", "/mine/*"])
def test_theirs_come_after_ours(
    theirs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"spark.driver.extraClassPath": theirs} if theirs else {}
    ours = tuple(tmp_path / name for name in ("a.jar", "b.jar"))
    for jar in ours:
        jar.touch()
    for name in ("JAVA_HOME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"):  # to be put back afterwards
        monkeypatch.setenv(name, "")
    monkeypatch.delenv("JAVA_HOME")
    builder = Builder()
    monkeypatch.setattr(session, "SparkSession", SimpleNamespace(builder=builder))
    settings = load(None, {})
    spark = msgspec.structs.replace(settings.spark, settings=given)
    settings = msgspec.structs.replace(settings, data_dir=tmp_path, spark=spark)
    jars = Jars(spark=ours, broker=())
    with pytest.raises(ConfigError, match="Spark did not start: not started"):
        session.open_session(settings, jars, slots=1)
    expected = ":".join(filter(None, (*map(str, (*ours, engine_jar())), theirs)))
    assert builder.options["spark.driver.extraClassPath"] == expected
