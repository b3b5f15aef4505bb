"""The `gateway` section: where it serves, to whom, and within which limits."""

from __future__ import annotations

from pathlib import Path

from evergrid.config.declaration import DeclaredKeys, Group, setting, setting_list, subsection
from evergrid.config.quantities import duration, in_seconds, memory, short_duration
from evergrid.config.section import Section
from evergrid.config.value_types import BOOLEAN, FILE_PATH, whole
from evergrid.config.web_addresses import HIGHEST_PORT, HOST, LISTEN, ORIGIN

KEY_FILE = "keys.yaml"

_MANY = whole(1, 1_000_000)


class Tls(DeclaredKeys, frozen=True):
    """PEM files for https; without them the gateway serves plain http."""

    certificate: Path = setting(FILE_PATH, "the certificate with its chain")
    key: Path = setting(FILE_PATH, "its private key")


class GatewayLimits(DeclaredKeys, frozen=True):
    """What one client, one key and all of them together may ask of a gateway."""

    # A login and a filter of a few conditions must fit.
    message_bytes: int = setting(
        whole(1024, 1024 * 1024), "size of one message from a client", "16384"
    )
    messages_per_second: int = setting(
        whole(1, 10_000), "messages from one connection; twice as many in a burst", "50"
    )
    windows_per_connection: int = setting(whole(1, 10_000), "open windows of one connection", "64")
    window_rows: int = setting(whole(1, 100_000), "rows of one window", "5000")
    connections: int = setting(_MANY, "connections in total", "5000")
    connections_per_key: int = setting(_MANY, "connections of one key", "2500")
    strangers: int = setting(_MANY, "connections that have not logged in", "100")
    login_seconds: int = setting(
        duration(1, 60, "5s"), "how long they have to log in", "5s", name="login"
    )
    views: int = setting(_MANY, "different views at a time", "500")
    exports: int = setting(whole(1, 1000), "large downloads at a time", "4")


class Gateway(DeclaredKeys, frozen=True):
    """Who may look at the tables, from where, and how much they may ask for; docs/security.md."""

    host: str = setting(
        LISTEN,
        "where it listens; beyond this machine only with `tls` or `behind_proxy`; `0.0.0.0` "
        "and `::` are all addresses of this machine",
        "127.0.0.1",
    )
    port: int = setting(whole(0, HIGHEST_PORT), "the port there; 0: any free one", "8080")
    hosts: tuple[str, ...] = setting_list(
        HOST, "other names by which browsers may address it", "[]"
    )
    origins: tuple[str, ...] = setting_list(
        ORIGIN, "other sites whose pages may send requests to it", "[]"
    )
    tls: Tls | None = subsection(Group(Tls, is_optional=True))
    behind_proxy: bool = setting(BOOLEAN, "whether a proxy in front of it serves https", "false")
    keys: Path = setting(
        FILE_PATH, "the file that `evergrid key` writes", unset="`keys.yaml` inside `data_dir`"
    )
    table_bytes: int = setting(
        memory(2**20, 2**40),
        "memory of one table; one that needs more drops its oldest rows",
        "2g",
        name="memory_per_table",
    )
    frame_interval_ms: int = setting(
        short_duration(1, 10_000, "25ms"),
        "changes within it reach the viewers together",
        "25ms",
        name="frame_interval",
    )
    linger_seconds: float = setting(
        in_seconds(short_duration(0, 3_600_000, "10s")),
        "how long a view stays after its last viewer left",
        "10s",
        name="linger",
    )
    limits: GatewayLimits = subsection(Group(GatewayLimits))


def read_gateway(section: Section, data_dir: Path) -> Gateway:
    """The gateway's settings; its key file is in `data_dir` unless the section names one."""
    return section.read(Gateway, keys=section.field(Gateway, "keys") or data_dir / KEY_FILE)
