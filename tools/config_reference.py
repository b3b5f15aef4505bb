"""Write default.yaml and the tables of docs/configuration.md from the declared keys, or check them.

`tools/config_reference.py` writes both; `tools/config_reference.py --check` fails when one of them
is not what it would write. The default sources and joins are kept as default.yaml has them.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from evergrid.config.declaration import Group, Key, NamedSections, Properties, Shape, below
from evergrid.config.settings import CONFIGURATION
from evergrid.config.value_types import BOOLEAN

ROOT = Path(__file__).resolve().parent.parent
DEFAULTS = ROOT / "src" / "evergrid" / "config" / "default.yaml"
PAGE = ROOT / "docs" / "configuration.md"
WIDTH = 100
COMMENT_COLUMN = 32

_HEADING = """\
# Evergrid's configuration, with its defaults. This very file is what Evergrid runs with
# when you name no other; copy it, keep what you change, delete the rest.
#
# Any key can also be set from the environment: EVERGRID_ and the path to the key, its
# parts joined by two underscores, upper or lower case: EVERGRID_KAFKA__BOOTSTRAP=host:9092
# or EVERGRID_SOURCES__USERS__TOPIC=users_v2. The environment wins over the file.
#
# Secrets never stand in this file: write ${env:NAME} or ${file:/path} inside any value of
# the kafka section. Evergrid never prints them, and follows files that change.
#
# `make reference` writes this file from the declarations in evergrid.config.
"""
_TABLE = re.compile(r"(<!-- keys:(.*?)-->\n).*?(<!-- end of keys -->)", re.DOTALL)
_COLUMNS = "| key | meaning | default | allowed |\n| --- | --- | --- | --- |\n"


def purpose(shape: Shape) -> str:
    """What a key or a section is for; a section's struct says it where the declaration does not."""
    if shape.purpose or isinstance(shape, Key | Properties):
        return shape.purpose
    group = shape.each if isinstance(shape, NamedSections) else shape
    text = (inspect.getdoc(group.struct) or "") if isinstance(group, Group) else ""
    return text.partition("\n\n")[0].replace("\n", " ")


def default_file(sample: Mapping[str, Any]) -> str:
    """The text of default.yaml; `sample` has the sources and joins that stand in it."""
    parts = [_HEADING]
    for name, shape in CONFIGURATION.keys.items():
        if isinstance(shape, NamedSections):
            lines = [*_comment(purpose(shape), 0), f"{name}:", *_sample(shape, sample[name])]
        else:
            lines = list(_yaml(name, shape, 0))
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _comment(text: str, indent: int) -> Iterator[str]:
    start = " " * indent + "# "
    plain = text.replace("`", "")
    yield from textwrap.wrap(plain, WIDTH, initial_indent=start, subsequent_indent=start)


def _entry(text: str, comment: str, indent: int) -> Iterator[str]:
    """One line of YAML with its comment behind it, or in front of it where it is long."""
    line = " " * indent + text
    whole = f"{line.ljust(COMMENT_COLUMN - 2)}  # {comment.replace('`', '')}" if comment else line
    if len(whole) > WIDTH:
        yield from _comment(comment, indent)
        whole = line
    yield whole


def _yaml(name: str, shape: Shape, indent: int) -> Iterator[str]:
    if isinstance(shape, Key):
        if shape.default is None:
            yield from _comment(f"{name}: {_meaning(shape)}; {_unset(shape)}", indent)
        else:
            yield from _entry(f"{name}: {shape.default}", _explained(shape), indent)
    elif isinstance(shape, NamedSections):
        yield from _comment(f"{name}: {purpose(shape)}; {_unset(shape)}", indent)
    elif isinstance(shape, Properties) or _is_repeated(shape):
        yield from _entry(f"{name}: {{}}", purpose(shape), indent)
    elif shape.is_optional or all(_is_unset(child) for child in shape.keys.values()):
        yield from _comment(f"{name}: {purpose(shape)}", indent)
        for key, child in shape.keys.items():
            yield from _comment(f"  {key}: {_explained(child)}", indent)
    else:
        yield from _comment(purpose(shape), indent)
        yield " " * indent + f"{name}:"
        for key, child in shape.keys.items():
            yield from _yaml(key, child, indent + 2)


def _is_unset(shape: Shape) -> bool:
    return isinstance(shape, Key) and shape.default is None


