"""`evergrid control`: change the pipeline while people watch, and see it happen."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import getpass
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from evergrid.changelog.text import cell, printable
from evergrid.cli.arguments import reader
from evergrid.cli.exit_codes import Stopped, leave_output
from evergrid.cli.status_text import (
    coming,
    endangered,
    generations,
    messages,
    options_of,
    outcome,
    pipeline,
)
from evergrid.config.settings import Settings
from evergrid.config.values import SECONDS, duration
from evergrid.model.control import Verdict
from evergrid.model.errors import ConfigError, DataError, EvergridError

if TYPE_CHECKING:
    from evergrid.changelog.codec import Row
    from evergrid.cli.control_monitor import Watch

HELP = "change topics or joins while people watch, or show what runs"

_DESCRIPTION = """\
Change sources' topics or joins' types while people watch: sends a control message, and shows what
becomes of it until it is on screens. What is not named stays as it is. Without any of it: what
runs, what may be asked for, and the last control messages.

Exit codes: 0 it is live, or ran already; 1 it is not to be had, and what ran before runs on;
3 not known yet, because the time ran out or you stopped watching; 75 Kafka does not answer.
"""

DONE, REFUSED, UNDECIDED = 0, 1, 3

_TIMEOUT = duration(1, 30 * SECONDS["d"], "90s or 10m")
_LOOK_SECONDS = 0.2
_LAST = 5
_LATER = "It stays on its topic, and is acted on when one starts."
_ON_ITS_OWN = "The message stays sent. `evergrid control` shows what becomes of it."
_LAST_WORDS = {
    Verdict.APPLIED.value: DONE,
    Verdict.IGNORED.value: DONE,
    Verdict.SUPERSEDED.value: REFUSED,
    Verdict.INVALID.value: REFUSED,
    Verdict.FAILED.value: REFUSED,
}


def add_arguments(parser: argparse.ArgumentParser, sources: Iterable[str] = ()) -> None:
    """`sources` are those of the configuration, each of which has an option."""
    parser.description = _DESCRIPTION
    for source in sources:
        parser.add_argument(
            f"--{source}-topic",
            dest="topic",
            action="append",
            type=lambda text, source=source: (source, text),  # type: ignore[misc]
            metavar="TOPIC",
            help=f"read {source} from this topic",
        )
    parser.add_argument(
        "--topic",
        action="append",
        type=_pair,
        metavar="SOURCE=TOPIC",
        help="the same for a source by its name",
    )
    parser.add_argument(
        "--join",
        action="append",
        type=_join,
        metavar="[NAME=]TYPE",
        help="asof, left or inner; with the join's name where there are several",
    )
    parser.add_argument("--no-wait", action="store_true", help="end as soon as the message is sent")
    parser.add_argument(
        "--timeout",
        type=reader(_TIMEOUT),
        metavar="TIME",
        help="stop watching after this time, such as 90s or 10m (default: never)",
    )


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError("expected a source and its topic such as users=users_v2")
    return name, value


def _join(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not value or bool(name) != bool(equals):
        raise argparse.ArgumentTypeError("expected a type such as left, or final=left")
    return name, value


def run(settings: Settings, options: argparse.Namespace) -> int:
    # The Kafka client takes a moment to import, which --help need not wait for.
    from evergrid.cli.control_monitor import Watch

    fields = _fields(options.topic or (), options.join or ())
    if not fields:
        with contextlib.closing(Watch(settings)) as watch:
            _show(settings, watch)
        return DONE
    try:
        watch = Watch(settings)
    except Stopped:
        print("Stopped before anything was sent.", flush=True)
        return UNDECIDED
    try:
        return _ask(settings, watch, fields, options)
    except BrokenPipeError:
        leave_output()
        return UNDECIDED
    finally:
        watch.close()


def _fields(topics: Sequence[tuple[str, str]], joins: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The message, as it was typed: whether it makes sense is said when it is read."""
    asked = [(f"{source}Topic", topic) for source, topic in topics]
    asked += [(f"{name}JoinType" if name else "joinType", kind) for name, kind in joins]
    fields = dict(asked)
    if len(fields) != len(asked):
        raise ConfigError("the same is asked for twice", remedy="Name each source and join once.")
    return fields


