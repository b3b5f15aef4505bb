"""What `evergrid tail` writes: changes to standard output, what happens around them beside it."""

from __future__ import annotations

import datetime
import select
import sys
from collections.abc import Sequence

from evergrid.cli.row_diff import News
from evergrid.cli.tail_output import Style, TableLines, as_json
from evergrid.client import LiveWindow


class Printer:
    """Prints changes; `left` is how many are still wanted, None for all."""

    def __init__(self, style: Style, *, json: bool, count: int | None) -> None:
        self._style = style
        self._json = json
        self.left = count
        self._lines: TableLines | None = None

    @property
    def done(self) -> bool:
        return self.left == 0 or _nobody_reads()

    def head(self, window: LiveWindow) -> None:
        """From now on it is this table, with these columns."""
        self._lines = TableLines(window.table, window.generation, window.columns, self._style)
        if not self._json:
            self._write(self._lines.header())

    def put(self, news: News) -> None:
        if self.left is not None:
            news = news.first(self.left)
            self.left -= len(news)
        if self._json or self._lines is None:
            self._write(as_json(news))
        else:
            self._write(self._lines.lines(news, datetime.date.today()))

    def note(self, text: str) -> None:
        print(f"evergrid: {text}", file=sys.stderr, flush=True)

    def _write(self, texts: Sequence[str]) -> None:
        if texts:
            sys.stdout.write("\n".join(texts) + "\n")
            sys.stdout.flush()


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