def _sample(shape: NamedSections, entries: Mapping[str, Any]) -> Iterator[str]:
    """The sample's entries; the first one has the comments."""
    assert isinstance(shape.each, Group)
    for number, (name, given) in enumerate(entries.items()):
        yield f"  {name}:"
        for key, child in shape.each.keys.items():
            comment = _explained(child) if number == 0 else ""
            if key not in given and number == 0:
                yield from _yaml(key, child, 4)
            elif isinstance(given.get(key), dict):
                yield from _entry(f"{key}:", comment, 4)
                yield from (f"      {field}: {kind}" for field, kind in given[key].items())
            elif key in given:
                yield from _entry(f"{key}: {given[key]}", comment, 4)


def _explained(shape: Shape) -> str:
    """What a key is for, and what it can be where that is one of a few."""
    meaning = _meaning(shape)
    if isinstance(shape, NamedSections) and isinstance(shape.each, Group) and shape.each.short:
        shape = shape.each.keys[shape.each.short]
    if isinstance(shape, Key) and shape.kind.options and shape.kind is not BOOLEAN:
        return f"{meaning}: {shape.kind.expected}"
    return meaning


def _meaning(shape: Shape) -> str:
    return purpose(shape) + (" (secret)" if isinstance(shape, Key) and shape.secret else "")


def _unset(shape: Key | NamedSections) -> str:
    return f"without it: {shape.unset}" if shape.unset else "must be given"


def _is_repeated(group: Group) -> bool:
    """Whether a section has the keys of the one around it."""
    kafka = CONFIGURATION.keys["kafka"]
    return isinstance(kafka, Group) and group.struct in kafka.struct.__bases__


def page(text: str) -> str:
    """The text of docs/configuration.md with each table as the declarations have it."""
    return _TABLE.sub(lambda match: f"{match[1]}\n{table(match[2].strip())}\n{match[3]}", text)


def table(path: str) -> str:
    """The table of the section at `path`; of the whole configuration, its single values."""
    shape: Shape | None = CONFIGURATION
    for name in filter(None, path.split(".")):
        shape = shape.each if isinstance(shape, NamedSections) else below(shape, name)
    if isinstance(shape, NamedSections):
        shape = shape.each
    assert isinstance(shape, Group), path
    keys = {k: v for k, v in shape.keys.items() if path or isinstance(v, Key)}
    return _COLUMNS + "".join(row for key, child in keys.items() for row in _rows(key, child))


def _rows(name: str, shape: Shape, missing: str = "must be given") -> Iterator[str]:
    if isinstance(shape, Key):
        default = shape.unset or missing if shape.default is None else f"`{shape.default}`"
        allowed = f"a list: {shape.kind.expected}" if shape.is_list else shape.kind.expected
        yield _row(name, _meaning(shape), default, allowed)
    elif isinstance(shape, Properties):
        yield _row(name, purpose(shape), "none", "names and values, or pasted lines")
    elif isinstance(shape, NamedSections):
        if shape.purpose:
            value = shape.each.kind.expected if isinstance(shape.each, Key) else "the keys below"
            yield _row(name, shape.purpose, shape.unset or missing, f"names, each with {value}")
        if isinstance(shape.each, Group):
            yield from _rows(f"{name}.<name>", shape.each)
    elif _is_repeated(shape):
        yield _row(name, purpose(shape), "the keys above", "the same keys as above")
    else:
        for key, child in shape.keys.items():
            yield from _rows(f"{name}.{key}", child, "none" if shape.is_optional else missing)


def _row(name: str, meaning: str, default: str, allowed: str) -> str:
    linked = re.sub(r"docs/([\w-]+)\.md", r"[\1](\1.md)", meaning.rstrip("."))
    cells = (f"`{name}`", linked, default, allowed.replace("*", r"\*"))
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if they differ")
    check = parser.parse_args().check
    sample = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    stale = 0
    for file, wanted in (
        (DEFAULTS, default_file(sample)),
        (PAGE, page(PAGE.read_text(encoding="utf-8"))),
    ):
        if file.read_text(encoding="utf-8") == wanted:
            continue
        stale += 1
        if check:
            print(
                f"{file.relative_to(ROOT)} is not what the keys' declarations say: make reference"
            )
        else:
            file.write_text(wanted, encoding="utf-8")
            print(f"{file.relative_to(ROOT)} is written")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
