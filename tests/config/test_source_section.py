"""Every mistake in sources, and the exact sentence that names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

ALL = ""  # the whole of the good text is replaced
NAME = "a name of letters, digits and _ (at most 100) that starts with a letter"
TABLE = f"{NAME} or _ and is not 'manifest'. Choose such a name."
TOPIC = (
    "expected the name of a Kafka topic: 1 to 249 letters, digits, dots, _ and -. "
    "Write the topic's name as Kafka lists it."
)
START = (
    "expected earliest, latest, or a time with its zone such as 2026-01-31T00:00:00Z. "
    "Choose one of these; Z is the zone of UTC."
)

CASES: dict[str, tuple[str, str, str]] = {
    "no source": (
        ALL,
        "sources: {}\n",
        "1: sources: there is no source. "
        "Add one with its topic, key and fields, or leave out 'sources'.",
    ),
    "empty sources": (
        ALL,
        "sources:\n",
        "1: sources: there is no source. "
        "Add one with its topic, key and fields, or leave out 'sources'.",
    ),
    "source's name": (
        ALL,
        "sources:\n  my-users: {topic: u, table: t, key: id, fields: {id: text}}\n",
        f"2: sources.my-users: found 'my-users', expected {NAME}. Choose such a name.",
    ),
    "source's name with _": (
        ALL,
        "sources:\n  _u: {topic: u, key: id, fields: {id: text}}\n",
        f"2: sources._u: found '_u', expected {NAME}. Choose such a name.",
    ),
    "source's name too long": (
        ALL,
        f"sources:\n  {'u' * 101}: {{topic: u, table: t, key: id, fields: {{id: text}}}}\n",
        f"2: sources.{'u' * 101}: found '{'u' * 80}…', expected {NAME}. Choose such a name.",
    ),
    "sources that case alone tells apart": (
        ALL,
        "sources:\n"
        "  a: {topic: a, table: x, key: id, fields: {id: text}}\n"
        "  A: {topic: b, table: y, key: id, fields: {id: text}}\n",
        "3: sources.A: differs from 'a' in upper and lower case alone. Rename one of the two.",
    ),
    "no topic": (
        "    topic: users\n",
        "",
        "2: sources.users.topic: missing. "
        "Add it: the name of a Kafka topic: 1 to 249 letters, digits, dots, _ and -.",
    ),
    "topic's letters": (
        "topic: users",
        "topic: my users",
        f"3: sources.users.topic: found 'my users', {TOPIC}",
    ),
    "topic of dots": ("topic: users", "topic: ..", f"3: sources.users.topic: found '..', {TOPIC}"),
    "topic too long": (
        "topic: users",
        f"topic: {'t' * 250}",
        f"3: sources.users.topic: found '{'t' * 80}…', {TOPIC}",
    ),
    "topic empty": ("topic: users", "topic:", f"3: sources.users.topic: found nothing, {TOPIC}"),
    "topic a list": (
        "topic: users",
        "topic: [u]",
        f"3: sources.users.topic: found a list, {TOPIC}",
    ),
    "topic shared": (
        "topic: accounts",
        "topic: users",
        "14: sources.accounts.topic: found 'users', the topic of source 'users' too. "
        "Give each source a topic of its own, or keep one of the two.",
    ),
    "topic of ours": (
        "topic: users",
        "topic: evergrid.manifest",
        "3: sources.users.topic: found 'evergrid.manifest', but topics that start with "
        "'evergrid.' are Evergrid's own. Name another topic, or change internal_topics.prefix.",
    ),
    "table's name": (
        "table: users_ui",
        "table: users-ui",
        f"4: sources.users.table: found 'users-ui', expected {TABLE}",
    ),
    "table named manifest": (
        "table: users_ui",
        "table: manifest",
        f"4: sources.users.table: found 'manifest', expected {TABLE}",
    ),
    "table of another source": (
        "table: accounts_ui",
        "table: Users_UI",
        "15: sources.accounts.table: found 'Users_UI', the name of another table too "
        "(sources.users.table). Give each table a name of its own.",
    ),
    "table of the system": (
        "table: users_ui",
        "table: quarantine",
        "4: sources.users.table: found 'quarantine', the name of another table too "
        "(system_tables.quarantine). Give each table a name of its own.",
    ),
    "table of a source for a join": (
        "table: final_ui",
        "table: users_ui",
        "23: joins.final.table: found 'users_ui', the name of another table too "
        "(sources.users.table). Give each table a name of its own.",
    ),
    "no key": (
        "    key: userId\n    time: kafka\n",
        "",
        "2: sources.users.key: missing. Add it: a field: userId, age, score, at.",
    ),
    "key is no field": (
        "key: userId\n    time",
        "key: userID\n    time",
        "5: sources.users.key: found 'userID', expected a field: userId, age, score, at. "
        "Did you mean 'userId'?",
    ),
    "key is a float": (
        "key: userId\n    time",
        "key: score\n    time",
        "5: sources.users.key: found 'score', a float, whose values are not exact enough "
        "to be equal. Make the field decimal or text.",
    ),
    "time is no field": (
        "time: kafka",
        "time: then",
        "6: sources.users.time: found 'then', expected kafka or a timestamp field: at. "
        "Choose one of these.",
    ),
    "time is no timestamp": (
        "time: kafka",
        "time: age",
        "6: sources.users.time: found 'age', expected kafka or a timestamp field: at. "
        "Choose one of these.",
    ),
    "no timestamp to name": (
        "topic: accounts",
        "topic: accounts\n    time: rank",
        "15: sources.accounts.time: found 'rank', expected kafka or a timestamp field: "
        "(there is none). Choose one of these.",
    ),
    "start": ("earliest", "now", f"7: sources.users.start: found 'now', {START}"),
    "start without zone": (
        "earliest",
        "2026-01-31T00:00:00",
        f"7: sources.users.start: found '2026-01-31T00:00:00', {START}",
    ),
    "start before Kafka": (
        "earliest",
        "1969-01-31T00:00:00Z",
        f"7: sources.users.start: found '1969-01-31T00:00:00Z', {START}",
    ),
    "start at the end of time": (
        "earliest",
        "9999-12-31T23:59:59-10:00",
        f"7: sources.users.start: found '9999-12-31T23:59:59-10:00', {START}",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_is_named_in_one_sentence(
    complaints_after: Callable[[str, str], list[str]], case: str
) -> None:
    old, new, sentence = CASES[case]
    assert complaints_after(old, new) == [f"evergrid.yaml:{sentence}"]
