"""Evergrid: Kafka topics as live, joined tables on people's screens."""

__version__ = "0.1.0"
