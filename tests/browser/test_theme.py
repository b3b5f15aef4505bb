"""Light and dark, as the system has it or as one likes, and both can be read."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visiting
from tests.browser.reader import TableReader, wait_for
from tests.browser.tables import place_all, place_story
from tests.support.local_gateway import LocalGateway

READABLE = 4.5  # the contrast that WCAG 2 asks of texts

# Each text in view with its contrast to what is behind it; the worst first.
CONTRASTS = """
() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const layered = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => rgb
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    const colours = [];
    for (let at = one; at; at = at.parentElement) {
      colours.unshift(getComputedStyle(at).backgroundColor);
    }
    return ['white', ...colours];
  };
  const contrast = (one) => {
    const ground = behind(one);
    const [dark, bright] = [light(layered(ground)),
      light(layered([...ground, getComputedStyle(one).color]))].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  return [...document.querySelectorAll('body *')]
    .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.matches(':disabled'))
    .map((one) => [contrast(one), one.innerText.slice(0, 40), one.className])
    .sort(([one], [other]) => one - other);
}
"""


def ground(page: Page) -> str:
    """`light` or `dark`, by what is behind the rows."""
    expect(page.get_by_role("grid").first.get_by_role("gridcell").first).to_be_visible()
    # Found and looked at in one step, because the grid may draw a row anew at any moment.
    found = page.evaluate(
        """() => {
          const cell = document.querySelector('[role=grid] [role=gridcell]');
          const canvas = document.createElement('canvas').getContext('2d');
          for (let at = cell; at; at = at.parentElement) {
            canvas.fillStyle = getComputedStyle(at).backgroundColor;
            canvas.fillRect(0, 0, 1, 1);
            const [red, green, blue, seen] = canvas.getImageData(0, 0, 1, 1).data;
            if (seen === 255) return red + green + blue > 384 ? 'light' : 'dark';
          }
          return 'light';
        }"""
    )
    return str(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_follows_the_system_and_can_be_read(
    gateway: LocalGateway, visiting: Visiting, scheme: str
) -> None:
    page = visiting(gateway, color_scheme=scheme).open()
    TableReader(page, "final_ui").is_live()
    assert ground(page) == scheme
    for link in ("final_ui", "Quarantine", "Status", "Dashboard"):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=link).click()
        expect(page.get_by_role("main").get_by_role("region").first).to_be_visible()
        expect(page).to_have_title(f"{link} – Evergrid")
        worst = page.evaluate(CONTRASTS)[:3]
        assert worst[0][0] >= READABLE, f"{link}: {worst}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_verdict_and_every_state_can_be_read(
    gateway: LocalGateway, visiting: Visiting, scheme: str
) -> None:
    place_story(place_all(gateway))
    page = visiting(gateway, color_scheme=scheme).open("/status", gateway.secrets["ops"])
    expect(page.get_by_role("button", name="Keep what runs")).to_be_visible()
    page.get_by_role("button", name="Show 3 more").click()
    expect(page.get_by_text("Superseded", exact=True)).to_be_visible()
    expect(page.get_by_text("Replaced", exact=True)).to_be_visible()
    expect(page.get_by_text("A new pipeline is being prepared").first).to_be_visible()
    worst = page.evaluate(CONTRASTS)[:3]
    assert worst[0][0] >= READABLE, worst


def test_one_may_like_it_otherwise_and_that_is_remembered(
    gateway: LocalGateway, visiting: Visiting
) -> None:
    page = visiting(gateway, color_scheme="light").open("/tables/final_ui")
    table = TableReader(page, "final_ui")
    table.shows("name", "Person 0")
    assert ground(page) == "light"
    page.get_by_role("group", name="Theme").get_by_text("dark").check(force=True)
    wait_for(page, lambda: ground(page), lambda now: now == "dark")
    page.reload()
    table.shows("name", "Person 0")
    assert ground(page) == "dark"
    page.get_by_role("radio", name="system").check(force=True)
    wait_for(page, lambda: ground(page), lambda now: now == "light")
