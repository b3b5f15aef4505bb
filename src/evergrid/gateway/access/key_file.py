"""The key file: names, hashes and rights of all access keys.

It does not contain the secrets. Their hashes are of 256 random bits, which cannot be guessed, so
a file that others can read reveals names and rights only: that is a warning. A file that others
can write to would let them add keys: that is an error.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec
import yaml

from evergrid.config.problems import Problems, quoted, suggestion
from evergrid.config.section import Section
from evergrid.config.value_types import BOOLEAN, Value, matching
from evergrid.config.yaml_tree import ListNode, ScalarNode, parse
from evergrid.gateway.access.access_key import EVERY_TABLE, PREFIX, AccessKey, hashed, new_secret
from evergrid.gateway.access.private_file import lock_parent, replace_file
from evergrid.model.errors import ConfigError

LONGEST_NAME = 64

_ENTRY = (
    "hash",
    "tables",
    "control",
    "admin",
    "created",
    "expires",
    "previous_hash",
    "previous_until",
)
_NAME = rf"(?!{PREFIX})[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}"
_HASH = re.compile(r"[0-9a-f]{64}")
_PATTERN = r"[A-Za-z0-9_*?]{1,100}"
_HEADING = """\
# The keys of Evergrid's gateway, by hash; `evergrid key` writes this file, and running
# gateways reload it when it changes. Your own comments are lost when it is written.
"""


class KeyFile(msgspec.Struct, frozen=True):
    """The contents of a key file; `warnings` are sentences for its owner."""

    keys: tuple[AccessKey, ...]
    warnings: tuple[str, ...] = ()


def _time(text: str) -> datetime.datetime:
    time = datetime.datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError
    try:
        return time.astimezone(datetime.UTC)
    except OverflowError as error:
        raise ValueError from error


NAME = matching(
    _NAME,
    f"a key's name: letters, digits, dots, _ and -, at most {LONGEST_NAME}, not {PREFIX} first",
    "Choose such a name.",
)
PATTERN = matching(
    _PATTERN,
    "a table's name, in which * matches any letters and ? one",
    "Write it as users_ui or users_*.",
)
_TIME = Value(
    _time,
    "a time with its zone such as 2026-01-31T00:00:00Z",
    "Z is the zone of UTC.",
    datetime.datetime.max.replace(tzinfo=datetime.UTC),
)


def read_keys(path: Path) -> KeyFile:
    """The keys in the file at `path`; ConfigError with all reasons if one cannot be read."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read().decode("utf-8-sig")
    except OSError as error:
        remedy = "Correct gateway.keys, or let this user read the file."
        if isinstance(error, FileNotFoundError):
            remedy = "Create a key: evergrid key create NAME."
        reason = error.strerror or "no reason given"
        what = f"the key file cannot be read: {reason}"
        raise ConfigError(what, where=str(path), remedy=remedy) from None
    except UnicodeDecodeError:
        what = "the key file is not UTF-8 text"
        raise ConfigError(what, where=str(path), remedy="Save it as UTF-8.") from None
    return KeyFile(_read(text, str(path)), _warnings(path, mode))


def _warnings(path: Path, mode: int) -> tuple[str, ...]:
    remedy = f"chmod 600 {path}"
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        what = "insecure permissions: other users can write to the key file and add keys"
        raise ConfigError(what, where=str(path), remedy=f"Restrict them: {remedy}")
    if mode & stat.S_IROTH:
        what = "insecure permissions: other users can read names and rights in the key file."
        return (f"{path}: {what} Restrict them: {remedy}",)
    return ()


def _read(text: str, origin: str) -> tuple[AccessKey, ...]:
    problems = Problems()
    root = Section(parse(text, origin, problems), (), problems)
    if "keys" not in root:
        # Some editors leave an empty file for a moment while they save.
        root.report("section 'keys' is missing", "Create a key: evergrid key create NAME.")
    _report_unknown(root, ("keys",))
    section = root.section("keys")
    keys = tuple(_read_key(section.section(name), name) for name in section.names)
    for name in section.names:
        section.parse(name, name, NAME)
    _report_duplicates(section, keys)
    problems.raise_any()
    return keys


def _read_key(section: Section, name: str) -> AccessKey:
    _report_unknown(section, _ENTRY)
    return AccessKey(
        name=name,
        hash=_read_hash(section, "hash"),
        tables=_read_tables(section),
        control=section.value("control", BOOLEAN, False),
        admin=section.value("admin", BOOLEAN, False),
        created=_read_time(section, "created"),
        expires=_read_time(section, "expires"),
        previous_hash=_read_hash(section, "previous_hash") if "previous_hash" in section else "",
        # A previous secret without an end would be valid for ever by oversight.
        previous_until=section.value("previous_until", _TIME)
        if "previous_hash" in section
        else None,
    )


def _read_time(section: Section, name: str) -> datetime.datetime | None:
    return section.value(name, _TIME) if name in section else None


def _read_hash(section: Section, name: str) -> str:
    """The error never repeats the value, which may be the secret itself."""
    node = section.node(name)
    if isinstance(node, ScalarNode) and _HASH.fullmatch(node.text):
        return node.text
    what = "expected the SHA-256 of a secret in 64 hex digits, lower case"
    section.report(what, "Create keys with evergrid key create.", name)
    return ""


