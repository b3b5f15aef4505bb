"""Secrets: read where the configuration refers to them, and never shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from pathlib import Path

from evergrid.config.yaml_tree import is_unicode
from evergrid.model.errors import ConfigError

HIDDEN = "(hidden)"
LOGIN = "sasl.jaas.config"  # the one property whose value has quotes of its own
EXTENSIONS = "sasl.oauthbearer.extensions"  # and the one that is a list of names and values
LOCATION = ".location"  # how properties end that name a file

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}?")
_SECRET_WORDS = ("password", "secret", "jaas", "token", "key", "credential", r"user\.info")
_INLINE_SECRET = re.compile(r"(?i)(password|secret)\w*\s*=")  # a piece of a login that went astray
# Names such as ssl.keystore.location speak of a key without holding one.
_HARMLESS = ("location", "type", "file", "algorithm", "class", "client.id", ".ms")

_NAMES_SECRET = rf"(?!.*(?:{'|'.join(map(re.escape, _HARMLESS))})$).*(?:{'|'.join(_SECRET_WORDS)})"
# The same rule for Spark, which ignores case. Only names with dots match: Spark applies it to
# values too, in which `key` is an ordinary word.
SECRET_NAMES = rf"^(?=[\w-]+[.][\w.-]+$){_NAMES_SECRET}"


class SecretReader:
    """Replaces ``${env:NAME}`` and ``${file:/path}``; ``$${`` stands for a plain ``${``."""

    def __init__(self, environ: Mapping[str, str], base: Path) -> None:
        self._environ = environ
        self._base = base
        self._last: dict[Path, str] = {}  # what files held that could be read

    def reveal(self, text: str, name: str = "", found: set[str] | None = None) -> str:
        """`text` with its secrets in place, which go into `found`; ConfigError if one is missing.

        Replaced in one pass, so that a secret which looks like a reference stays itself. In the
        value of `LOGIN`, one between quotes is written as Java reads it there, so that it may
        have quotes in it; in that of `EXTENSIONS`, as librdkafka reads it, so that it may have
        commas. Elsewhere both are letters like all others.
        """

        def replace(match: re.Match[str]) -> str:
            if match[0] == "$${":
                return "${"
            secret = self._secret(match[1] if match[0].endswith("}") else "")
            spelled = _spelled(secret, name, text[: match.start()])
            if found is not None:
                found.update((secret, spelled))
            return spelled

        return _REFERENCE.sub(replace, text)

    def _secret(self, reference: str) -> str:
        kind, _, name = reference.partition(":")
        if kind == "env" and name:
            return self._from_environment(name)
        if kind == "file" and name:
            return self._from_file(self._base / name)
        # What was found is not repeated: a password may well have ${ in it.
        raise ConfigError(
            "found ${ that starts neither ${env:NAME} nor ${file:/path}",
            remedy="Write one of these, or $${ where a plain ${ is meant.",
        )

    def _from_file(self, path: Path) -> str:
        """What the file holds; what it held before while it cannot be read, as during a write."""
        try:
            self._last[path] = _read(path)
        except ConfigError:
            if path not in self._last:
                raise
        return self._last[path]

    def _from_environment(self, name: str) -> str:
        secret = self._environ.get(name)
        if secret and is_unicode(secret):
            return secret
        state = "is not set" if secret is None else "is not text" if secret else "is empty"
        raise ConfigError(
            f"the environment variable {name} {state}", remedy="Set it where Evergrid starts."
        )


def _read(path: Path) -> str:
    try:
        secret = path.read_text(encoding="utf-8").rstrip("\r\n")
        problem = "" if secret else " is empty"
    except OSError as error:
        problem = f": {error.strerror or 'it cannot be read'}"
    except ValueError:
        problem = " is not UTF-8 text"
    if problem:
        remedy = "Correct the path, or what the file holds."
        raise ConfigError(f"the secret file {path}{problem}", remedy=remedy)
    return secret


def _spelled(secret: str, name: str, before: str) -> str:
    """`secret` as the value of `name` wants it after `before`."""
    if name == LOGIN and _is_in_quotes(before):
        return escaped(secret)
    if name == EXTENSIONS and "=" in re.split(r"(?<!\\),", _REFERENCE.sub("", before))[-1]:
        return listed(secret)
    return secret


def _is_in_quotes(before: str) -> bool:
    """Whether what comes after `before` stands between quotes."""
    quote, escaped = "", False
    for letter in before:
        if escaped or (letter == "\\" and quote):
            escaped = not escaped
        elif letter in "\"'" and quote in ("", letter):
            quote = "" if quote else letter
    return bool(quote)


def outside_references(spell: Callable[[str], str], text: str) -> str:
    """`text` spelled by `spell`; references in it stay what they are."""
    parts = re.split(r"(\$\$\{|\$\{[^}]*\})", text)
    return "".join(part if index % 2 else spell(part) for index, part in enumerate(parts))


def escaped(secret: str) -> str:
    """`secret` as it stands between quotes for Java, whose quoted text ends with its line."""
    return re.sub(r"([\\\"'])", r"\\\1", secret).replace("\n", "\\n").replace("\r", "\\r")


def listed(value: str) -> str:
    """`value` as it stands in a list for librdkafka, which would leave out all of a list that it
    does not understand."""
    return re.sub(r"([\\,])", r"\\\1", value)


def shown(name: str, value: str, secrets: Set[str]) -> str:
    """`value` as it may be shown: hidden when it holds a secret, or one of the two says so."""
    holds = _INLINE_SECRET.search(value) or any(secret in value for secret in secrets)
    return HIDDEN if holds or names_secret(name) else value


def names_secret(name: str) -> bool:
    """Whether a property's name says that its value is a secret."""
    return re.match(_NAMES_SECRET, name, re.IGNORECASE) is not None
