"""Opens the Spark session of a pipeline, sized for real-time mode, with its logs in files."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from evergrid.broker.jars import Jars
from evergrid.config.secrets import SECRET_NAMES, names_secret
from evergrid.config.settings import Settings
from evergrid.model.errors import ConfigError
from evergrid.pipeline.engine import engine_jar
from evergrid.pipeline.query_failures import kafka_failures
from evergrid.process.class_archive import ClassArchive
from evergrid.process.java import java_command, java_home
from evergrid.process.private_directory import private_files

Session = SparkSession  # other rooms pass it on without importing pyspark

_STATE = "spark.sql.streaming.stateStore"
_CLASS_PATH = "spark.driver.extraClassPath"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_SENT = "spark.jars"
_SUBMIT = "PYSPARK_SUBMIT_ARGS"
_STOP_SECONDS = 4.0

# Real-time mode refuses the first version of the checkpoint's format; the rest keeps a
# key's state close to its changes and away from work that nobody reads.
_FIXED: Mapping[str, str] = {
    f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state."
    "RocksDBStateStoreProvider",
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STATE}.checkpointFormatVersion": "2",
    f"{_STATE}.rocksdb.trackTotalNumberOfRows": "false",
    # Only the last batches of a checkpoint are ever needed.
    "spark.sql.streaming.minBatchesToRetain": "5",
    "spark.sql.adaptive.enabled": "false",
    # How long the real-time shuffle waits for more rows before it sends what it has; with its
    # default of 50 ms a row takes three times as long.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "5",
    # The other kind asks a process of its own, `readlink`, about each file that it puts in place.
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming."
    "checkpointing.FileSystemBasedCheckpointFileManager",
    # Hadoop sets the modes of checkpoints' folders itself, by a umask of its own.
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    # A stopped query must not hold up the end of the process.
    "spark.sql.streaming.stopTimeout": "10s",
    "spark.ui.showConsoleProgress": "false",
}

# Spark shows settings and the options of sources and sinks in its UI, in event logs and in the
# text of its plans. All that Kafka's clients are given is hidden there, and whatever has a name
# that speaks of a secret, or a value such as a command line that does; a user's own patterns are
# added.
_HIDDEN: Mapping[str, str] = {
    "spark.redaction.regex": "(?i)secret|passw|token|access[.]?key|jaas|credential|user[.]info|"
    + SECRET_NAMES,
    "spark.sql.redaction.options.regex": "(?i)url|^kafka[.](?!bootstrap)",
}

# What a user may set otherwise.
_DEFAULTS: Mapping[str, str] = {
    "spark.app.name": "evergrid",
    "spark.ui.enabled": "false",
    # A cluster's workers come one by one; queries need all their slots at once.
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
}


def open_session(
    settings: Settings, jars: Jars, slots: int, classes: ClassArchive | None = None
) -> SparkSession:
    """Open a session with room for `slots` tasks at once; its logs go to the data directory.

    With `classes` Java lists the classes that it loads, if their archive is still to be written.
    """
    logs = settings.data_dir / "log"
    scratch = settings.data_dir / "spark"
    shutil.rmtree(scratch, ignore_errors=True)  # a killed Spark leaves its files behind
    kafka_failures.settings = settings
    _environment(settings)
    with private_files():  # Java takes it over
        for folder in (logs, scratch):
            folder.mkdir(parents=True, exist_ok=True)
        options = _options(settings, jars, slots, logs, scratch)
        options[_JAVA_OPTIONS] += f" {_class_options(jars, classes)}"
        spark = _start(options, settings, logs, scratch)
    if is_local(settings):
        _check_agent(spark)
    return spark


def _options(
    settings: Settings, jars: Jars, slots: int, logs: Path, scratch: Path
) -> dict[str, str]:
    return {
        **_DEFAULTS,
        **settings.spark.settings,
        **_place(settings, jars, slots),
        **_FIXED,
        **_hidden(settings.spark.settings),
        "spark.sql.shuffle.partitions": str(settings.spark.shuffle_partitions),
        "spark.driver.memory": settings.spark.driver_memory,
        # Evergrid's jars, then those that the user has added, for example classes of a login.
        _CLASS_PATH: os.pathsep.join(
            filter(None, (*_jars(jars), settings.spark.settings.get(_CLASS_PATH)))
        ),
        # Java leaves unpacked libraries in its folder when it is killed; ours is emptied above.
        # Netty looks at samples of its buffers for leaks, which the shuffle has many of.
        _JAVA_OPTIONS: f'"-Dlog4j2.configurationFile={_log_settings(logs)}" '
        f'"-Djava.io.tmpdir={scratch}" {_agent(settings)}'
        "-Dio.netty.leakDetection.level=disabled " + settings.spark.settings.get(_JAVA_OPTIONS, ""),
        "spark.local.dir": str(scratch),
    }


def _start(
    options: Mapping[str, str], settings: Settings, logs: Path, scratch: Path
) -> SparkSession:
    builder = SparkSession.builder
    for name, value in options.items():
        if not names_secret(name):
            builder = builder.config(name, value)
    secret = {name: value for name, value in options.items() if names_secret(name)}
    with _output_to(logs / "spark-start.log"), _beside_the_command_line(secret, scratch):
        try:
            return builder.getOrCreate()
        except Exception as error:
            reason = str(error).strip().partition("\n")[0]
            raise ConfigError(
                f"Spark did not start: {reason}",
                where=f"spark.master {settings.spark.master}",
                remedy=f"See {logs / 'spark-start.log'} and {logs / 'spark.log'}.",
            ) from None


def class_archive(jars: Jars) -> ClassArchive:
    """The archive of the classes that Spark loads, for quicker starts."""
    own = sorted(Path(pyspark.__file__).parent.glob("jars/*.jar"))
    return ClassArchive(java_command(), (*map(Path, _jars(jars)), *own))


def _class_options(jars: Jars, listed: ClassArchive | None) -> str:
    options = listed.listing() if listed else ()
    return shlex.join((*(listed or class_archive(jars)).reading(), *options))


def end_session(spark: SparkSession) -> None:
    """End Spark's process. No data are lost: an interrupted batch is read again."""
    process = _process(spark)
    if process is None or process.poll() is not None:
        return
    # A thread of PySpark's complains with a stack trace when its Java goes away.
    with contextlib.redirect_stderr(io.StringIO()):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_local(settings: Settings) -> bool:
    """Whether Spark's tasks run in the driver's own process."""
    return settings.spark.master == "local"


