"""Keys open what their file says, from the moment it says so until the moment it no longer does."""

from __future__ import annotations

import datetime
import os
import re
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from evergrid.gateway.access.access_key import PREFIX, AccessKey, hashed, new_secret
from evergrid.gateway.access.audit_log import AuditEvent
from evergrid.gateway.access.key_file import add_key, read_keys, remove_key, rotate_key
from evergrid.gateway.access.key_registry import CHECK_SECONDS, KeyRegistry
from evergrid.gateway.access.key_usage import last_uses, usage_file
from evergrid.gateway.access.request_error import RequestError
from evergrid.model.errors import ConfigError
from evergrid.protocol.error_codes import Code

START = datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


class Bench:
    """A key file, a clock that is moved by hand, and what was reported."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds = 0.0
        self.reports: list[str] = []
        self.changes: list[tuple[AuditEvent, str, str]] = []

    def now(self) -> datetime.datetime:
        return START + datetime.timedelta(seconds=self.seconds)

    def keys(self) -> KeyRegistry:
        return KeyRegistry(
            self.path,
            self.reports.append,
            lambda: self.seconds,
            self.now,
            lambda *change: self.changes.append(change),
        )

    def rotate(self, name: str, overlap: float) -> str:
        """A new secret; its times are those of the bench's clock."""
        _, secret = rotate_key(self.path, name, HOUR)
        until = (self.now() + datetime.timedelta(seconds=overlap)).isoformat()
        text = re.sub(r"(previous_until: ).*", rf"\g<1>'{until}'", self.path.read_text())
        self.write(text)
        return secret

    def make(self, name: str, lifetime: float | None = None, control: bool = False) -> str:
        secret = new_secret()
        expires = None if lifetime is None else self.now() + datetime.timedelta(seconds=lifetime)
        key = AccessKey(name, hashed(secret), control=control, created=self.now(), expires=expires)
        add_key(self.path, key)
        return secret

    def wait(self) -> None:
        self.seconds += CHECK_SECONDS

    def write(self, text: str) -> None:
        self.path.write_text(text)
        self.path.chmod(0o600)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "data" / "keys.yaml")


Looked = TypeVar("Looked")


def rejected(look: Callable[[Looked], AccessKey], what: Looked) -> RequestError:
    with pytest.raises(RequestError) as caught:
        look(what)
    return caught.value


def code_of(look: Callable[[Looked], AccessKey], what: Looked) -> Code:
    return rejected(look, what).code


