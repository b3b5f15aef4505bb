"""A history has exactly the size asked for and nothing in it is bad."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files

import yaml
from bench.sample_history import START_MS, history

from evergrid.testing import oracle

SPEC = oracle.from_config(
    yaml.safe_load(files("evergrid.config").joinpath("default.yaml").read_text(encoding="utf-8"))
)


def test_the_same_seed_gives_the_same_history() -> None:
    assert list(history(10, 100, 7, seed=4)) == list(history(10, 100, 7, seed=4))
    assert list(history(10, 100, 7, seed=4)) != list(history(10, 100, 7, seed=5))


def test_counts_keys_and_times_are_exact() -> None:
    past = list(history(1000, 10_000, 200, seed=1))
    assert Counter(event.source for event in past) == {"users": 1000, "accounts": 10_000}
    assert len({event.key for event in past}) == 200
    assert [event.timestamp_ms for event in past] == [START_MS + n for n in range(11_000)]
    assert Counter(event.source for event in past[:1100]) == {"users": 100, "accounts": 1000}


def test_any_mix_of_sizes() -> None:
    for users, accounts in ((0, 5), (5, 0), (1, 1), (7, 3), (3, 1000)):
        counts = Counter(event.source for event in history(users, accounts, 2))
        assert (counts["users"], counts["accounts"]) == (users, accounts)


def test_every_event_is_a_whole_row() -> None:
    for event in history(500, 2000, 50):
        message = oracle.Message(event.source, 0, 0, event.timestamp_ms, event.key, event.value)
        row = oracle.read(message, SPEC.sources[event.source], SPEC.limits)
        assert isinstance(row, oracle.Row), row.reason
        assert None not in row.values.values()
        assert str(row.values["userId"]).encode() == event.key
