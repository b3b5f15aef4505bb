"""The `gateway` section: where it serves, to whom, and within which limits."""

from __future__ import annotations

from pathlib import Path

from evergrid.config.lists import listed
from evergrid.config.quantities import memory, moment
from evergrid.config.section import Section
from evergrid.config.settings import Gateway, GatewayLimits, Tls
from evergrid.config.values import BOOLEAN, FILE, duration, from_base, whole
from evergrid.config.web_addresses import ASKED_FOR, HIGHEST_PORT, LISTEN, ORIGIN

KEY_FILE = "keys.yaml"


def read_gateway(section: Section, base: Path, data_dir: Path) -> Gateway:
    """The gateway's settings; relative paths start from `base`, as everywhere."""
    return Gateway(
        host=section.value("host", LISTEN),
        port=section.value("port", whole(0, HIGHEST_PORT)),
        hosts=listed(section, "hosts", ASKED_FOR),
        origins=listed(section, "origins", ORIGIN),
        tls=_read_tls(section.section("tls"), base),
        behind_proxy=section.value("behind_proxy", BOOLEAN),
        keys=_file(section, "keys", base) if "keys" in section else data_dir / KEY_FILE,
        table_bytes=section.value("memory_per_table", memory(2**20, 2**40)),
        frame_interval_ms=section.value("frame_interval", moment(1, 10_000, "25ms")),
        linger_seconds=section.value("linger", moment(0, 3_600_000, "10s")) / 1000,
        limits=_read_limits(section.section("limits")),
    )


def _read_tls(section: Section, base: Path) -> Tls | None:
    if not section.names:
        return None
    return Tls(certificate=_file(section, "certificate", base), key=_file(section, "key", base))


def _file(section: Section, key: str, base: Path) -> Path:
    return from_base(base, section.value(key, FILE))


def _read_limits(section: Section) -> GatewayLimits:
    many = whole(1, 1_000_000)
    return GatewayLimits(
        # A login and a filter of a few conditions must fit.
        message_bytes=section.value("message_bytes", whole(1024, 1024 * 1024)),
        messages_per_second=section.value("messages_per_second", whole(1, 10_000)),
        windows_per_connection=section.value("windows_per_connection", whole(1, 10_000)),
        window_rows=section.value("window_rows", whole(1, 100_000)),
        connections=section.value("connections", many),
        connections_per_key=section.value("connections_per_key", many),
        strangers=section.value("strangers", many),
        login_seconds=section.value("login", duration(1, 60, "5s")),
        views=section.value("views", many),
        exports=section.value("exports", whole(1, 1000)),
    )
