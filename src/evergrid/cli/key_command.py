"""`evergrid key`: create, rotate, list, remove and disconnect the keys of a gateway."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable

from evergrid.cli import connect_options
from evergrid.cli.arguments import add_config, config_value
from evergrid.cli.exit_codes import OK
from evergrid.cli.sessions_command import disconnect
from evergrid.cli.terminal import table_lines, warn
from evergrid.config.settings import Settings
from evergrid.config.value_types import SECONDS, duration
from evergrid.gateway.access.access_key import EVERY_TABLE, AccessKey
from evergrid.gateway.access.key_file import (
    NAME,
    PATTERN,
    create_key,
    read_keys,
    remove_key,
    rotate_key,
)
from evergrid.gateway.access.key_usage import last_uses

_LIFETIME = duration(1, 36500 * SECONDS["d"], "12h or 30d")
_OVERLAP = duration(0, 365 * SECONDS["d"], "1h or 7d")
_CREATED = """\
The key is shown only this once; Evergrid stores its hash. Treat it like a password, and never put
it into an address (?key=...): gateways refuse that.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=lambda _settings, _options: parser.print_help())
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    create = _action(actions, "create", _create, "create a key and print it, this once")
    create.add_argument(
        "--tables",
        type=_patterns,
        default=EVERY_TABLE,
        metavar="PATTERNS",
        help="tables it may read, such as 'users_*,final_ui' (default: all)",
    )
    create.add_argument("--control", action="store_true", help="also allow control messages")
    create.add_argument(
        "--admin", action="store_true", help="also allow to see and end the sessions of all keys"
    )
    rotate = _action(
        actions, "rotate", _rotate, "give a key another secret, with the same name and rights"
    )
    rotate.add_argument(
        "--overlap",
        type=config_value(_OVERLAP),
        default=SECONDS["h"],
        metavar="TIME",
        help="how long the secret before stays valid, such as 7d, or 0s (default: 1h)",
    )
    for action, without in ((create, "until it is removed"), (rotate, "as before")):
        action.add_argument(
            "--expires",
            type=config_value(_LIFETIME),
            metavar="TIME",
            help=f"how long the key is valid, such as 12h or 30d (default: {without})",
        )
    _action(actions, "list", _list, "list the keys: names, rights and times, no secrets")
    remove = _action(actions, "remove", _remove, "remove a key and end its connections at once")
    end = _action(actions, "disconnect", disconnect, "end a key's sessions at a running gateway")
    connect_options.add_arguments(end)
    for action in (create, rotate, remove, end):
        action.add_argument("name", type=config_value(NAME), metavar="NAME", help="the key's name")


def run(settings: Settings, options: argparse.Namespace) -> int:
    options.action(settings, options)
    return OK


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    action: Callable[[Settings, argparse.Namespace], None],
    words: str,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    # Accepted here too, without a default, which would override one given before the action.
    add_config(parser, argparse.SUPPRESS)
    parser.set_defaults(action=action)
    return parser


def _patterns(text: str) -> tuple[str, ...]:
    read = config_value(PATTERN)
    return tuple(dict.fromkeys(read(part.strip()) for part in text.split(",")))


def _create(settings: Settings, options: argparse.Namespace) -> None:
    key, secret = create_key(
        settings.gateway.keys,
        options.name,
        tables=options.tables,
        control=options.control,
        admin=options.admin,
        lifetime=_lifetime(options),
    )
    warn(f"Key '{key.name}' ({_rights(key)}) is valid {_until(key)}.")
    warn(_CREATED)
    print(secret, flush=True)


def _rotate(settings: Settings, options: argparse.Namespace) -> None:
    overlap = datetime.timedelta(seconds=options.overlap)
    key, secret = rotate_key(settings.gateway.keys, options.name, overlap, _lifetime(options))
    ending = _until(old) if (old := key.previous()) else "no more"
    warn(f"Key '{key.name}' has another secret; the one before is valid {ending}.")
    warn(_CREATED)
    print(secret, flush=True)


def _lifetime(options: argparse.Namespace) -> datetime.timedelta | None:
    return None if options.expires is None else datetime.timedelta(seconds=options.expires)


def _list(settings: Settings, _options: argparse.Namespace) -> None:
    path = settings.gateway.keys
    ring = read_keys(path) if path.exists() else None
    for warning in ring.warnings if ring else ():
        warn(warning)
    if ring is None or not ring.keys:
        warn(f"No keys in {path} yet. Create one: evergrid key create NAME.")
        return
    uses = last_uses(path)
    rows = []
    for key in ring.keys:
        used = _time(uses[key.hash]) if key.hash in uses else "-"
        rows.append((key.name, _rights(key), _time(key.created), _until(key), used))
        if old := key.previous():
            used = _time(uses[old.hash]) if old.hash in uses else "-"
            rows.append((f"{key.name} (previous secret)", "", "", _until(old), used))
    print("\n".join(table_lines(rows, ("NAME", "RIGHTS", "CREATED", "VALID", "LAST USE"))))


def _remove(settings: Settings, options: argparse.Namespace) -> None:
    remove_key(settings.gateway.keys, options.name)
    warn(f"Key '{options.name}' is removed. Gateways that read this file notice within a second.")


def _rights(key: AccessKey) -> str:
    tables = "all tables" if "*" in key.tables else ", ".join(key.tables) or "no tables"
    rights = [f"reads {tables}", *["control"] * key.control, *["admin"] * key.admin]
    return ", ".join(rights)


def _until(key: AccessKey) -> str:
    if key.expires is None:
        return "until removed"
    word = "expired" if key.expired(datetime.datetime.now(datetime.UTC)) else "until"
    return f"{word} {_time(key.expires)}"


def _time(time: datetime.datetime | None) -> str:
    return "unknown" if time is None else time.strftime("%Y-%m-%d %H:%M:%SZ")
