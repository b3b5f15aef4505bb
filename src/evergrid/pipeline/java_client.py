"""Tries the Java Kafka client that Spark uses, without Spark.

A Spark session takes many seconds to start, the client alone one: py4j, which comes with Spark,
needs only a Java runtime, and Spark's jars have the client in the version that the pipeline
uses.
"""

from __future__ import annotations

import contextlib
import operator
import os
from collections import deque
from collections.abc import Iterator, Mapping

from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JError, Py4JJavaError

from evergrid.broker.jars import Jars, spark_jar
from evergrid.config.settings import Connection
from evergrid.kafka.diagnosis import access_error, diagnose, probe_connection, wants_login
from evergrid.kafka.identity import scrub, where
from evergrid.kafka.properties import java_properties
from evergrid.model.errors import ConfigError, LinkError
from evergrid.process.java import java_command

# For a trial a person waits for. They are one set: a client refuses times that do not fit together,
# so none of them may be the user's.
_LIMITS: Mapping[str, str] = {
    "default.api.timeout.ms": "10000",
    "request.timeout.ms": "8000",
    "delivery.timeout.ms": "10000",
    "linger.ms": "0",
    "max.block.ms": "10000",
    "fetch.max.wait.ms": "100",
    # How long an endpoint that does not answer is retried.
    "sasl.login.retry.backoff.ms": "100",
    "sasl.login.retry.backoff.max.ms": "2000",
}
_BYTES = "org.apache.kafka.common.serialization.ByteArray"
_POLL_SECONDS = 1
_MOST_POLLS = 10
# It lives for seconds: what makes Java faster in the long run makes it slower here.
_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")


@contextlib.contextmanager
def java_client(jars: Jars) -> Iterator[JavaClient]:
    """A Java process with the Kafka client, until the end of the `with` block.

    No secret is in its command line: it gets its settings over a connection that needs a
    password.
    """
    bridge = spark_jar("py4j-*.jar")
    port, token, process = launch_gateway(
        jarpath=str(bridge),
        classpath=os.pathsep.join((*map(str, jars.spark), f"{bridge.parent}/*")),
        javaopts=list(_OPTIONS),
        java_path=str(java_command()),
        redirect_stdout=deque(maxlen=1),  # nobody reads it
        die_on_exit=True,
        enable_auth=True,
        return_proc=True,
    )
    parameters = GatewayParameters(port=port, auth_token=token, auto_convert=True)
    gateway = JavaGateway(gateway_parameters=parameters)
    with process:  # waits for its end, and closes its pipes
        try:
            yield JavaClient(gateway)
        finally:
            gateway.shutdown()
            process.kill()  # it has nothing to finish


class JavaClient:
    """Tries what each part of the pipeline does with Kafka."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway

    def reach(self, connection: Connection) -> int:
        """Log in and count the brokers; LinkError with the reason if that fails."""
        admin = "org.apache.kafka.clients.admin.Admin.create"
        with self._told(connection, "connect"), self._client(admin, connection, {}) as client:
            brokers: int = client.describeCluster().nodes().get().size()
            return brokers

    def read(self, connection: Connection, topic: str) -> None:
        """LinkError unless the topic may be read; it may be empty."""
        consumer = "org.apache.kafka.clients.consumer.KafkaConsumer"
        words = {f"{part}.deserializer": f"{_BYTES}Deserializer" for part in ("key", "value")}
        with (
            self._told(connection, f"read topic {topic}"),
            self._client(consumer, connection, words) as client,
        ):
            partition = self._new("org.apache.kafka.common.TopicPartition", topic, 0)
            client.assign([partition])
            client.seekToBeginning([partition])
            for _ in range(_MOST_POLLS):
                client.poll(self._seconds(_POLL_SECONDS))
                if client.currentLag(partition).isPresent():  # known from an answer alone
                    return
            raise LinkError(f"no answer when topic {topic} was read", where=where(connection))

    def write(self, connection: Connection, topic: str, value: bytes) -> None:
        """Write one message; LinkError if the broker does not accept it."""
        producer = "org.apache.kafka.clients.producer.KafkaProducer"
        words = {f"{part}.serializer": f"{_BYTES}Serializer" for part in ("key", "value")}
        with (
            self._told(connection, f"write to topic {topic}"),
            self._client(producer, connection, words) as client,
        ):
            record = self._new("org.apache.kafka.clients.producer.ProducerRecord", topic, value)
            client.send(record).get()

    @contextlib.contextmanager
    def _client(
        self, name: str, connection: Connection, words: Mapping[str, str]
    ) -> Iterator[JavaGateway]:
        settings = {**java_properties(connection.renewed()), **_LIMITS, **words}
        client = self._new(name, settings)
        try:
            yield client
        finally:
            with contextlib.suppress(Py4JError):
                client.close(self._seconds(0))

    def _new(self, name: str, *arguments: object) -> JavaGateway:
        return operator.attrgetter(name)(self._gateway.jvm)(*arguments)

    def _seconds(self, count: int) -> JavaGateway:
        return self._new("java.time.Duration.ofSeconds", count)

    @contextlib.contextmanager
    def _told(self, connection: Connection, doing: str) -> Iterator[None]:
        """A Java exception as one sentence."""
        try:
            yield
        except Py4JJavaError as error:
            reasons = _reasons(error)
            trouble = diagnose(connection, " ".join(reasons))
            if trouble is None and "Timeout" in reasons[-1]:
                trouble = probe_connection(connection) or wants_login(connection)
            if trouble is not None:
                raise access_error(connection, doing, trouble) from None
            what = f"could not {doing}: {scrub(connection, reasons[-1])}"
            raise LinkError(what, where=where(connection)) from None
        except Py4JError:
            raise ConfigError(
                "Java ended while its client was tried",
                where=where(connection),
                remedy="Check that this machine has memory left.",
            ) from None


def _reasons(error: Py4JJavaError) -> list[str]:
    """The exception and its causes, each on one line."""
    reasons, thrown = [], error.java_exception
    while thrown is not None:
        words = str(thrown.getMessage() or "").partition("\n")[0]
        reasons.append(f"{thrown.getClass().getSimpleName()}: {words}")
        thrown = thrown.getCause()
    return reasons
