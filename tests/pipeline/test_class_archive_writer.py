"""The archive of Spark's classes is written beside a session that runs."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from evergrid.pipeline.class_archive_writer import ClassArchiveWriter
from evergrid.process.class_archive import ClassArchive
from evergrid.process.java import java_command

LIMIT_SECONDS = 900.0  # the archive is written at the lowest priority, beside other tests


@pytest.fixture
def archive(spark: SparkSession, tmp_path: Path) -> ClassArchive:
    """One in a folder of its own, with a list of a few classes of Spark's."""
    jars = class_path(spark)
    own = tmp_path / jars[0].name
    own.symlink_to(jars[0])
    archive = ClassArchive(java_command(), [own, *(jar for jar in jars[1:] if jar.exists())])
    run(jars, archive.listing())
    return archive


def class_path(spark: SparkSession) -> list[Path]:
    java = spark._jvm
    assert java is not None
    names: str = java.java.lang.System.getProperty("java.class.path")
    return [Path(name) for name in names.split(os.pathsep)]


def run(jars: Sequence[Path], options: Sequence[str]) -> None:
    """Lets Spark's launcher print its version."""
    names = os.pathsep.join(map(str, jars))
    command = [str(java_command()), *options, "--add-modules=jdk.incubator.vector", "-cp", names]
    arguments = ["org.apache.spark.deploy.SparkSubmit", "--version"]
    subprocess.run(
        [*command, *arguments], check=True, timeout=LIMIT_SECONDS, stderr=subprocess.DEVNULL
    )


def test_a_session_writes_the_archive_that_later_ones_start_from(
    spark: SparkSession, archive: ClassArchive, tmp_path: Path
) -> None:
    writer = ClassArchiveWriter(archive, spark, after=0.0)
    deadline = time.monotonic() + LIMIT_SECONDS
    while not list(tmp_path.glob("*.jsa")) and time.monotonic() < deadline:
        writer.turn()
        time.sleep(0.05)
    file, _lock = sorted(tmp_path.glob("classes-*"))  # and no list any more
    run(class_path(spark), ("-Xshare:on", f"-XX:SharedArchiveFile={file}", "-Xlog:cds=off"))
    writer.close()
    assert file.exists()


def test_a_session_that_ends_earlier_leaves_nothing(
    spark: SparkSession, archive: ClassArchive, tmp_path: Path
) -> None:
    writer = ClassArchiveWriter(archive, spark, after=0.0)
    writer.turn()
    writer.close()
    assert not [file for file in tmp_path.glob("classes-*") if file.suffix != ".lock"]
