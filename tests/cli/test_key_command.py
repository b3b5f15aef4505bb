"""`evergrid key` makes, lists and removes keys; a secret is printed once and kept nowhere."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from evergrid.gateway.access.access_key import AccessKey
from evergrid.gateway.access.key_file import read_keys
from evergrid.gateway.access.key_registry import KeyRegistry

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".evergrid" / "keys.yaml"


def test_a_created_key_opens_and_its_secret_is_all_of_the_output(run: Run, path: Path) -> None:
    done = run("key", "create", "anna")
    assert done.returncode == 0
    assert re.fullmatch(r"eg_[A-Za-z0-9_-]{43}\n", done.stdout)
    assert "shown only this once" in done.stderr
    secret = done.stdout.strip()
    assert secret not in done.stderr + path.read_text()
    found = KeyRegistry(path, print).find(secret)
    assert isinstance(found, AccessKey)
    assert (found.name, found.tables, found.control, found.expires) == (
        "anna",
        ("*",),
        False,
        None,
    )


def test_rights_and_expiry_are_as_asked_for_and_listed(run: Run, path: Path) -> None:
    options = ("--tables", "users_*, final_ui", "--control", "--expires", "30d")
    secrets = [
        run("key", "create", "anna", *options).stdout.strip(),
        run("key", "create", "ben").stdout.strip(),
    ]
    anna, _ = read_keys(path).keys
    assert (anna.tables, anna.control) == (("users_*", "final_ui"), True)
    assert anna.created is not None
    assert anna.expires is not None
    assert (anna.expires - anna.created).days == 30
    done = run("key", "list")
    heading, first, second = done.stdout.splitlines()
    assert heading.split() == ["NAME", "RIGHTS", "CREATED", "VALID", "LAST", "USE"]
    rights = r"reads users_\*, final_ui, control"
    assert re.fullmatch(rf"anna +{rights} +\S+ \S+Z +until \S+ \S+Z +-", first)
    assert re.fullmatch(r"ben +reads all tables +\S+ \S+Z +until removed +-", second)
    assert not any(secret in done.stdout + done.stderr for secret in secrets)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_rotated_key_has_another_secret_and_for_a_while_both(run: Run, path: Path) -> None:
    old = run("key", "create", "anna", "--admin").stdout.strip()
    done = run("key", "rotate", "anna", "--overlap", "7d")
    new = done.stdout.strip()
    assert re.fullmatch(r"eg_[A-Za-z0-9_-]{43}", new)
    assert "the one before is valid until" in done.stderr
    keys = KeyRegistry(path, print)
    assert keys.find(old).admin
    assert keys.find(new).admin
    _, line, previous = run("key", "list").stdout.splitlines()
    assert "reads all tables, admin" in line
    assert re.fullmatch(r"anna \(previous secret\) +until \S+ \S+Z +-", previous)
    done = run("key", "rotate", "anna", "--overlap", "0s")
    assert "the one before is valid no more" in done.stderr
    assert len(run("key", "list").stdout.splitlines()) == 2
    assert not any(secret in path.read_text() for secret in (old, new, done.stdout.strip()))


def test_a_removed_key_is_gone(run: Run, path: Path) -> None:
    run("key", "create", "anna")
    done = run("key", "remove", "anna")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Key 'anna' is removed" in done.stderr
    assert read_keys(path).keys == ()
    assert "Create one: evergrid key create NAME" in run("key", "list").stderr


def test_alone_it_explains_itself(run: Run) -> None:
    done = run("key")
    assert done.returncode == 0
    for word in ("create", "list", "remove"):
        assert word in done.stdout
    assert "--expires TIME" in run("key", "create", "--help").stdout
    assert " key " in run("--help").stdout


def test_the_configuration_may_be_named_before_or_after_the_action(
    run: Run, tmp_path: Path
) -> None:
    file = tmp_path / "other.yaml"
    file.write_text("gateway: {keys: somewhere/else.yaml}\n")
    assert run("key", "-c", file, "create", "anna").returncode == 0
    assert run("key", "create", "ben", "-c", file).returncode == 0
    keys = read_keys(tmp_path / "somewhere" / "else.yaml").keys
    assert [key.name for key in keys] == ["anna", "ben"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("create",), "the following arguments are required: NAME"),
        (("create", "a b"), "argument NAME: expected a key's name"),
        (("create", "anna", "--tables", "a b"), "argument --tables: expected a table's name"),
        (("create", "anna", "--tables", ""), "argument --tables: expected a table's name"),
        (("create", "anna", "--expires", "soon"), "argument --expires: expected a time from 1s"),
        (("create", "anna", "--expires", "0d"), "argument --expires: expected a time from 1s"),
        (("revoke", "anna"), "invalid choice: 'revoke'"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(
    run: Run, path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    done = run("key", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not path.exists()


def test_a_secret_in_the_place_of_a_name_is_not_repeated(run: Run) -> None:
    secret = run("key", "create", "anna").stdout.strip()
    for action in ("create", "remove"):
        done = run("key", action, secret)
        assert done.returncode == 2
        assert secret not in done.stdout + done.stderr


def test_what_cannot_be_done_is_told_with_its_remedy(run: Run, path: Path) -> None:
    run("key", "create", "anna")
    again = run("key", "create", "anna")
    assert (again.returncode, again.stdout) == (1, "")
    assert "key 'anna' exists already" in again.stderr
    assert "evergrid key remove anna" in again.stderr
    unknown = run("key", "remove", "ana")
    assert unknown.returncode == 1
    assert "Did you mean 'anna'?" in unknown.stderr
    path.chmod(0o666)
    opened = run("key", "create", "ben")
    assert opened.returncode == 1
    assert f"chmod 600 {path}" in opened.stderr
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("")
    for arguments in (("create", "anna"), ("list",), ("remove", "anna")):
        blocked = run("key", *arguments)
        assert "Traceback" not in blocked.stderr
        assert "gateway.keys" in blocked.stderr or "evergrid key create" in blocked.stderr
