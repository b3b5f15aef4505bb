"""`evergrid key`: create, list and remove the keys of a gateway."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable

from evergrid.cli.arguments import add_config, config_value
from evergrid.cli.exit_codes import OK
from evergrid.cli.terminal import table_lines, warn
from evergrid.config.settings import Settings
from evergrid.config.value_types import SECONDS, duration
from evergrid.gateway.access.access_key import EVERY_TABLE, AccessKey
from evergrid.gateway.access.key_file import NAME, PATTERN, create_key, read_keys, remove_key

_LIFETIME = duration(1, 36500 * SECONDS["d"], "12h or 30d")
_CREATED = """\
The key is shown only this once; Evergrid stores its hash. Treat it like a password, and never put
it into an address (?key=...): gateways refuse that.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action=lambda _settings, _options: parser.print_help())
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    create = _action(actions, "create", _create, "create a key and print it, this once")
    create.add_argument(
        "name", type=config_value(NAME), metavar="NAME", help="the key's name, such as its owner's"
    )
    create.add_argument(
        "--tables",
        type=_patterns,
        default=EVERY_TABLE,
        metavar="PATTERNS",
        help="tables it may read, such as 'users_*,final_ui' (default: all)",
    )
    create.add_argument("--control", action="store_true", help="also allow control messages")
    create.add_argument(
        "--expires",
        type=config_value(_LIFETIME),
        metavar="TIME",
        help="how long the key is valid, such as 12h or 30d (default: until it is removed)",
    )
    _action(actions, "list", _list, "list the keys: names, rights and times, no secrets")
    remove = _action(actions, "remove", _remove, "remove a key and end its connections at once")
    remove.add_argument("name", type=config_value(NAME), metavar="NAME", help="the key's name")


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
    seconds: int | None = options.expires
    lifetime = None if seconds is None else datetime.timedelta(seconds=seconds)
    key, secret = create_key(
        settings.gateway.keys,
        options.name,
        tables=options.tables,
        control=options.control,
        lifetime=lifetime,
    )
    warn(f"Key '{key.name}' ({_rights(key)}) is valid {_until(key)}.")
    warn(_CREATED)
    print(secret, flush=True)


def _list(settings: Settings, _options: argparse.Namespace) -> None:
    path = settings.gateway.keys
    ring = read_keys(path) if path.exists() else None
    for warning in ring.warnings if ring else ():
        warn(warning)
    if ring is None or not ring.keys:
        warn(f"No keys in {path} yet. Create one: evergrid key create NAME.")
        return
    rows = [(key.name, _rights(key), _time(key.created), _until(key)) for key in ring.keys]
    print("\n".join(table_lines(rows, ("NAME", "RIGHTS", "CREATED", "VALID"))))


def _remove(settings: Settings, options: argparse.Namespace) -> None:
    remove_key(settings.gateway.keys, options.name)
    warn(f"Key '{options.name}' is removed. Gateways that read this file notice within a second.")


def _rights(key: AccessKey) -> str:
    tables = "all tables" if "*" in key.tables else ", ".join(key.tables) or "no tables"
    return f"reads {tables}, control" if key.control else f"reads {tables}"


def _until(key: AccessKey) -> str:
    if key.expires is None:
        return "until removed"
    word = "expired" if key.expired(datetime.datetime.now(datetime.UTC)) else "until"
    return f"{word} {_time(key.expires)}"


def _time(time: datetime.datetime | None) -> str:
    return "unknown" if time is None else time.strftime("%Y-%m-%d %H:%M:%SZ")