def _ask(
    settings: Settings, watch: Watch, fields: dict[str, str], options: argparse.Namespace
) -> int:
    from evergrid.changelog.control_topic import ControlTopic

    topic, value = ControlTopic(settings), json.dumps(fields).encode()
    try:
        topic.read(value, watch.manifest)
    except DataError as error:
        raise ConfigError(
            f"this cannot be asked for: {error.what}",
            remedy="`evergrid control` shows what can.",
        ) from None
    screen = _Screen()
    if called_off := endangered(watch.manifest):
        screen.keep(called_off)
    try:
        sent = topic.send(value, _me(), watch.manifest)
    except Stopped:
        screen.keep("Stopped while sending. `evergrid control` shows whether it arrived.")
        return UNDECIDED
    row_id = f"{sent.partition}:{sent.offset}"
    screen.keep(f"Asked for {value.decode()} (message {row_id} on {sent.topic}).")
    if not options.no_wait:
        return _see_it_through(watch, row_id, screen, options.timeout)
    if not watch.alive:
        screen.keep(f"{_pipeline(watch)} {_LATER}")
    return DONE


def _see_it_through(watch: Watch, row_id: str, screen: _Screen, timeout: int | None) -> int:
    began = time.monotonic()
    try:
        row = _follow(watch, row_id, screen, timeout)
    except Stopped:
        screen.keep(f"Stopped watching. {_ON_ITS_OWN}")
        return UNDECIDED
    if row is None:
        screen.keep(f"Not decided within {timeout} s. {_ON_ITS_OWN}")
        return UNDECIDED
    return _end(row, watch, screen, time.monotonic() - began)


def _follow(watch: Watch, row_id: str, screen: _Screen, seconds: int | None) -> Row | None:
    """Show what is done until there is a last word; None when the time is over."""
    deadline = None if seconds is None else time.monotonic() + seconds
    while deadline is None or time.monotonic() < deadline:
        row = watch.verdicts.get(row_id)
        if row is not None and row["verdict"] in _LAST_WORDS:
            return row
        if watch.trouble:
            screen.show(f"{watch.trouble} Going on when that is over.")
        elif not watch.alive:
            screen.show(f"{_pipeline(watch)} {_LATER}")
        else:
            screen.show(coming(row, watch.manifest))
        watch.look(_LOOK_SECONDS)
    return None


def _end(row: Row, watch: Watch, screen: _Screen, seconds: float) -> int:
    code = _LAST_WORDS[str(row["verdict"])]
    words = outcome(row, watch.manifest, seconds)
    screen.clear()
    if code != DONE:
        raise EvergridError(words)
    screen.keep(words)
    return code


def _show(settings: Settings, watch: Watch) -> None:
    """What runs, what may be asked for, and the last messages."""
    today = datetime.date.today()
    lines = [_pipeline(watch), *generations(watch.manifest, today)]
    choices = watch.manifest.choices
    if choices.topic:
        lines += ["", "What may be asked for:", *options_of(watch.manifest, settings.sources)]
    history = watch.history()[-_LAST:]
    name = choices.topic or settings.control.topic
    if history:
        lines += ["", f"The last control messages on {name}:", *messages(history, today)]
    else:
        lines += ["", f"No control message on {name} has been read yet."]
    print("\n".join(lines), flush=True)


def _pipeline(watch: Watch) -> str:
    return pipeline(watch.manifest, watch.alive, datetime.date.today())


def _me() -> str:
    """Who asks, as the operating system knows it."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container may have users without names
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"


class _Screen:
    """Lines that stay, and below them on a terminal one that changes."""

    def __init__(self) -> None:
        self._live = sys.stdout.isatty()
        self._shown = ""

    def show(self, text: str) -> None:
        """What is going on now; elsewhere than on a terminal it is a line like any other."""
        if text == self._shown:
            return
        self._shown = text
        if self._live:
            width = shutil.get_terminal_size().columns
            self._write(f"\r\x1b[2K{cell(printable(text), width - 1).rstrip()}")
        else:
            self._write(f"{text}\n")

    def keep(self, text: str) -> None:
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        if self._live and self._shown:
            self._write("\r\x1b[2K")
        self._shown = ""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
