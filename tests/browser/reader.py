"""Reads and works one live table as a person does: by what it says, not by how it is built."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from playwright.sync_api import Locator, Page, expect

from tests.browser.visitor import PATIENCE_MILLISECONDS

Value = TypeVar("Value")

NUMBER = "#"
_LOOK_MILLISECONDS = 25

# What is said in a status, from now on.
_OVERHEAR = """
() => {
  window.overheard = new Set();
  const note = () => document.querySelectorAll('[role=status]')
    .forEach((one) => one.checkVisibility() && window.overheard.add(one.textContent.trim()));
  new MutationObserver(note)
    .observe(document, { subtree: true, childList: true, characterData: true });
}
"""

# The lines that are wholly in view, each by the names of its columns, from top to bottom.
_LINES = """
(grid) => {
  const heads = [...grid.querySelectorAll('[role=columnheader]')];
  const nameOf = (head) => (head.ariaLabel ?? head.innerText).split(',')[0].trim();
  const names = new Map(heads.map((head) => [head.ariaColIndex, nameOf(head)]));
  const from = Math.max(0, ...heads.map((head) => head.getBoundingClientRect().bottom)) - 2;
  let to = grid.getBoundingClientRect().bottom;
  const line = grid.querySelector('[role=gridcell]')?.closest('[role=row]');
  for (let box = line?.parentElement; box && box !== grid; box = box.parentElement) {
    const clips = getComputedStyle(box).overflowY !== 'visible';
    if (clips) to = Math.min(to, box.getBoundingClientRect().bottom);
  }
  return [...grid.querySelectorAll('[role=row]')]
    .map((row) => [row.getBoundingClientRect(), [...row.querySelectorAll('[role=gridcell]')]])
    .filter(([box, cells]) => cells.length && box.top >= from && box.bottom <= to + 2)
    .sort(([one], [other]) => one.top - other.top)
    .map(([, cells]) =>
      Object.fromEntries(cells.map((cell) => [names.get(cell.ariaColIndex), cell.textContent])));
}
"""
_COLUMNS = """
(grid) => [...grid.querySelectorAll('[role=columnheader]')]
  .map((head) => [head.getBoundingClientRect().left, head])
  .sort(([one], [other]) => one - other)
  .map(([, head]) => (head.ariaLabel ?? head.innerText).split(',')[0].trim())
