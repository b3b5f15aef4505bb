"""How to reach one Kafka cluster, with secrets that can be rotated and are never printed."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Self

import msgspec

from evergrid.config.declaration import DeclaredKeys
from evergrid.config.secrets import SecretReader, shown
from evergrid.model.errors import ConfigError


class HidesSecrets(DeclaredKeys, frozen=True):
    """Settings that may hold secrets: every way of printing them prints `shown()`."""

    def shown(self) -> Self:
        """The same settings with every secret replaced, safe to show to anybody."""
        raise NotImplementedError

    def __rich_repr__(self) -> list[tuple[str, object]]:
        safe = self.shown()
        return [(name, getattr(safe, name)) for name in self.__struct_fields__]

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__rich_repr__())
        return f"{type(self).__name__}({fields})"


def shown_properties(
    properties: Mapping[str, str], secrets: Set[str] = frozenset()
) -> dict[str, str]:
    return {name: shown(name, value, secrets) for name, value in properties.items()}


class Connection(HidesSecrets, frozen=True):
    """How to reach one Kafka cluster.

    `properties` carry the Java client's names and go to both clients, translated for
    the Python one; `java` and `python` carry what only that client knows. `secrets`
    are the values that must never be shown, wherever they ended up in the properties.
    """

    name: str
    bootstrap: str
    properties: Mapping[str, str] = {}
    java: Mapping[str, str] = {}
    python: Mapping[str, str] = {}
    secrets: frozenset[str] = frozenset()
    template: tuple[SecretReader, Connection] | None = None  # this one with its references

    def revealed(self, reader: SecretReader) -> Connection:
        """The connection with secrets in place of references; ConfigError when one is missing."""
        secrets: set[str] = set()

        def reveal_all(properties: Mapping[str, str]) -> dict[str, str]:
            return {key: reader.reveal(text, key, secrets) for key, text in properties.items()}

        return Connection(
            name=self.name,
            bootstrap=reader.reveal(self.bootstrap, found=secrets),
            properties=reveal_all(self.properties),
            java=reveal_all(self.java),
            python=reveal_all(self.python),
            secrets=frozenset(secrets),
            template=(reader, self) if secrets else None,  # without references it never changes
        )

    def called(self, name: str) -> Connection:
        """The same connection under another name."""
        if self.template is None:
            return msgspec.structs.replace(self, name=name)
        reader, written = self.template
        template = reader, written.called(name)
        return msgspec.structs.replace(self, name=name, template=template)

    def renewed(self) -> Connection:
        """The same connection with the secrets that their files hold now: files can be rotated.

        While one of them cannot be read, perhaps because it is being written, nothing changes.
        """
        if self.template is None:
            return self
        reader, written = self.template
        try:
            return written.revealed(reader)
        except ConfigError:
            return self

    def shown(self) -> Connection:
        return Connection(
            name=self.name,
            bootstrap=shown("bootstrap", self.bootstrap, self.secrets),
            properties=shown_properties(self.properties, self.secrets),
            java=shown_properties(self.java, self.secrets),
            python=shown_properties(self.python, self.secrets),
        )


class Kafka(msgspec.Struct, frozen=True):
    """The clusters of the source topics, of the control topic and of our own topics."""

    source: Connection
    control: Connection
    internal: Connection

    @property
    def connections(self) -> tuple[Connection, ...]:
        return (self.source, self.control, self.internal)
