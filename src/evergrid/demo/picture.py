"""The demo's screen as a picture for the documentation."""

from __future__ import annotations

import io
import re

from rich.console import Console

from evergrid.demo.screen import render
from evergrid.demo.view import View

WIDTH, HEIGHT = 104, 28

# A page that shows the picture must not load a font from somewhere else.
_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def picture(view: View) -> str:
    """An SVG of what a terminal would show."""
    console = Console(
        record=True, width=WIDTH, height=HEIGHT, file=io.StringIO(), force_terminal=True
    )
    console.print(render(view, WIDTH, HEIGHT), end="")
    svg = _FONT.sub("", console.export_svg(title="evergrid demo"))
    # Or some viewers drop the spaces that a text begins with, and columns shift.
    return svg.replace("<text ", '<text xml:space="preserve" ')
