"""Every key a configuration can have, in the shape of the file.

One location, because three readers need it: the search for unknown keys, the merge of a
file over the defaults, and the match of environment variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from evergrid.config.problems import Path, Problems, quoted, suggestion
from evergrid.config.yaml_tree import SLIPS, MapNode, Node, ScalarNode


class Leaf(msgspec.Struct, frozen=True):
    """A single value, or a short list of them; `verbatim` for what somebody else made up.

    From the environment such a text is taken as it is: a password may look like YAML.
    """

    verbatim: bool = False


class Fixed(msgspec.Struct, frozen=True):
    """A section whose keys are ours; written as a single value, that is its `short` key."""

    keys: Mapping[str, Shape]
    short: str = ""


class Named(msgspec.Struct, frozen=True):
    """A section whose keys are names that the user chose."""

    each: Shape


class Properties(msgspec.Struct, frozen=True):
    """A section whose keys are another program's property names, dots and all."""

    lower: bool


Shape = Leaf | Fixed | Named | Properties

_LEAF = Leaf()
_VERBATIM = Leaf(verbatim=True)
_KAFKA_PROPERTIES = Properties(lower=True)


def _leaves(*names: str, kind: Leaf = _LEAF) -> dict[str, Shape]:
    return dict.fromkeys(names, kind)


_CONNECTION: dict[str, Shape] = {
    "bootstrap": _LEAF,
    "security": Fixed(
        {
            **_leaves("tls", "ca", "certificate", "key"),
            **_leaves("key_password", kind=_VERBATIM),
            **_leaves("mechanism"),
            **_leaves("user", "password", kind=_VERBATIM),
            **_leaves("token_url"),
            **_leaves("client_id", "client_secret", "scope", kind=_VERBATIM),
            "extensions": Named(_VERBATIM),
            **_leaves("token_ca"),
        }
    ),
    "properties": _KAFKA_PROPERTIES,
    "java": _KAFKA_PROPERTIES,
    "python": _KAFKA_PROPERTIES,
}
_SOURCE: dict[str, Shape] = {
    **_leaves("topic", "table", "key", "time", "start"),
    "fields": Named(Fixed(_leaves("type", "from"), short="type")),
}
_JOIN: dict[str, Shape] = {
    **_leaves("table", "type", "left", "right", "left_key", "right_key", "pairs"),
    "columns": Named(_LEAF),
    "history": Fixed(_leaves("left", "right")),
}
_RETENTION = Fixed(_leaves("rows", "age"))
_GATEWAY: dict[str, Shape] = {
    **_leaves("host", "port", "hosts", "origins"),
    "tls": Fixed(_leaves("certificate", "key")),
    **_leaves("behind_proxy", "keys", "memory_per_table", "frame_interval", "linger"),
    "limits": Fixed(
        _leaves(
            "message_bytes",
            "messages_per_second",
            "windows_per_connection",
            "window_rows",
            "connections",
            "connections_per_key",
            "strangers",
            "login",
            "views",
            "exports",
        )
    ),
}

KEYS = Fixed(
    {
        "data_dir": _LEAF,
        "kafka": Fixed(
            _CONNECTION | {name: Fixed(_CONNECTION) for name in ("source", "control", "internal")}
        ),
        "internal_topics": Fixed(_leaves("prefix", "partitions", "replication")),
        "sources": Named(Fixed(_SOURCE)),
        "joins": Named(Fixed(_JOIN)),
        "system_tables": Fixed(_leaves("quarantine", "control_raw", "orchestrator_status")),
        "retention": Fixed({"default": _RETENTION, "tables": Named(_RETENTION)}),
        "limits": Fixed(_leaves("message_bytes", "nesting", "quarantine_characters")),
        "missing_topics": _LEAF,
        "control": Fixed(_leaves("topic", "allow", "grace", "drain", "generations")),
        "spark": Fixed(
            {
                **_leaves("master", "driver_memory", "shuffle_partitions", "batch"),
                "settings": Properties(lower=False),
            }
        ),
        "gateway": Fixed(_GATEWAY),
    }
)


def children(node: MapNode, shape: Shape) -> Iterator[tuple[str, Node, Shape]]:
    """The entries of `node` that `shape` knows, each with its own shape."""
    for key, child in node.entries.items():
        if isinstance(shape, Named):
            yield key, child, shape.each
        elif isinstance(shape, Fixed) and key in shape.keys:
            yield key, child, shape.keys[key]


def without_strays(
    node: MapNode, problems: Problems, shape: Shape = KEYS, path: Path = ()
) -> MapNode:
    """`node` without words that stand alone where secrets stand, each reported without its name.

    YAML makes two entries of `password: hunter2,secret` between brackets, and the second one is
    a piece of the password.
    """
    shapes = {key: below for key, _, below in children(node, shape)}
    known = shapes if isinstance(shape, Fixed) else {}
    may_tell = path[:1] == ("kafka",) or path == ("spark", "settings")
    entries: dict[str, Node] = {}
    for key, child in node.entries.items():
        if may_tell and key not in known and isinstance(child, ScalarNode) and child.null:
            remedy = f'{SLIPS} Write "" where an empty one is meant.'
            problems.add(child.location, path, "found a key without a value", remedy)
        elif key in shapes and isinstance(child, MapNode):
            entries[key] = without_strays(child, problems, shapes[key], (*path, key))
        else:
            entries[key] = child
    return MapNode(node.location, entries)


def report_unknown(node: Node, problems: Problems, shape: Shape = KEYS, path: Path = ()) -> None:
    """Report every key that nobody would read, with the key it was probably meant to be."""
    if not isinstance(node, MapNode):
        return
    if isinstance(shape, Fixed):
        for key in (key for key in node.entries if key not in shape.keys):
            remedy = suggestion(key, shape.keys, f"Known here: {', '.join(shape.keys)}.")
            problems.add(
                node.entries[key].location, (*path, key), f"unknown key {quoted(key)}", remedy
            )
    for key, child, child_shape in children(node, shape):
        report_unknown(child, problems, child_shape, (*path, key))


def merge(base: Node, over: Node, shape: Shape = KEYS) -> Node:
    """`over` laid on `base`: sections of ours key by key, everything else as a whole.

    A section left empty says nothing in a section of ours, and "none" where the user
    names things: `joins:` alone means no joins.
    """
    if isinstance(over, ScalarNode) and over.null and isinstance(base, MapNode):
        return MapNode(over.location) if isinstance(shape, Named) else base
    if not (isinstance(shape, Fixed) and isinstance(base, MapNode) and isinstance(over, MapNode)):
        return over
    merged = dict(base.entries)
    for key, child, child_shape in children(over, shape):
        merged[key] = merge(merged[key], child, child_shape) if key in merged else child
    return MapNode(over.location, merged)
