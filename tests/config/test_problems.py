"""Problems are told all at once, without follow-ups, and without anything to hide."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from evergrid.config import ConfigProblems, Settings, load
from evergrid.config.problems import Location
from evergrid.model.errors import ConfigError

Load = Callable[..., Settings]
Complain = Callable[..., list[str]]

MORE = "# more\n"


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ("limits: 5", "limits", "a single value"),
        ("sources: [users]", "sources", "a list"),
        ("sources: {users: topic}", "sources.users", "a single value"),
        ("joins: {final: [users, accounts]}", "joins.final", "a list"),
        ("joins: {final: {left: users, right: accounts, history: 64}}", "joins.final.history", ""),
        ("retention: {tables: {users_ui: 7d}}", "retention.tables.users_ui", "a single value"),
    ],
)
def test_a_value_in_place_of_a_section_is_one_mistake(
    complaints: Complain, text: str, path: str, found: str
) -> None:
    assert complaints(text) == [
        f"evergrid.yaml:1: {path}: found {found or 'a single value'}, expected keys and values. "
        "Write one 'key: value' to a line, indented under this key."
    ]


def test_the_text_that_the_mistakes_are_made_in_has_none(load_text: Load, good_text: str) -> None:
    assert set(load_text(good_text).sources) == {"users", "accounts"}


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(
    complaints: Complain, good_text: str
) -> None:
    text = (
        good_text.replace("age: integer", "age: int")
        .replace("type: asof", "type: full")
        .replace("topic: users", "topic: a b\n    topic: c")
        .replace(MORE, "kafka: {bootstrap: nowhere}\nspark: {batch: 1s}\nlimit: {}\n")
    )
    found = complaints(text, {"EVERGRID_LIMITS__NESTING": "deep", "EVERGRID_SPARK__BACH": "1"})
    assert [sentence.split(": found")[0].split(": unknown")[0] for sentence in found] == [
        "evergrid.yaml:3: sources.users.topic",
        "evergrid.yaml:4: sources.users.topic: the key 'topic' stands here twice, first on line 3."
        " Remove one of the two.",
        "evergrid.yaml:11: sources.users.fields.age",
        "evergrid.yaml:25: joins.final.type",
        "evergrid.yaml:29: kafka.bootstrap",
        "evergrid.yaml:30: spark.batch",
        "evergrid.yaml:31: limit",
        "EVERGRID_SPARK__BACH: matches no key of the configuration. "
        "Did you mean 'EVERGRID_SPARK__BATCH'?",
        "EVERGRID_LIMITS__NESTING: limits.nesting",
    ]


def test_a_source_with_a_mistake_makes_none_in_the_joins_that_use_it(
    complaints: Complain, good_text: str
) -> None:
    text = good_text.replace("userId: text", "userId: txt", 1).replace(
        MORE, "    columns: [users.gone]\n"
    )
    assert len(complaints(text)) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: [", "1: not valid YAML: expected the node content, but found '<stream end>'."),
        ("a: 1\nb: *hunter2", "2: not valid YAML: found undefined alias."),
        ("a: !hunter2!x y", "1: not valid YAML: found undefined tag."),
        ("a: 1\n b: 2", "2: not valid YAML: mapping values are not allowed here."),
        ("a: @hunter2", "1: not valid YAML: found character '@' that cannot start any token."),
    ],
)
def test_a_text_that_is_not_yaml_is_told_by_its_line_without_its_words(
    complaints: Complain, text: str, sentence: str
) -> None:
    remedy = (
        "Check the indentation and the brackets near this line. "
        "Put quotes around a value that starts with a sign such as ! * & % @."
    )
    assert complaints(text) == [f"evergrid.yaml:{sentence} {remedy}"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\nb: \x07", "2: found a control character. Remove it."),
        ("- a", "1: found no keys at the top of the file. Start from the packaged default.yaml."),
        (
            "just words",
            "1: found no keys at the top of the file. Start from the packaged default.yaml.",
        ),
        ("[" * 5000, "1: nests too deep to be read. Use fewer levels."),
    ],
)
def test_a_text_that_is_no_configuration_is_told(
    complaints: Complain, text: str, sentence: str
) -> None:
    assert complaints(text) == [f"evergrid.yaml:{sentence}"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "gone.yaml"
    with pytest.raises(ConfigError) as caught:
        load(missing, {})
    assert str(caught.value) == (
        f"{missing}: the configuration cannot be read: No such file or directory. "
        "Name a YAML file that exists and that this user may read."
    )
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load(tmp_path, {})


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "latin.yaml"
    file.write_bytes(b"data_dir: caf\xe9\n")
    with pytest.raises(ConfigError) as caught:
        load(file, {})
    assert str(caught.value) == f"{file}: the configuration is not UTF-8 text. Save it as UTF-8."


def test_problems_can_be_looked_at_one_by_one(load_text: Load) -> None:
    with pytest.raises(ConfigProblems) as caught:
        load_text("spark: {batch: 1s}")
    (problem,) = caught.value.problems
    assert problem.location == Location("evergrid.yaml", 1)
    assert problem.path == ("spark", "batch")
    assert problem.what.startswith("found '1s'")
    assert problem.remedy == "Write a number and one of s, m, h, d."


def test_no_text_whatsoever_breaks_the_reader(tmp_path: Path, good_text: str) -> None:
    seed = 20260131
    chance = random.Random(seed)
    file = tmp_path / "evergrid.yaml"
    bits = [*"{}[]:,'\"#&*!|>-? \n\t", "null", "~", "<<: ", "${env:X}", "1", "é", "\\ud800", ""]
    for _ in range(400):
        text = good_text
        for _ in range(chance.randint(1, 4)):
            start = chance.randrange(len(text) + 1)
            text = text[:start] + chance.choice(bits) + text[start + chance.randint(0, 9) :]
        file.write_text(text, encoding="utf-8")
        with suppress(ConfigError):
            load(file, {})
