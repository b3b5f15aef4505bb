"""Somebody who asks a gateway for a sign of life again and again, and notes how long it took."""

from __future__ import annotations

import http.client
import time
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from bench.load import now_us
from evergrid.model.errors import LinkError

_PAUSE_SECONDS = 0.01
_ANSWER_SECONDS = 30.0


class Knocks(msgspec.Struct, frozen=True, tag=True):
    """Ask for /livez until the file `stop` exists."""

    address: str
    stop: str


class Knock(msgspec.Struct, frozen=True):
    at_us: int
    took_us: int


def run(task: Knocks) -> list[Knock]:
    place = urlsplit(task.address)
    assert place.hostname is not None
    link = http.client.HTTPConnection(place.hostname, place.port, timeout=_ANSWER_SECONDS)
    found: list[Knock] = []
    while not Path(task.stop).exists():
        at, began = now_us(), time.perf_counter()
        link.request("GET", "/livez")
        answer = link.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            raise LinkError(f"/livez answered {answer.status}")
        found.append(Knock(at, round((time.perf_counter() - began) * 1e6)))
        time.sleep(_PAUSE_SECONDS)
    link.close()
    return found
