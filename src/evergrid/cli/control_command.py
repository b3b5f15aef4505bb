"""`evergrid control`: send a control message and wait for its verdict, or show what runs."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import json
import os
import socket
import time
from collections.abc import Iterable

from evergrid.changelog.control_topic import ControlTopic
from evergrid.cli.arguments import config_value
from evergrid.cli.control_monitor import ControlMonitor
from evergrid.cli.exit_codes import OK, UNDECIDED, Stopped, discard_output
from evergrid.cli.status_text import (
    canceled_text,
    generation_lines,
    message_lines,
    option_lines,
    outcome_text,
    pending_text,
    pipeline_text,
)
from evergrid.cli.terminal import StatusLine
from evergrid.config.settings import Settings
from evergrid.config.value_types import SECONDS, duration
from evergrid.model.control_request import Verdict
from evergrid.model.errors import ConfigError, DataError

_DESCRIPTION = """\
Change the topics of sources or the types of joins: sends a control message, and shows its progress
until the new tables are live. What is not named stays as it is. Without such options: shows what
runs, what can be changed, and the last control messages.

Exit codes: 0 applied, or it ran already; 1 rejected or failed, and the tables are unchanged;
3 no verdict yet, after --timeout or Ctrl-C; 75 Kafka does not answer.
"""

_TIMEOUT = duration(1, 30 * SECONDS["d"], "90s or 10m")
_POLL_SECONDS = 0.2
_SHOWN_MESSAGES = 5
_LATER = "The message stays on its topic, and the next pipeline reads it."
_STAYS_SENT = "The message stays sent. `evergrid control` shows its verdict."
_OPEN_VERDICTS = (Verdict.WAITING.value, Verdict.PREPARING.value)


def add_arguments(parser: argparse.ArgumentParser, sources: Iterable[str]) -> None:
    """`sources` are those of the configuration; each has an option."""
    parser.description = _DESCRIPTION
    for source in sources:
        parser.add_argument(
            f"--{source}-topic",
            dest="fields",
            action="append",
            type=lambda text, source=source: (f"{source}Topic", text),  # type: ignore[misc]
            metavar="TOPIC",
            help=f"read {source} from this topic",
        )
    parser.add_argument(
        "--topic",
        dest="fields",
        action="append",
        type=_topic,
        metavar="SOURCE=TOPIC",
        help="read this source from this topic",
    )
    parser.add_argument(
        "--join",
        dest="fields",
        action="append",
        type=_join,
        metavar="[NAME=]TYPE",
        help="the join's type: asof, left or inner; with the join's name if there are several",
    )
    parser.add_argument("--no-wait", action="store_true", help="end when the message is sent")
    parser.add_argument(
        "--timeout",
        type=config_value(_TIMEOUT),
        metavar="TIME",
        help="end after this time, such as 90s or 10m (default: never)",
    )


def _topic(text: str) -> tuple[str, str]:
    """A field of the message, unchecked."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError("expected a source and its topic such as users=users_v2")
    return f"{name}Topic", value


def _join(text: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not value or bool(name) != bool(equals):
        raise argparse.ArgumentTypeError("expected a type such as left, or final=left")
    return f"{name}JoinType" if name else "joinType", value


def run(settings: Settings, options: argparse.Namespace) -> int:
    fields = dict(options.fields or ())
    if len(fields) != len(options.fields or ()):
        raise ConfigError("duplicate option", remedy="Name each source and join once.")
    try:
        monitor = ControlMonitor(settings)
    except Stopped:
        if not fields:
            raise
        print("Stopped before anything was sent.", flush=True)
        return UNDECIDED
    with contextlib.closing(monitor):
        if not fields:
            _show(settings, monitor)
            return OK
        try:
            return _send(settings, monitor, fields, options)
        except BrokenPipeError:
            discard_output()
            return UNDECIDED


def _send(
    settings: Settings, monitor: ControlMonitor, fields: dict[str, str], options: argparse.Namespace
) -> int:
    topic, value = ControlTopic(settings), json.dumps(fields).encode()
    try:
        topic.read(value, monitor.manifest)
    except DataError as error:
        raise ConfigError(
            f"invalid control message: {error.what}",
            remedy="`evergrid control` shows what can be changed.",
        ) from None
    line = StatusLine()
    if canceled := canceled_text(monitor.manifest):
        line.keep(canceled)
    try:
        sent = topic.send(value, _sender(), monitor.manifest)
    except Stopped:
        line.keep("Stopped while sending. `evergrid control` shows whether it arrived.")
        return UNDECIDED
    row_id = f"{sent.partition}:{sent.offset}"
    line.keep(f"Sent {value.decode()} (message {row_id} on {sent.topic}).")
    if not options.no_wait:
        return _wait_for_verdict(monitor, row_id, line, options.timeout)
    if not monitor.alive:
        line.keep(f"{_pipeline(monitor)} {_LATER}")
    return OK


def _wait_for_verdict(
    monitor: ControlMonitor, row_id: str, line: StatusLine, timeout: int | None
) -> int:
    """Show the progress until there is a final verdict."""
    began = time.monotonic()
    try:
        while timeout is None or time.monotonic() < began + timeout:
            row = monitor.verdicts.get(row_id)
            if row is not None and row["verdict"] not in _OPEN_VERDICTS:
                line.clear()
                line.keep(outcome_text(row, monitor.manifest, time.monotonic() - began))
                return OK
            if monitor.problem:
                line.update(f"{monitor.problem} Retrying.")
            elif not monitor.alive:
                line.update(f"{_pipeline(monitor)} {_LATER}")
            else:
                line.update(pending_text(row, monitor.manifest))
            monitor.update(_POLL_SECONDS)
    except Stopped:
        line.keep(f"Stopped waiting. {_STAYS_SENT}")
    else:
        line.keep(f"Timed out after {timeout} s without a verdict. {_STAYS_SENT}")
    return UNDECIDED


def _show(settings: Settings, monitor: ControlMonitor) -> None:
    """Print what runs, what can be changed, and the last messages."""
    lines = [_pipeline(monitor), *generation_lines(monitor.manifest)]
    choices = monitor.manifest.choices
    if choices.topic:
        lines += ["", "What can be changed:", *option_lines(monitor.manifest, settings.sources)]
    history = monitor.history[-_SHOWN_MESSAGES:]
    name = choices.topic or settings.control.topic
    if history:
        lines += ["", f"The last control messages on {name}:", *message_lines(history)]
    else:
        lines += ["", f"No control message on {name} has been read yet."]
    print("\n".join(lines), flush=True)


def _pipeline(monitor: ControlMonitor) -> str:
    return pipeline_text(monitor.manifest, monitor.alive)


def _sender() -> str:
    """Who sends the message: user and host."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # a container may have a user without a name
        name = str(os.getuid())
    return f"{name}@{socket.gethostname()}"
