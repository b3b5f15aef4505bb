"""The page about the configuration names every key, and its examples work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from evergrid.config import Settings
from evergrid.config.declaration import Group, NamedSections, Shape
from evergrid.config.settings import CONFIGURATION

Load = Callable[..., Settings]

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")


def own_keys(shape: Shape) -> Iterator[str]:
    if isinstance(shape, NamedSections):
        yield from own_keys(shape.each)
    elif isinstance(shape, Group):
        for key, child in shape.keys.items():
            yield key
            yield from own_keys(child)


def test_every_key_is_on_the_page() -> None:
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`\n]+`", PAGE))))
    assert set(own_keys(CONFIGURATION)) - words == set()


def test_its_examples_load(load_text: Load, tmp_path: Path) -> None:
    examples = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    secret = tmp_path / "kafka"
    secret.write_text("hunter2\n")
    for example in examples:
        assert load_text(example.replace("/run/secrets/kafka", str(secret))).sources
    assert len(examples) == 3
