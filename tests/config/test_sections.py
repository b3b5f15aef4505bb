"""Every mistake in the other sections, and the exact sentence that names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MORE = "# more\n"  # its last line, 28
NAME = "a name of letters, digits and _ (at most 100) that starts with a letter"
TABLE = f"{NAME} or _ and is not 'manifest'. Choose such a name."
PREFIX = (
    "expected the start of a topic's name: 1 to 100 letters, digits, dots, _ and -. "
    "Choose such a prefix."
)
AGE = (
    "expected a time from 1s to 36500d such as 30s, 15m, 12h or 7d, or never. "
    "Write a number and one of s, m, h, d; or never."
)
BATCH = "expected a time from 5s to 1h such as 5m. Write a number and one of s, m, h, d."
MEMORY = "expected an amount of memory from 512m to 1024g. Write a number and m or g such as 2g."
RANGE = "Choose a number in this range."
BROKER = (
    "expected host:port, or several with commas between them. "
    "Write the address of a broker such as 127.0.0.1:9092."
)

CASES: dict[str, tuple[str, str, str]] = {
    "data_dir": (
        MORE,
        'data_dir: ""\n',
        "28: data_dir: found '', expected a directory. "
        "Write a path, absolute or relative to the configuration file.",
    ),
    "section a word": (
        MORE,
        "kafka: broker:9092\n",
        "28: kafka: found a single value, expected keys and values. "
        "Write one 'key: value' to a line, indented under this key.",
    ),
    "bootstrap": (
        MORE,
        "kafka: {bootstrap: broker}\n",
        f"28: kafka.bootstrap: found 'broker', {BROKER}",
    ),
    "bootstrap of one cluster": (
        MORE,
        "kafka: {control: {bootstrap: 'a:1,b'}}\n",
        f"28: kafka.control.bootstrap: found 'a:1,b', {BROKER}",
    ),
    "property's name": (
        MORE,
        "kafka: {properties: {security..protocol: SSL}}\n",
        "28: kafka.properties.security..protocol: found 'security..protocol', expected a "
        "property's name such as security.protocol. Write it as its documentation does.",
    ),
    "property a list": (
        MORE,
        "kafka: {properties: {client.id: [hunter2]}}\n",
        "28: kafka.properties.client.id: found a list, expected a single value. "
        'Write the value itself; "" is an empty one.',
    ),
    "property hidden": (
        MORE,
        "kafka: {properties: {ssl.key.password: (hidden)}}\n",
        "28: kafka.properties.ssl.key.password: found '(hidden)', expected a single value. "
        'Write the value itself; "" is an empty one.',
    ),
    "property of ours": (
        MORE,
        "kafka: {java: {bootstrap.servers: 'a:1'}}\n",
        "28: kafka.java.bootstrap.servers: the brokers' addresses have a key of their own. "
        "Set 'bootstrap' instead.",
    ),
    "prefix": (
        MORE,
        "internal_topics: {prefix: my grid}\n",
        f"28: internal_topics.prefix: found 'my grid', {PREFIX}",
    ),
    "prefix too long": (
        MORE,
        f"internal_topics: {{prefix: {'p' * 101}}}\n",
        f"28: internal_topics.prefix: found '{'p' * 80}…', {PREFIX}",
    ),
    "partitions": (
        MORE,
        "internal_topics: {partitions: two}\n",
        f"28: internal_topics.partitions: found 'two', expected a whole number from 1 to 1000. "
        f"{RANGE}",
    ),
    "min_insync": (
        MORE,
        "internal_topics: {replication: 2, min_insync: 3}\n",
        "28: internal_topics.min_insync: found 3, but there are only 2 copies: nothing could be "
        "written. Lower min_insync, or raise internal_topics.replication.",
    ),
    "replication": (
        MORE,
        "internal_topics: {replication: 0}\n",
        "28: internal_topics.replication: found '0', expected a whole number from 1 to 100, "
        f"or -1. {RANGE}",
    ),
    "system table's name": (
        MORE,
        "system_tables: {quarantine: bad rows}\n",
        f"28: system_tables.quarantine: found 'bad rows', expected {TABLE}",
    ),
    "system tables alike": (
        MORE,
        "system_tables: {control_raw: quarantine}\n",
        "28: system_tables.control_raw: found 'quarantine', the name of another table too "
        "(system_tables.quarantine). Give each table a name of its own.",
    ),
    "rows": (
        MORE,
        "retention: {default: {rows: 0}}\n",
        "28: retention.default.rows: found '0', expected a whole number from 1 to 1000000000. "
        + RANGE,
    ),
    "age": (
        MORE,
        "retention: {default: {age: 1w}}\n",
        f"28: retention.default.age: found '1w', {AGE}",
    ),
    "age of nothing": (
        MORE,
        "retention: {tables: {final_ui: {age: 0s}}}\n",
        f"28: retention.tables.final_ui.age: found '0s', {AGE}",
    ),
    "retention of no table": (
        MORE,
        "retention: {tables: {final: {rows: 5}}}\n",
        "28: retention.tables.final: there is no table 'final'. Did you mean 'final_ui'?",
    ),
    "message_bytes": (
        MORE,
        "limits: {message_bytes: 1_00}\n",
        "28: limits.message_bytes: found '1_00', expected a whole number from 1024 to 16777216. "
        + RANGE,
    ),
    "nesting": (
        MORE,
        "limits: {nesting: 1.5}\n",
        f"28: limits.nesting: found '1.5', expected a whole number from 1 to 1000. {RANGE}",
    ),
    "quarantine_characters": (
        MORE,
        "limits: {quarantine_characters: 0x10}\n",
        "28: limits.quarantine_characters: found '0x10', expected a whole number "
        f"from 1 to 65536. {RANGE}",
    ),
    "missing_topics": (
        MORE,
        "missing_topics: waits\n",
        "28: missing_topics: found 'waits', expected one of fail, wait. Did you mean 'wait'?",
    ),
    "master": (
        MORE,
        "spark: {master: 'local[4]'}\n",
        "28: spark.master: found 'local[4]', expected local, yarn, or an address that starts "
        "with spark:// or k8s://. Write local to run Spark in this process; "
        "Evergrid finds the number of slots itself.",
    ),
    "driver_memory": (
        MORE,
        "spark: {driver_memory: 2}\n",
        f"28: spark.driver_memory: found '2', {MEMORY}",
    ),
    "driver_memory too small": (
        MORE,
        "spark: {driver_memory: 256m}\n",
        f"28: spark.driver_memory: found '256m', {MEMORY}",
    ),
    "shuffle_partitions": (
        MORE,
        "spark: {shuffle_partitions: 0}\n",
        "28: spark.shuffle_partitions: found '0', expected a whole number from 1 to 1000. " + RANGE,
    ),
    "batch too short": (
        MORE,
        "spark: {batch: 4s}\n",
        f"28: spark.batch: found '4s', {BATCH}",
    ),
    "batch too long": (MORE, "spark: {batch: 2h}\n", f"28: spark.batch: found '2h', {BATCH}"),
    "batch never": (MORE, "spark: {batch: never}\n", f"28: spark.batch: found 'never', {BATCH}"),
    "Spark setting's name": (
        MORE,
        "spark: {settings: {ui.enabled: false}}\n",
        "28: spark.settings.ui.enabled: found 'ui.enabled', expected a Spark setting's name "
        "such as spark.ui.enabled. Write it as Spark's documentation does, in the same upper "
        "and lower case.",
    ),
    "Spark setting of ours": (
        MORE,
        "spark: {settings: {spark.driver.memory: 4g}}\n",
        "28: spark.settings.spark.driver.memory: this setting has a key of its own. "
        "Set spark.driver_memory instead.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_is_named_in_one_sentence(
    complaints_after: Callable[[str, str], list[str]], case: str
) -> None:
    old, new, sentence = CASES[case]
    assert complaints_after(old, new) == [f"evergrid.yaml:{sentence}"]
