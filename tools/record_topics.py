"""Records what this version writes to its own topics, for the tests of rolling upgrades.

Runs a pipeline over a few messages on a broker of its own, changes the join by a control message,
and writes the records of Evergrid's own topics to a file, one JSON object per line; of the manifest
the newest of each key, as compaction leaves them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from evergrid.broker.embedded_broker import EmbeddedBroker
from evergrid.changelog.internal_topics import manifest_topic
from evergrid.changelog.reader import read_to_end
from evergrid.kafka import topics
from evergrid.testing.installation import Installation
from evergrid.testing.random_cases import Send

PREFIX = "recorded"
TIME_MS = 1_767_225_600_000
SECONDS = 600.0
SOURCES = {
    "users": {
        "topic": "users",
        "table": "users_ui",
        "key": "userId",
        "fields": {"userId": "text", "name": "text", "age": "integer", "seen": "timestamp(s)"},
    },
    "accounts": {
        "topic": "accounts",
        "table": "accounts_ui",
        "key": "userId",
        "fields": {
            "userId": "text",
            "balance": "decimal(18,2)",
            "rate": "float",
            "open": "boolean",
        },
    },
}
CONFIG = {
    "sources": SOURCES,
    "joins": {"final": {"table": "final_ui", "type": "left", "left": "users", "right": "accounts"}},
    "internal_topics": {"prefix": PREFIX},
}
USERS = (
    {"userId": "a", "name": "Ann", "age": 41, "seen": 1_767_225_600},
    {"userId": "b", "name": "Bo", "age": None},
    {"userId": "c", "name": "Çelik", "age": "not a number"},
)
ACCOUNTS = (
    {"userId": "a", "balance": "12.50", "rate": 0.25, "open": True},
    {"userId": "b", "balance": "-3.00", "rate": 1e300, "open": False},
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="where the records go")
    file: Path = parser.parse_args().file
    with tempfile.TemporaryDirectory() as folder, EmbeddedBroker(Path(folder) / "kafka") as broker:
        (home := Path(folder) / "home").mkdir()
        _run(made := Installation(home, broker.connection(), CONFIG))
        lines = _lines(made)
    file.write_text("".join(f"{line}\n" for line in lines))


def _run(made: Installation) -> None:
    """A pipeline from its first generation to its second, with bad messages on the way."""
    made.make_topics(1)
    made.send(
        Send(topic, 0, TIME_MS + number, None, json.dumps(value).encode())
        for topic, values in (("users", USERS), ("accounts", ACCOUNTS))
        for number, value in enumerate(values)
    )
    process = made.start_live()
    try:
        made.wait_until_exact(seconds=SECONDS)
        control = made.manifest().choices.topic
        made.send([Send(control, 0, TIME_MS, None, b'{"joinType": "asof"}')])
        made.wait_until(lambda: made.manifest().current == 2, SECONDS)
    finally:
        process.stop()


def _lines(made: Installation) -> list[str]:
    records = [
        record
        for topic in sorted(topics.partitions(made.connection))
        if topic.startswith(f"{PREFIX}.") and not topic.endswith((".ticks", ".reports"))
        for batch in read_to_end(made.connection, topic)
        for record in sorted(batch, key=lambda one: (one.partition, one.offset))
    ]
    manifest = manifest_topic(PREFIX)
    newest = {one.key: one.offset for one in records if one.topic == manifest}
    return [
        json.dumps(
            {
                "topic": one.topic,
                "partition": one.partition,
                "key": None if one.key is None else one.key.decode(),
                "value": None if one.value is None else one.value.decode(),
            },
            ensure_ascii=False,
        )
        for one in records
        if one.topic != manifest or one.offset == newest[one.key]
    ]


if __name__ == "__main__":
    main()