"""


class TableReader:
    """One `<eg-live-table>`, by its heading."""

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self.name = name
        self.region = page.get_by_role("main").get_by_role("region", name=name, exact=True)
        self.grid = self.region.get_by_role("grid")
        self.status = self.region.get_by_role("status").first
        self.pager = self.region.get_by_role("navigation", name="Rows")
        self.search = self.region.get_by_role("searchbox")
        self.dialog = self.region.get_by_role("dialog")

    # What it says

    def lines(self) -> list[dict[str, str]]:
        """What is in view, from top to bottom; cells by the names of their columns."""
        lines: list[dict[str, str]] = self.grid.evaluate(_LINES)
        return lines

    def columns(self) -> list[str]:
        """From left to right, the rows' numbers first."""
        names: list[str] = self.grid.evaluate(_COLUMNS)
        return names

    def cells(self, column: str) -> list[str]:
        return [line.get(column, "") for line in self.lines()]

    def shows(self, column: str, *texts: str) -> None:
        """Return when the first lines in view say this."""
        self.wait(lambda: self.cells(column)[: len(texts)], lambda seen: seen == list(texts))

    def shows_only(self, column: str, *texts: str) -> None:
        """Return when all lines in view together say this."""
        self.wait(lambda: self.cells(column), lambda seen: seen == list(texts))

    def starts_at(self, number: int) -> None:
        """Return when the row of this number is the first that is wholly in view."""
        self.wait(lambda: self.cells(NUMBER)[:1], lambda seen: seen == [f"{number:,}"])

    def ends_at(self, number: int) -> None:
        self.wait(lambda: self.cells(NUMBER)[-1:], lambda seen: seen == [f"{number:,}"])

    def says(self, words: str) -> None:
        """Return when the pager says so: `rows 1–300 of 1,000`."""
        expect(self.pager.get_by_text(words, exact=True)).to_be_visible()

    def is_live(self) -> None:
        expect(self.status).to_have_text("Live")

    def wait(self, ask: Callable[[], Value], right: Callable[[Value], bool]) -> Value:
        """What `ask` gives as soon as it is right; AssertionError with it when it never is."""
        return wait_for(self.page, ask, right)

    # What a person does

    def header(self, column: str) -> Locator:
        name = re.compile(rf"^{re.escape(column)}(,|$)")
        return self.grid.get_by_role("columnheader", name=name)

    def cell(self, number: int, column: str) -> Locator:
        """The cell of a row that is in view, by the row's number."""
        place = self.columns().index(column) + 1
        is_it = self.page.locator("[aria-colindex='1']", has_text=re.compile(rf"^{number:,}$"))
        row = self.grid.get_by_role("row").filter(has=is_it)
        return row.locator(f"[role=gridcell][aria-colindex='{place}']")

    def press(self, name: str) -> None:
        self.region.get_by_role("button", name=name, exact=True).click()

    def sort(self, column: str, more: bool = False) -> None:
        label = self.header(column).get_by_text(column, exact=True)
        label.click(modifiers=["Shift"] if more else [])

    def filter(self, column: str, operator: str, *values: str) -> None:
        """By the popover of the column's header."""
        self.open_filter(column)
        self.fill(operator, *values)

    def open_filter(self, column: str) -> None:
        header = self.header(column)
        header.hover()
        header.get_by_role("button", name=f"Filter {column}").click()

    def fill(self, operator: str, *values: str) -> None:
        """Fill an open popover in, and apply it."""
        form = self.dialog
        form.get_by_label("Rows whose value").select_option(label=operator)
        fields = ("From", "To") if len(values) > 1 else ("Value",)
        for field, value in zip(fields, values, strict=False):
            form.get_by_label(field, exact=True).fill(value)
        form.get_by_role("button", name="Apply").click()

    def chips(self) -> list[str]:
        """The filters in words."""
        chips = self.region.get_by_role("list", name="Filters").get_by_role("listitem")
        return [text.strip() for text in chips.all_inner_texts()]

    def go_to(self, row: int) -> None:
        self.pager.get_by_label("Go to row").fill(str(row))
        self.pager.get_by_role("button", name="Go", exact=True).click()

    @property
    def follow(self) -> Locator:
        """The button; a narrow one is called after its tip."""
        return self.region.get_by_role("button", name=re.compile("newest"))

    def scroll(self, pixels: int) -> None:
        """By the wheel, over the rows. To hover a cell that is drawn but not seen would scroll."""
        self.grid.hover()
        self.page.mouse.wheel(0, pixels)


def wait_for(page: Page, ask: Callable[[], Value], right: Callable[[Value], bool]) -> Value:
    """What `ask` gives as soon as it is right; AssertionError with it when it never is."""
    deadline = time.monotonic() + PATIENCE_MILLISECONDS / 1000
    while not right(value := ask()):
        assert time.monotonic() < deadline, f"still not so: {value}"
        page.wait_for_timeout(_LOOK_MILLISECONDS)  # lets the browser's messages come in
    return value


def overhear(page: Page) -> Callable[[str], None]:
    """From now on, every word of a status is remembered, also of one that is gone after seconds.
    What it gives returns when these words have been said."""
    page.evaluate(_OVERHEAR)

    def said() -> list[str]:
        texts: list[str] = page.evaluate("() => [...window.overheard]")
        return texts

    def heard(words: str) -> None:
        wait_for(page, said, lambda texts: any(words in text for text in texts))

    return heard


def words(page: Page) -> Mapping[str, str]:
    """What the page's address says, by its parameters."""
    texts: dict[str, str] = page.evaluate(
        "() => Object.fromEntries(new URL(location).searchParams)"
    )
    return texts
