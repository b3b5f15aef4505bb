"""Looking for secrets where they must not be: files, command lines, pages, topics."""

from __future__ import annotations

import base64
import json
import time
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from evergrid.changelog.reader import TopicReader
from evergrid.config.settings import Connection
from evergrid.kafka import topics
from evergrid.kafka.cluster_probe import reach
from evergrid.model.source import TopicEnd

_ASK_SECONDS = 60.0
_PAGES = ("jobs/", "stages/", "storage/", "environment/", "executors/", "SQL/", "StreamingQuery/")
_PLANS = "sql?details=true&planDescription=true&length=1000"


class Canary:
    """Known secrets; `found` tells in which of the places that were searched one of them is."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` by the road on which they were put in."""
        self._looks = {road: _looks(secret) for road, secret in secrets.items()}
        self.found: list[str] = []
        self.places = 0
        self.records: Counter[str] = Counter()  # topic → messages that were searched

    def search(self, place: str, content: bytes) -> None:
        self.places += 1
        self.found += [
            f"{road} in {place}"
            for road, looks in self._looks.items()
            if any(look in content for look in looks)
        ]

    def search_files(self, folder: Path, *but: Path) -> None:
        """Every file under a folder, except those that hold secrets on purpose."""
        for file in folder.rglob("*"):
            if file.is_file() and file not in but:
                self.search(str(file), file.read_bytes())

    def search_processes(self) -> None:
        """Every command line on this machine, as everybody on it can read them."""
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.search(str(file), file.read_bytes())
            except OSError:  # it has ended
                continue

    def search_topics(self, connection: Connection, prefix: str) -> None:
        """Keys, values and headers of every topic whose name begins so; there must be some."""
        for topic in reach(connection).topics:
            if topic.startswith(prefix):
                self._search_topic(connection, topic)
        assert any(topic.startswith(prefix) for topic in self.records), prefix

    def _search_topic(self, connection: Connection, topic: str) -> None:
        ends = topics.offsets(connection, topic, TopicEnd.LATEST)
        starts = {topic: topics.offsets(connection, topic, TopicEnd.EARLIEST)}
        reader = TopicReader(connection, starts, headers=True)
        deadline = time.monotonic() + _ASK_SECONDS
        try:
            while not reader.reached(topic, ends):
                assert time.monotonic() < deadline, f"{topic} cannot be read"
                for record in reader.read():
                    headers = (part.encode() + value for part, value in record.headers.items())
                    said = (record.key or b"", record.value or b"", *headers)
                    self.search(topic, b"\n".join(said))
                    self.records[topic] += 1
        finally:
            reader.close()

    def search_spark(self, address: str) -> str:
        """Every page of Spark's UI; returns the plans that it tells, to be sure there are some."""
        for page in _PAGES:
            self.search(f"Spark's {page}", _ask(f"{address}/{page}"))
        plans = ""
        for application in json.loads(_ask(f"{address}/api/v1/applications")):
            base = f"{address}/api/v1/applications/{application['id']}"
            for path in ("environment", "jobs", "allexecutors", _PLANS):
                answer = _ask(f"{base}/{path}")
                self.search(f"Spark's {path}", answer)
                plans += answer.decode() if path == _PLANS else ""
        return plans


def _looks(secret: str) -> tuple[bytes, ...]:
    """How a secret may be written."""
    plain = secret.encode()
    spelled = {plain, urllib.parse.quote(secret, safe="").encode(), base64.b64encode(plain)}
    spelled.add(json.dumps(secret)[1:-1].encode())
    return tuple(spelled)


def _ask(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_ASK_SECONDS) as answer:
        content: bytes = answer.read()
    return content


def lines(pem: Path) -> Iterator[str]:
    """Lines of a private key, each as telling as the whole."""
    inside = pem.read_text().partition("PRIVATE KEY-----")[2].partition("-----END")[0]
    yield from (line for line in inside.splitlines() if len(line) > 40)
