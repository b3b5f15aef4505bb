"""The part of the pipeline that is written in Java, and the Python that calls it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py4j.java_gateway import JavaPackage
    from pyspark.sql import SparkSession


def engine_jar() -> Path:
    """The Java that this package ships, built by `make engine`."""
    return Path(__file__).with_name("evergrid-engine.jar")


def engine_classes(spark: SparkSession) -> JavaPackage:
    """The engine's Java classes, in Spark's process."""
    java = spark._jvm  # the only access to them
    assert java is not None
    return java.evergrid.engine
