"""A strict content policy holds on every page, whatever is opened there."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.reader import TableReader
from tests.browser.tables import user
from tests.browser.visitor import Visitor

NOTE_VIOLATIONS = """
window.violations = [];
addEventListener('securitypolicyviolation',
  ({ violatedDirective, blockedURI, sourceFile }) =>
    window.violations.push(`${violatedDirective} ${blockedURI} ${sourceFile}`));
"""


def rules(policy: str) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in policy.split(";"))
    return {name: value for name, _, value in parts if name}


def test_the_policy_is_strict(visitor: Visitor) -> None:
    answers = [visitor.page.goto(visitor.address) for _ in range(2)]
    policies = [rules(answer.headers["content-security-policy"]) for answer in answers if answer]
    first, second = policies
    assert first["default-src"] == "'none'"
    assert first["script-src"] == "'self'"
    nonce = re.fullmatch(r"'self' 'nonce-([\w+/=-]{16,})'", first["style-src"])
    assert nonce is not None, first["style-src"]
    assert nonce[1] not in second["style-src"], "a nonce is for one answer"
    assert first["frame-ancestors"] == "'none'"
    assert first["base-uri"] in ("'self'", "'none'")
    assert first["form-action"] in ("'self'", "'none'")
    assert first["require-trusted-types-for"] == "'script'"
    assert first["trusted-types"] == "'none'"
    said = " ".join(f"{name} {value}" for name, value in first.items())
    assert "unsafe" not in said
    assert "*" not in said
    assert "http:" not in said


def test_nothing_that_one_does_breaks_it(visitor: Visitor) -> None:
    visitor.context.add_init_script(NOTE_VIOLATIONS)
    page = visitor.open()
    table = TableReader(page, "final_ui")
    table.is_live()
    pages = page.get_by_role("navigation", name="Pages")
    for link in ("Status", "Quarantine", "final_ui"):
        pages.get_by_role("link", name=link).click()
        expect(page).to_have_title(f"{link} – Evergrid")
    table.shows("name", "Person 0")
    for menu in ("Columns", "Export"):
        table.press(menu)
        expect(table.dialog).to_be_visible()
        page.keyboard.press("Escape")
    table.filter("name", "contains", "person")
    table.sort("balance")
    table.cell(3, "#").click()
    expect(page.get_by_role("dialog", name="Row of final_ui")).to_contain_text("Made from")
    visitor.gateway.upsert("users_ui", [user(2, name="Mei")])
    expect(page.get_by_role("dialog", name="Row of final_ui").get_by_text("Mei")).to_be_visible()
    page.get_by_role("radio", name="dark").check(force=True)
    assert page.evaluate("() => window.violations") == []
    assert {url.split("/")[2] for url in visitor.requests if "//" in url} == {
        visitor.address.split("/")[2]
    }


def test_no_text_becomes_html_or_code(visitor: Visitor) -> None:
    visitor.allow("Trusted|Content Security Policy")
    page = visitor.open()
    TableReader(page, "final_ui").is_live()
    for attempt in (
        "document.createElement('div').innerHTML = '<img src=x>'",
        "document.createElement('script').text = 'alert(1)'",
        "trustedTypes.createPolicy('default', { createHTML: (html) => html })",
    ):
        refused = (
            f"() => {{ try {{ {attempt}; return ''; }} catch (error) {{ return error.name; }} }}"
        )
        assert page.evaluate(refused) == "TypeError", attempt