def _read_tables(section: Section) -> tuple[str, ...]:
    node = section.node("tables")
    if not isinstance(node, ListNode):
        return (section.value("tables", PATTERN, "*"),)
    listing = section.items("tables", node)
    return tuple(listing.value(number, PATTERN) for number in listing.names)


def _report_unknown(section: Section, known: Sequence[str]) -> None:
    """A misspelled `expires` must not make a key that never expires."""
    for name in section.names:
        if name not in known:
            remedy = suggestion(name, known, f"Known here: {', '.join(known)}.")
            section.report(f"unknown key {quoted(name)}", remedy, name)


def _report_duplicates(section: Section, keys: Sequence[AccessKey]) -> None:
    owners: dict[str, str] = {}
    for key in keys:
        for field, digest in (("hash", key.hash), ("previous_hash", key.previous_hash)):
            owner = owners.setdefault(digest, key.name)
            if digest and owner != key.name:
                what = f"duplicate secret: '{owner}' has the same"
                section.section(key.name).report(what, "Create a secret for each key.", field)


def create_key(
    path: Path,
    name: str,
    *,
    tables: tuple[str, ...] = EVERY_TABLE,
    control: bool = False,
    admin: bool = False,
    lifetime: datetime.timedelta | None = None,
) -> tuple[AccessKey, str]:
    """Make a key, add it to the file and return it with its secret, which is stored nowhere."""
    secret, now = new_secret(), _now()
    expires = None if lifetime is None else now + lifetime
    key = AccessKey(name, hashed(secret), tables, control, now, expires, admin)
    add_key(path, key)
    return key, secret


def rotate_key(
    path: Path,
    name: str,
    overlap: datetime.timedelta,
    lifetime: datetime.timedelta | None = None,
) -> tuple[AccessKey, str]:
    """Give the key of this name another secret; the one before stays valid for `overlap`.

    With `lifetime` the key expires that much later, else when it did before. A secret from before
    the last rotation ends at once.
    """
    secret, now = new_secret(), _now()
    with _locked(path):
        keys = {key.name: key for key in read_keys(path).keys}
        if name not in keys:
            raise _unknown(path, name, keys)
        before = keys[name]
        if lifetime is None and before.expired(now):
            remedy = f"Say how long it is valid: evergrid key rotate {name} --expires 30d."
            raise ConfigError(f"key '{name}' has expired", where=str(path), remedy=remedy)
        keys[name] = msgspec.structs.replace(
            before,
            hash=hashed(secret),
            created=now,
            expires=before.expires if lifetime is None else now + lifetime,
            previous_hash=before.hash if overlap else "",
            previous_until=now + overlap if overlap else None,
        )
        _write(path, tuple(keys.values()))
    return keys[name], secret


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def add_key(path: Path, key: AccessKey) -> None:
    """Add `key` to the file, which is created if necessary; ConfigError if the name is taken."""
    with _locked(path):
        keys = read_keys(path).keys if path.exists() else ()
        if any(key.name == other.name for other in keys):
            raise ConfigError(
                f"key '{key.name}' exists already",
                where=str(path),
                remedy=f"Choose another name, or remove it first: evergrid key remove {key.name}.",
            )
        _write(path, (*keys, key))


def remove_key(path: Path, name: str) -> None:
    """Remove the key of this name from the file; ConfigError if there is none."""
    with _locked(path):
        keys = {key.name: key for key in read_keys(path).keys}
        if name not in keys:
            raise _unknown(path, name, keys)
        _write(path, [key for key in keys.values() if key.name != name])


def _unknown(path: Path, name: str, names: Collection[str]) -> ConfigError:
    known = f"Known keys: {', '.join(names)}." if names else "There are no keys."
    remedy = suggestion(name, names, known)
    return ConfigError(f"unknown key {quoted(name)}", where=str(path), remedy=remedy)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock the file against changes by other processes, so that none of them is lost.

    The lock is on the directory, because each change replaces the file itself.
    """
    try:
        directory = lock_parent(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        yield
    finally:
        os.close(directory)


def _write(path: Path, keys: Sequence[AccessKey]) -> None:
    """Replace the file atomically, readable for its owner only."""
    document = {"keys": {key.name: _entry(key) for key in keys}}
    text = _HEADING + yaml.safe_dump(document, sort_keys=False, width=100)
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise _unwritable(path, error) from None


def _entry(key: AccessKey) -> dict[str, object]:
    entry: dict[str, object] = {
        "hash": key.hash,
        "tables": list(key.tables),
        "control": key.control,
    }
    # Gateways of earlier versions refuse a file with fields that they do not know.
    if key.admin:
        entry["admin"] = True
    for name, time in (("created", key.created), ("expires", key.expires)):
        if time is not None:
            entry[name] = time.isoformat(timespec="seconds")
    if key.previous_hash and key.previous_until is not None:
        entry["previous_hash"] = key.previous_hash
        entry["previous_until"] = key.previous_until.isoformat(timespec="seconds")
    return entry


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"the key file cannot be written: {error.strerror}",
        where=str(path),
        remedy="Set gateway.keys to a file in a directory that you may write to.",
    )
