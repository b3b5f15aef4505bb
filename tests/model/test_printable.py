"""Text from outside cannot control a terminal."""

from __future__ import annotations

from evergrid.model.printable import printable


def test_control_characters_are_escaped_and_all_else_stays() -> None:
    assert printable("Zoë 東京") == "Zoë 東京"
    assert printable("a\x1b[31mred\r\n") == r"a\x1b[31mred\r\n"
    assert printable("right-to-left \u202e") == r"right-to-left \u202e"
