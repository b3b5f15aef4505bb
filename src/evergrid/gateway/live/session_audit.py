"""Entries of the audit log about one session."""

from __future__ import annotations

from evergrid.gateway.access.audit_log import AuditEntry, AuditEvent, AuditLog
from evergrid.gateway.access.refusals import Refusals
from evergrid.protocol.error_codes import Code


class SessionAudit:
    """`id` is that of the session in all logs, `address` the client's."""

    def __init__(self, audit: AuditLog, refusals: Refusals, session_id: str, address: str) -> None:
        self._audit = audit
        self._refusals = refusals
        self.id = session_id
        self.address = address

    def logged_in(self, key: str) -> None:
        self._audit.add_repeated(
            AuditEntry(AuditEvent.LOGIN, key=key, address=self.address, session=self.id)
        )

    def refused(self, code: Code, key: str) -> None:
        self._refusals.audit(code, self.address, key, self.id)