def is_alive(spark: SparkSession) -> bool:
    """Whether Spark's process still runs."""
    process = _process(spark)
    return process is None or process.poll() is None


def _process(spark: SparkSession) -> subprocess.Popen[bytes] | None:
    gateway = spark.sparkContext._gateway  # the only access to the process
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    return process


def _agent(settings: Settings) -> str:
    """Java's option for the agent that binds servers without an address to the driver's host.

    Only where all tasks run in the driver's process: executors must reach each other.
    """
    if not is_local(settings):
        return ""
    return f'"-javaagent:{engine_jar()}={_driver_host(settings)}" '


def _check_agent(spark: SparkSession) -> None:
    """ConfigError unless the agent is at work: the shuffle would listen on all addresses."""
    java = spark._jvm
    if java is None or not java.evergrid.agent.BindAgent.isInstalled():
        end_session(spark)
        raise ConfigError(
            "Spark runs without the agent that keeps its servers on this machine",
            where=_JAVA_OPTIONS,
            remedy="Look in the environment and in spark-defaults.conf for options that replace "
            "Evergrid's, such as PYSPARK_SUBMIT_ARGS or PYSPARK_GATEWAY_PORT.",
        )


def _environment(settings: Settings) -> None:
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if is_local(settings):
        # Or Spark binds to an interface that it cannot reach itself.
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"


def _place(settings: Settings, jars: Jars, slots: int) -> dict[str, str]:
    given = settings.spark.settings
    if is_local(settings):
        return {
            "spark.master": f"local[{slots}]",
            "spark.driver.host": _driver_host(settings),
        }
    # Executors get our jars from the driver, beside what else they were to get.
    sent = [*filter(None, [given.get(_SENT)]), *_jars(jars)]
    return {"spark.master": settings.spark.master, _SENT: ",".join(sent)}


def _driver_host(settings: Settings) -> str:
    """Where a local Spark listens."""
    return settings.spark.settings.get("spark.driver.host", "127.0.0.1")


def _jars(jars: Jars) -> list[str]:
    """The jars that Spark needs besides its own: the Kafka connector and the engine."""
    return [str(jar) for jar in (*jars.spark, engine_jar())]


def _hidden(given: Mapping[str, str]) -> dict[str, str]:
    return {
        name: f"{given[name]}|{pattern}" if given.get(name) else pattern
        for name, pattern in _HIDDEN.items()
    }


@contextlib.contextmanager
def _beside_the_command_line(secret: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Pass settings to Spark in a private file: every user of this machine can read its command
    line, which has the other settings."""
    if not secret:
        yield
        return
    file = folder / "secret.conf"
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.writelines(f"{name}={_java_text(value)}\n" for name, value in secret.items())
    before = os.environ.get(_SUBMIT)
    given = before or "pyspark-shell"
    os.environ[_SUBMIT] = (
        f"--properties-file {shlex.quote(str(file))} --load-spark-defaults {given}"
    )
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
        os.environ.pop(_SUBMIT)
        if before is not None:
            os.environ[_SUBMIT] = before


def _java_text(value: str) -> str:
    """A value escaped for a Java properties file."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _log_settings(logs: Path) -> Path:
    path = logs / "spark-log4j2.properties"
    path.write_text(
        f"""rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {logs / "spark.log"}
appender.file.filePattern = {logs / "spark.log"}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d %p %c: %m%n%xEx
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 20MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
"""
    )
    return path


@contextlib.contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """Redirect standard output and error to `path`, for a child process that inherits them."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with path.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in kept:
            os.close(descriptor)
