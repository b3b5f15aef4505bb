"""Counts what the gateway refuses by reason, with an entry in log and audit log."""

from __future__ import annotations

import time
from collections.abc import Callable

from evergrid.gateway.access.audit_log import AuditEntry, AuditEvent, AuditLog
from evergrid.gateway.access.traffic_counters import TrafficCounters
from evergrid.protocol.error_codes import Code

LOG_SECONDS = 60.0

# Errors that tell of somebody who may not do something; others are mistakes in a request.
_AUDITED = frozenset(
    (
        Code.KEY_IN_ADDRESS,
        Code.HOST_REFUSED,
        Code.ORIGIN_REFUSED,
        Code.NOT_LOGGED_IN,
        Code.LOGIN_LATE,
        Code.BAD_KEY,
        Code.KEY_EXPIRED,
        Code.NO_RIGHTS,
        Code.TOO_MANY_CONNECTIONS,
        Code.TOO_MANY_MESSAGES,
        Code.TOO_MANY_EXPORTS,
    )
)


class Refusals:
    """An attack must not fill the log: further refusals of a minute are only counted."""

    def __init__(
        self, counters: TrafficCounters, audit: AuditLog, log: Callable[[str], None]
    ) -> None:
        self._counters = counters
        self._audit = audit
        self._log = log
        self._logged: dict[str, tuple[float, int]] = {}  # time of the last line, count then

    def add(self, reason: str, sentence: str, address: str) -> None:
        """`sentence` says what was refused; `address` is the client's."""
        self._counters.refused[reason] += 1
        self._audit_refusal(reason, address)
        count, now = self._counters.refused[reason], time.monotonic()
        logged, before = self._logged.get(reason, (-LOG_SECONDS, 0))
        if now - logged < LOG_SECONDS:
            return
        self._logged[reason] = now, count
        more = f" ({count - before} since the last such line)" if before else ""
        self._log(f"{sentence}; client {address or 'unknown'}{more}. /metrics counts {reason}.")

    def audit(self, code: Code, address: str, key: str = "", session: str = "") -> None:
        """Record a refused request or message, if its error is about access."""
        if code in _AUDITED:
            self._audit_refusal(code.value, address, key, session)

    def _audit_refusal(self, reason: str, address: str, key: str = "", session: str = "") -> None:
        self._audit.add_repeated(
            AuditEntry(AuditEvent.REFUSED, key=key, address=address, session=session, reason=reason)
        )
