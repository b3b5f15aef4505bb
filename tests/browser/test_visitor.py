"""A visitor notices what nobody should see, so a test without problems means something."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.browser.visitor import PATIENCE_MILLISECONDS, Visitor
from tests.support.local_gateway import LocalGateway

WRONGS = {
    "console.error('oh')": "console: oh",
    "setTimeout(() => { throw new Error('fell') })": "fell",
    "document.body.insertAdjacentHTML('beforeend', '<p>')": "TrustedHTML",
    "document.body.setAttribute('style', 'color: red')": "inline style",
    "document.body.append(Object.assign(document.createElement('script'), {text: '1'}))": (
        "TrustedScript|script"
    ),
    "eval('1')": "TrustedScript|unsafe-eval|uncaught",
    "new Image().src = 'https://elsewhere.example/pixel.png'": "elsewhere.example",
    "void fetch('https://elsewhere.example/').catch(() => {})": "elsewhere.example",
    "new Image().src = '/absent.png'": "404",
}


@pytest.mark.parametrize("wrong", WRONGS)
def test_what_should_not_be_is_noticed(visitor: Visitor, wrong: str) -> None:
    visitor.open(key="")
    assert visitor.problems == []
    visitor.page.evaluate(f"() => {{ setTimeout(() => {{ {wrong} }}) }}")
    wait_for_a_problem(visitor)
    visitor.allow(WRONGS[wrong])
    assert visitor.unforeseen() == []


def test_a_request_to_another_origin_is_noticed(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with LocalGateway(tmp_path / "other") as other:
        visitor.page.goto(f"{other.address}/livez")
        left = f"a request left for another origin: {other.address}/livez"
        assert left in visitor.unforeseen()
        visitor.allow(other.address)  # also for the icon that browsers ask for by themselves


def wait_for_a_problem(visitor: Visitor) -> None:
    deadline = time.monotonic() + PATIENCE_MILLISECONDS / 1000
    while not visitor.problems:
        assert time.monotonic() < deadline, "nothing was noticed"
        visitor.page.wait_for_timeout(20)  # lets the browser's messages come in