def problems(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        read_keys(path)
    return caught.value.sentence()


def test_a_secret_is_256_bits_under_a_prefix_and_never_the_same() -> None:
    made = {new_secret() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(rf"{PREFIX}[A-Za-z0-9_-]{{43}}", secret) for secret in made)


def test_each_secret_finds_its_key(bench: Bench) -> None:
    secrets = {name: bench.make(name) for name in ("anna", "ben", "cleo")}
    keys = bench.keys()
    assert keys.names == ("anna", "ben", "cleo")
    for name, secret in secrets.items():
        assert keys.find(secret).name == name


def test_anything_else_finds_nothing(bench: Bench) -> None:
    secret = bench.make("anna")
    keys = bench.keys()
    for wrong in (
        "",
        "anna",
        PREFIX,
        hashed(secret),
        secret[:-1],
        secret + "=",
        f" {secret}",
        secret.upper(),
        secret.removeprefix(PREFIX),
        "\ud800",
        "é" * 10_000,
        new_secret(),
    ):
        error = rejected(keys.find, wrong)
        assert error.code is Code.BAD_KEY
        assert secret not in error.sentence()


def test_the_file_and_what_is_printed_of_a_key_hold_no_secret(bench: Bench) -> None:
    secret = bench.make("anna")
    found = bench.keys().find(secret)
    assert secret.removeprefix(PREFIX) not in bench.path.read_text() + repr(found)


def test_rights_come_through_the_file_unchanged(bench: Bench) -> None:
    key = AccessKey(
        "anna",
        hashed("x"),
        tables=("users_*", "final_ui"),
        control=True,
        created=START,
        expires=START + datetime.timedelta(days=30),
    )
    add_key(bench.path, key)
    assert read_keys(bench.path).keys == (key,)


@pytest.mark.parametrize(
    ("patterns", "yes", "no"),
    [
        (("*",), ("users_ui", "quarantine", "_x"), ()),
        (("users_*", "final_ui"), ("users_", "users_ui", "final_ui"), ("final_ui2", "xusers_ui")),
        (("user?",), ("users",), ("user", "users_ui", "user\n\n")),
        (("users_ui",), ("users_ui",), ("Users_ui", "users_ui\n", "", "users_ui ")),
        ((), (), ("users_ui", "")),
    ],
)
def test_a_key_reads_the_tables_that_its_patterns_match(
    patterns: tuple[str, ...], yes: tuple[str, ...], no: tuple[str, ...]
) -> None:
    key = AccessKey("anna", "", tables=patterns)
    assert [table for table in (*yes, *no) if key.may_read(table)] == list(yes)


def test_a_key_opens_until_the_moment_it_expires(bench: Bench) -> None:
    secret = bench.make("anna", lifetime=60)
    keys = bench.keys()
    found = keys.find(secret)
    bench.seconds = 59.9
    assert keys.current(found).name == "anna"
    bench.seconds = 60
    assert code_of(keys.current, found) is Code.KEY_EXPIRED
    late = rejected(keys.find, secret)
    assert late.code is Code.KEY_EXPIRED
    assert "expired at 2026-01-31T00:01:00+00:00" in late.sentence()


def test_a_new_key_opens_and_a_removed_one_does_not_without_a_restart(bench: Bench) -> None:
    anna = bench.make("anna")
    keys = bench.keys()
    found = keys.find(anna)
    ben = bench.make("ben")
    remove_key(bench.path, "anna")
    bench.wait()
    assert keys.find(ben).name == "ben"
    assert code_of(keys.find, anna) is Code.BAD_KEY
    assert code_of(keys.current, found) is Code.BAD_KEY
    assert bench.reports == []


def test_a_key_made_again_under_its_name_is_another_one(bench: Bench) -> None:
    keys_before = bench.make("anna")
    keys = bench.keys()
    found = keys.find(keys_before)
    remove_key(bench.path, "anna")
    again = bench.make("anna")
    bench.wait()
    assert keys.find(again).name == "anna"
    assert code_of(keys.current, found) is Code.BAD_KEY


def test_both_secrets_of_a_rotated_key_open_until_the_older_ones_end(bench: Bench) -> None:
    old = bench.make("anna", control=True)
    keys = bench.keys()
    before = keys.find(old)
    new = bench.rotate("anna", overlap=60)
    bench.wait()
    assert (keys.find(old).name, keys.find(new).name) == ("anna", "anna")
    assert keys.find(new).control
    assert keys.current(before).control  # who is connected stays
    after = keys.find(new)
    bench.seconds = 60
    assert code_of(keys.find, old) is Code.KEY_EXPIRED
    assert code_of(keys.current, before) is Code.KEY_EXPIRED
    assert keys.current(after).name == "anna"
    assert bench.reports == []


def test_a_rotation_without_overlap_and_a_second_one_end_older_secrets_at_once(
    bench: Bench,
) -> None:
    first = bench.make("anna")
    keys = bench.keys()
    second, third = bench.rotate("anna", overlap=60), bench.rotate("anna", overlap=60)
    bench.wait()
    assert code_of(keys.find, first) is Code.BAD_KEY
    assert {keys.find(second).name, keys.find(third).name} == {"anna"}
    _, fourth = rotate_key(bench.path, "anna", datetime.timedelta())
    bench.wait()
    assert code_of(keys.find, third) is Code.BAD_KEY
    assert keys.find(fourth).name == "anna"
    assert "previous" not in bench.path.read_text()


def test_a_rotation_keeps_rights_and_expiry_and_refuses_what_makes_no_sense(
    bench: Bench,
) -> None:
    bench.make("anna", lifetime=-3600, control=True)
    with pytest.raises(ConfigError, match=r"has expired.*--expires"):
        rotate_key(bench.path, "anna", HOUR)
    before = datetime.datetime.now(datetime.UTC)
    key, _ = rotate_key(bench.path, "anna", HOUR, lifetime=HOUR)
    assert key.control
    assert key.expires is not None
    assert key.expires > before
    assert rotate_key(bench.path, "anna", HOUR)[0].expires == key.expires
    with pytest.raises(ConfigError, match="Did you mean 'anna'"):
        rotate_key(bench.path, "ana", HOUR)


def test_a_previous_secret_without_an_end_is_an_error(bench: Bench) -> None:
    bench.make("anna")
    digest = hashed("x")
    text = bench.path.read_text().replace(
        "    control: false", f"    control: false\n    previous_hash: {digest}"
    )
    bench.write(text)
    assert "previous_until: missing" in problems(bench.path)


def test_what_happens_to_keys_is_told_once(bench: Bench) -> None:
    for name in ("anna", "ben"):
        bench.make(name, lifetime=100)
    keys = bench.keys()
    assert bench.changes == []

    def told() -> list[tuple[AuditEvent, str, str]]:
        bench.wait()
        keys._reload()
        found, bench.changes = bench.changes, []
        return found

    bench.make("dora")
    remove_key(bench.path, "ben")
    assert told() == [(AuditEvent.KEY_REMOVED, "ben", ""), (AuditEvent.KEY_ADDED, "dora", "")]
    bench.write(bench.path.read_text().replace("control: false", "control: true", 1))
    assert told() == [(AuditEvent.KEY_CHANGED, "anna", "")]
    # Its lifetime is by the clock of the bench, which is behind that of the rotation.
    _, _ = rotate_key(bench.path, "dora", HOUR)
    assert told() == [(AuditEvent.KEY_ROTATED, "dora", "")]
    bench.seconds = 100
    assert told() == [(AuditEvent.KEY_EXPIRED, "anna", "")]
    assert told() == []


def test_the_last_use_of_each_secret_is_kept_beside_the_file(bench: Bench) -> None:
    old, other = bench.make("anna"), bench.make("ben")
    keys, elsewhere = bench.keys(), bench.keys()
    new = bench.rotate("anna", overlap=60)
    bench.wait()
    for registry, secret in ((keys, old), (elsewhere, new), (keys, other)):
        registry.find(secret)
        bench.seconds += 1
        registry._usage.save(registry._usage.take(), tuple(registry._by_hash))
    seconds = {digest: (time - START).seconds for digest, time in last_uses(bench.path).items()}
    assert seconds == {hashed(old): 1, hashed(new): 2, hashed(other): 3}
    remove_key(bench.path, "ben")
    bench.wait()
    keys.find(new)
    keys._usage.save(keys._usage.take(), tuple(keys._by_hash))
    assert hashed(other) not in last_uses(bench.path)
    assert stat.S_IMODE(usage_file(bench.path).stat().st_mode) == 0o600
    usage_file(bench.path).write_text("damaged")
    assert last_uses(bench.path) == {}
    assert bench.reports == []


def test_rights_that_change_are_seen_by_who_is_connected(bench: Bench) -> None:
    secret = bench.make("anna", control=True)
    keys = bench.keys()
    found = keys.find(secret)
    assert found.control
    bench.write(bench.path.read_text().replace("control: true", "control: false"))
    bench.wait()
    now = keys.current(found)
    assert not now.control


def test_the_file_is_looked_at_once_a_second_at_most(bench: Bench) -> None:
    bench.make("anna")
    keys = bench.keys()
    ben = bench.make("ben")
    bench.seconds = CHECK_SECONDS - 0.01
    assert code_of(keys.find, ben) is Code.BAD_KEY
    bench.seconds = CHECK_SECONDS
    assert keys.find(ben).name == "ben"


@pytest.mark.parametrize("broken", ["", "keys: [", "keys:\n  anna: {hash: 12}\n", "a: b\n"])
def test_a_file_that_breaks_changes_nothing_and_is_reported_once(bench: Bench, broken: str) -> None:
    secret = bench.make("anna")
    good = bench.path.read_text()
    keys = bench.keys()
    bench.write(broken)
    for _ in range(3):
        bench.wait()
        assert keys.find(secret).name == "anna"
    assert bench.reports
    assert len(set(bench.reports)) == len(bench.reports)
    assert all(str(bench.path) in report for report in bench.reports)
    assert all("keys read before stay valid" in report for report in bench.reports)
    bench.write(good.replace("anna", "dora"))
    bench.wait()
    assert keys.find(secret).name == "dora"


def test_a_file_that_vanishes_changes_nothing_and_one_without_keys_shuts_all_out(
    bench: Bench,
) -> None:
    secret = bench.make("anna")
    keys = bench.keys()
    kept = bench.path.read_text()
    bench.path.unlink()
    for _ in range(3):
        bench.wait()
        assert keys.find(secret).name == "anna"
    assert len(bench.reports) == 1
    assert "cannot be read: No such file or directory" in bench.reports[0]
    bench.write(kept)
    remove_key(bench.path, "anna")
    bench.wait()
    assert code_of(keys.find, secret) is Code.BAD_KEY


@pytest.mark.parametrize("text", [None, "keys: {}\n", "keys:\n", ""])
def test_without_any_key_it_does_not_start_and_says_how_to_make_one(
    bench: Bench, text: str | None
) -> None:
    if text is not None:
        bench.path.parent.mkdir()
        bench.write(text)
    with pytest.raises(ConfigError, match="evergrid key create NAME") as caught:
        bench.keys()
    assert str(bench.path) in caught.value.sentence()


def test_the_file_is_for_its_owner_alone_whatever_the_umask(bench: Bench) -> None:
    before = os.umask(0)
    try:
        bench.make("anna")
    finally:
        os.umask(before)
    assert stat.S_IMODE(bench.path.stat().st_mode) == 0o600
    bench.path.chmod(0o644)
    bench.make("ben")
    assert stat.S_IMODE(bench.path.stat().st_mode) == 0o600
    assert os.listdir(bench.path.parent) == ["keys.yaml"]


def test_a_file_that_others_can_read_is_a_warning(bench: Bench) -> None:
    secret = bench.make("anna")
    bench.path.chmod(0o644)
    keys = bench.keys()
    assert keys.find(secret).name == "anna"
    assert len(bench.reports) == 1
    assert f"chmod 600 {bench.path}" in bench.reports[0]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_write_to_is_refused_until_it_is_closed(
    bench: Bench, mode: int
) -> None:
    anna = bench.make("anna")
    keys = bench.keys()
    ben = bench.make("ben")
    bench.path.chmod(mode)
    assert "other users can write to the key file" in problems(bench.path)
    bench.wait()
    assert keys.find(anna).name == "anna"
    assert code_of(keys.find, ben) is Code.BAD_KEY
    bench.path.chmod(0o600)
    bench.wait()
    assert keys.find(ben).name == "ben"


HASH = "0" * 64
MISTAKES = {
    "keys: [a]\n": "1: keys: found a list, expected keys and values.",
    "keys:\n  anna: x\n": "2: keys.anna: found a single value, expected keys and values.",
    "keys:\n  anna:\n": "2: keys.anna.hash: expected the SHA-256 of a secret",
    f"keys:\n  a b: {{hash: '{HASH}'}}\n": "2: keys: found a key that is not made of a-z",
    f"keys:\n  eg_1: {{hash: '{HASH}'}}\n": "2: keys.eg_1: found 'eg_1', expected a key's name",
    f"keys:\n  a: {{hash: '{HASH}', tables: ['a b']}}\n": "keys.a.tables.0: found 'a b', expected",
    f"keys:\n  a: {{hash: '{HASH}', control: maybe}}\n": "keys.a.control: found 'maybe', expected",
    f"keys:\n  a: {{hash: '{HASH}', expires: 2026-01-31}}\n": "keys.a.expires: found '2026-01-31'",
    f"keys:\n  a: {{hash: '{HASH}', expire: x}}\n": "unknown key 'expire'. Did you mean 'expires'?",
    f"keys:\n  a: {{hash: '{HASH}'}}\n  b: {{hash: '{HASH}'}}\n": "3: keys.b.hash: duplicate "
    "secret: 'a' has the same.",
    f"keys:\n  a: {{hash: '{HASH}'}}\n  a: {{hash: '{HASH}'}}\n": "3: keys.a: the key 'a' stands "
    "here twice",
    "keys:\n  anna: {hash: !x y}\n": "found a YAML tag",
    "keys: {}\nkey: {}\n": "2: key: unknown key 'key'. Did you mean 'keys'?",
    "- a\n": "found no keys at the top",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_each_mistake_in_the_file_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys.yaml"
    path.write_text(text)
    sentence = problems(path)
    assert MISTAKES[text] in sentence
    assert sentence.startswith(f"{path}:")


def test_a_secret_where_its_hash_should_be_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    secret = new_secret()
    path.write_text(f"keys:\n  anna: {{hash: {secret}}}\n")
    sentence = problems(path)
    assert "64 hex digits" in sentence
    assert secret not in sentence


def test_a_file_that_is_not_text_is_told(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in problems(path)
    assert "Is a directory" in problems(tmp_path)


def test_a_name_that_is_taken_keeps_its_key(bench: Bench) -> None:
    secret = bench.make("anna")
    with pytest.raises(ConfigError, match="key 'anna' exists already"):
        bench.make("anna")
    assert bench.keys().find(secret).name == "anna"


def test_removing_what_is_not_there_says_what_is(bench: Bench) -> None:
    bench.make("anna")
    with pytest.raises(ConfigError, match=r"unknown key 'ana'\. Did you mean 'anna'"):
        remove_key(bench.path, "ana")


def test_of_keys_made_at_the_same_moment_none_is_lost(bench: Bench) -> None:
    names = [f"key{number}" for number in range(20)]
    threads = [threading.Thread(target=bench.make, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(bench.keys().names) == sorted(names)


def test_a_link_to_the_file_stays_a_link(bench: Bench, tmp_path: Path) -> None:
    bench.make("anna")
    link = tmp_path / "link.yaml"
    link.symlink_to(bench.path)
    add_key(link, AccessKey("ben", hashed("x")))
    assert link.is_symlink()
    assert bench.keys().names == ("anna", "ben")
