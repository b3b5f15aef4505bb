"""`evergrid tail TABLE`: a table's changes in the terminal, as they come."""

from __future__ import annotations

import argparse
import datetime
import os
import select
import shutil
import sys
import time

from evergrid.changelog.follower import Batch, Follower
from evergrid.changelog.manifest import Manifest
from evergrid.changelog.reader import load_manifest
from evergrid.cli.lines import Style, TableLines, as_json
from evergrid.config.problems import suggestion
from evergrid.config.settings import Settings
from evergrid.kafka.clients import where
from evergrid.kafka.probe import reach
from evergrid.model.errors import ConfigError

HELP = "show a table's changes as they come"

_LOOK_SECONDS = 1.0
_WIDTH_OF_A_FILE = 160


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name, such as final_ui or quarantine")
    parser.add_argument(
        "--from-start", action="store_true", help="begin with all that the changelog holds"
    )
    parser.add_argument("-n", type=_count, metavar="N", help="end after N changes")
    parser.add_argument(
        "--json", action="store_true", help='one JSON object per change: {"id": …, "row": …}'
    )
    parser.add_argument(
        "--all", action="store_true", help="also show the columns that trace a row to its messages"
    )
    parser.add_argument(
        "--wait", action="store_true", help="if there is no such table yet, wait for it"
    )
    parser.add_argument("--no-color", action="store_true", help="plain text")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def run(settings: Settings, options: argparse.Namespace) -> int:
    connection, prefix = settings.kafka.internal, settings.internal_topics.prefix
    reach(connection)
    _wait_for_table(settings, options)
    follower = Follower(connection, prefix, [options.table], from_start=options.from_start)
    output = _Output(options)
    try:
        while not output.done and not _nobody_reads():
            output.put(follower.read())
        return 0
    finally:
        follower.close()


class _Output:
    """Changes to standard output, what happens around them to standard error."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._json: bool = options.json
        self._left: int | None = options.n
        plain = options.no_color or "NO_COLOR" in os.environ
        self._style = Style(
            width=shutil.get_terminal_size((_WIDTH_OF_A_FILE, 24)).columns,
            colour=sys.stdout.isatty() and not plain,
            all_columns=options.all,
        )
        self._lines: TableLines | None = None

    @property
    def done(self) -> bool:
        return self._left == 0

    def put(self, batch: Batch) -> None:
        for note in batch.notes:
            print(f"evergrid: {note}", file=sys.stderr, flush=True)
        texts = self._changes(batch)
        for followed in batch.moved:
            self._lines = TableLines(followed, self._style)
            texts += [] if self._json else self._lines.header()
        if texts:
            sys.stdout.write("\n".join(texts) + "\n")
            sys.stdout.flush()

    def _changes(self, batch: Batch) -> list[str]:
        today = datetime.date.today()
        arrivals = batch.arrivals[: self._left]
        if self._left is not None:
            self._left -= len(arrivals)
        if self._json or self._lines is None:
            return [as_json(arrival) for arrival in arrivals]
        return self._lines.lines(arrivals, today)


def _wait_for_table(settings: Settings, options: argparse.Namespace) -> None:
    """Return when the table is there; ConfigError unless that is worth waiting for."""
    connection, prefix = settings.kafka.internal, settings.internal_topics.prefix
    said = False
    while True:
        manifest = load_manifest(connection, prefix)
        if options.table in manifest.tables():
            return
        problem = _no_table(options.table, manifest, settings)
        if not options.wait:
            raise problem
        if not said:
            print(f"evergrid: {problem.what}. Waiting.", file=sys.stderr, flush=True)
            said = True
        time.sleep(_LOOK_SECONDS)


def _no_table(name: str, manifest: Manifest, settings: Settings) -> ConfigError:
    place = where(settings.kafka.internal)
    prefix = settings.internal_topics.prefix
    if manifest.current_generation is None:
        return ConfigError(
            f"no pipeline with the prefix '{prefix}' has made tables here yet",
            where=place,
            remedy="Start evergrid pipeline, or add --wait. If one runs elsewhere, correct "
            "kafka.bootstrap or internal_topics.prefix.",
        )
    tables = sorted(manifest.tables())
    return ConfigError(
        f"there is no table '{name}'",
        where=place,
        remedy=f"{suggestion(name, tables, '')} There are {', '.join(tables)}.".lstrip(),
    )


def _nobody_reads() -> bool:
    """Whether the other end of our output's pipe was closed, as `head` does.

    A write would tell too, but a quiet table gives nothing to write.
    """
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError):  # no descriptor behind it, as in some test runners
        return False
