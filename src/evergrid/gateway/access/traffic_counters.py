"""Counts what the gateway has received and sent since its start, for the metrics."""

from __future__ import annotations

from collections import Counter

from evergrid.protocol.error_codes import Code

SENT = "sent"  # a control message that Kafka has taken


class TrafficCounters:
    """Plain attributes, because they are incremented once per frame."""

    def __init__(self) -> None:
        self.connections = 0
        self.logins = 0
        self.frames = 0
        self.frame_bytes = 0
        self.texts = 0  # JSON messages to clients
        self.messages = 0  # JSON messages from clients
        self.export_rows = 0
        self.export_bytes = 0
        self.ended: Counter[Code] = Counter()
        self.refused: Counter[str] = Counter()  # by limit, or by error code
        self.requests: Counter[int] = Counter()  # by status
        self.audit_lost: Counter[str] = Counter()  # by reason
        self.control: Counter[str] = Counter()  # by result: SENT, or an error code
