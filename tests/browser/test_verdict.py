"""The box beside the form tells what became of the message that was sent, and of no other."""

from __future__ import annotations

from playwright.sync_api import expect

from evergrid.model.control_request import Verdict
from tests.browser.tables import place_all
from tests.browser.test_control import ASKED, choose, panel, press
from tests.browser.visitor import Visitor


def test_the_verdict_on_a_message_of_a_topic_that_is_gone_is_not_taken_for_ours(
    visitor: Visitor,
) -> None:
    """A control topic made anew begins at 0:0 again, and the verdict on its old 0:0 is known."""
    pipeline = place_all(visitor.gateway)
    pipeline.judge(0, {"usersTopic": "accounts_v2"}, Verdict.APPLIED, generation=7)
    visitor.open("/status", visitor.gateway.secrets["ops"])
    choose(visitor.page)
    offset = press(visitor)
    assert offset == 0
    box = panel(visitor.page).locator("app-verdict")
    expect(box).to_contain_text("The pipeline has not read it yet.")
    expect(box).not_to_contain_text("generation 7")
    pipeline.judge(offset, ASKED, Verdict.APPLIED, generation=2)
    expect(box).to_contain_text("as generation 2.")
