"""One Spark session for all tests of the room, as the pipeline opens it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pyspark.sql import SparkSession

from evergrid.broker import jars
from evergrid.config import load
from evergrid.pipeline.session import end_session, open_session
from evergrid.testing.installation import SHORT_LIVED


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    data_dir: Path = tmp_path_factory.mktemp("with a space")
    settings = load(None, {})
    spark = msgspec.structs.replace(settings.spark, settings=SHORT_LIVED)
    settings = msgspec.structs.replace(settings, data_dir=data_dir, spark=spark)
    session = open_session(settings, jars.fetch(), slots=2)
    yield session
    end_session(session)
