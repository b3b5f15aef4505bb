"""What a gateway has done since its start, counted for the metrics."""

from __future__ import annotations

from collections import Counter

from evergrid.protocol.codes import Code

SENT = "sent"  # of a control message that Kafka has


class Counts:
    """Plain numbers: they are touched once per frame."""

    def __init__(self) -> None:
        self.connections = 0
        self.logins = 0
        self.frames = 0
        self.frame_bytes = 0
        self.words = 0
        self.messages = 0
        self.export_rows = 0
        self.export_bytes = 0
        self.ended: Counter[Code] = Counter()
        self.requests: Counter[int] = Counter()  # by status
        self.control: Counter[str] = Counter()  # control messages: sent, or the code of a refusal
