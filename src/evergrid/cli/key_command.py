"""`evergrid key`: who may ask a gateway, and for what."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable
from pathlib import Path

from evergrid.cli.arguments import reader
from evergrid.config.settings import Settings
from evergrid.config.values import SECONDS, duration
from evergrid.gateway.entry.key import EVERY_TABLE, Key, make_key
from evergrid.gateway.entry.keyfile import NAME, PATTERN, add_key, read_keys, remove_key

HELP = "make, list and remove the keys that open a gateway"

_LIFETIME = duration(1, 36500 * SECONDS["d"], "12h or 30d")
_CREATED = """\
This is the only time that the key is shown; Evergrid keeps its hash alone. Hand it on as you
would a password, and never put it into an address (?key=...): gateways refuse that.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=lambda _settings, _options: _help(parser))
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    create = _action(actions, "create", _create, "make a key and print it, this once")
    create.add_argument("name", type=reader(NAME), metavar="NAME", help="whose key it is")
    create.add_argument(
        "--tables",
        type=_patterns,
        default=EVERY_TABLE,
        metavar="PATTERNS",
        help="tables it may read, such as 'users_*,final_ui' (default: all)",
    )
    create.add_argument(
        "--control", action="store_true", help="it may also change what the pipeline joins"
    )
    create.add_argument(
        "--expires",
        type=reader(_LIFETIME),
        metavar="TIME",
        help="how long it is good, such as 12h or 30d (default: until it is removed)",
    )
    _action(actions, "list", _list, "list the keys: names, rights and times, no secrets")
    remove = _action(actions, "remove", _remove, "remove a key; who uses it is cut off at once")
    remove.add_argument("name", type=reader(NAME), metavar="NAME", help="the key's name")


def run(settings: Settings, options: argparse.Namespace) -> int:
    action: Callable[[Settings, argparse.Namespace], int] = options.action
    return action(settings, options)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    action: Callable[[Settings, argparse.Namespace], int],
    words: str,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    # Taken here too, and without a default, which would hide one given before the action.
    parser.add_argument(
        "-c",
        "--config",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="the configuration file",
    )
    parser.set_defaults(action=action)
    return parser


def _patterns(text: str) -> tuple[str, ...]:
    read = reader(PATTERN)
    return tuple(dict.fromkeys(read(part.strip()) for part in text.split(",")))


def _help(parser: argparse.ArgumentParser) -> int:
    parser.print_help()
    return 0


def _create(settings: Settings, options: argparse.Namespace) -> int:
    seconds: int | None = options.expires
    lifetime = None if seconds is None else datetime.timedelta(seconds=seconds)
    key, secret = make_key(
        options.name, tables=options.tables, control=options.control, lifetime=lifetime
    )
    add_key(settings.gateway.keys, key)
    _say(f"Key '{key.name}' ({_rights(key)}) is good {_until(key, _now())}.")
    _say(_CREATED)
    print(secret, flush=True)
    return 0


def _list(settings: Settings, _options: argparse.Namespace) -> int:
    path = settings.gateway.keys
    ring = read_keys(path) if path.exists() else None
    for warning in ring.warnings if ring else ():
        _say(warning)
    if ring is None or not ring.keys:
        _say(f"There is no key in {path} yet. Make one: evergrid key create NAME.")
        return 0
    now = _now()
    rows = [("NAME", "RIGHTS", "CREATED", "GOOD")]
    rows += [(key.name, _rights(key), _time(key.created), _until(key, now)) for key in ring.keys]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


def _remove(settings: Settings, options: argparse.Namespace) -> int:
    remove_key(settings.gateway.keys, options.name)
    _say(f"Key '{options.name}' is removed. Gateways that read this file notice within a second.")
    return 0


def _rights(key: Key) -> str:
    tables = "all tables" if "*" in key.tables else ", ".join(key.tables) or "no tables"
    return f"reads {tables}, control" if key.control else f"reads {tables}"


def _until(key: Key, now: datetime.datetime) -> str:
    if key.expires is None:
        return "until removed"
    return (
        f"no more: expired {_time(key.expires)}"
        if key.expired(now)
        else f"until {_time(key.expires)}"
    )


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _time(time: datetime.datetime | None) -> str:
    return "unknown" if time is None else time.strftime("%Y-%m-%d %H:%M:%SZ")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
