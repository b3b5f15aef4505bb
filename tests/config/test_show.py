"""What is shown can be read back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from evergrid.config import Settings, show

Load = Callable[..., Settings]

RICH = """\
data_dir: /srv/évergrid
kafka:
  bootstrap: a:1
  properties: {security.protocol: SSL, ssl.endpoint.identification.algorithm: "", odd: "$${x"}
  java: {max.poll.records: 0500}
  source: {properties: {client.id: "line\\nbreak: # yes"}}
  control: {bootstrap: 'c:3', java: {}}
  internal: {python: {debug: no}}
internal_topics: {prefix: my.grid, partitions: 7, replication: 3}
sources:
  users:
    topic: people.v1
    key: userId
    time: at
    start: 2026-01-31T00:00:00.5+02:00
    fields:
      userId: decimal(10,0)
      at: timestamp(ns)
      no: {type: boolean, from: "is it?"}
  accounts:
    topic: "123"
    table: accounts_ui
    key: id
    start: latest
    fields: {id: text, userId: "decimal(10,0)", on: float}
joins:
  final: {left: users, right: accounts, right_key: userId}
  pairs:
    table: pairs_ui
    type: inner
    left: accounts
    right: users
    left_key: userId
    columns: {who: users.userId, yes: accounts.on}
  latest: {type: asof, left: users, right: accounts, right_key: userId, columns: [users.at]}
system_tables: {quarantine: bad}
retention:
  default: {rows: 10, age: 90s}
  tables: {bad: {age: never}, final: {rows: 11}}
limits: {message_bytes: 2048}
missing_topics: wait
spark: {master: yarn, driver_memory: 512m, batch: 3600s, settings: {spark.x: "${env:HOME}"}}
gateway:
  host: 0.0.0.0
  port: 0
  hosts: [grid.example.com, 'b.example:8443', '[2001:db8::7]']
  origins: [https://portal.example.com, 'http://x:81']
  tls: {certificate: tls/server.pem, key: ~/server.key}
  behind_proxy: true
  keys: /run/keys.yaml
  memory_per_table: 1536m
  frame_interval: 1500ms
  linger: 0s
  limits: {login: 60s, views: 7}
"""


@pytest.mark.parametrize("text", ["", RICH])
def test_what_is_shown_loads_to_equal_settings(load_text: Load, text: str) -> None:
    settings = load_text(text)
    assert load_text(show(settings)) == settings


def test_what_comes_from_the_environment_is_shown_too(load_text: Load) -> None:
    settings = load_text("", {"EVERGRID_JOINS__FINAL__TYPE": "inner"})
    assert "type: inner" in show(settings)
    assert load_text(show(settings)) == settings


def test_it_reads_as_a_person_would_write_it(load_text: Load) -> None:
    text = show(load_text(RICH))
    for line in (
        "  batch: 1h",
        "    start: '2026-01-30T22:00:00.500000+00:00'",
        "      at: timestamp(ns)",
        "    age: 90s",
        "  memory_per_table: 1536m\n  frame_interval: 1500ms\n  linger: 0s\n",
        "    login: 1m\n",
        "  tables:\n    bad:\n      rows: 10\n      age: never\n",
        "    columns:\n      who: users.userId\n      'yes': accounts.on\n",
    ):
        assert line in text
