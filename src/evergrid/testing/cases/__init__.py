"""Every line of “Any bytes on a source topic”, as messages with what must become of them.

One table for all who read messages: the oracle, Spark's ingest and whoever comes next.
All cases share two sources, so that one run of a pipeline can carry all of them.
"""

from evergrid.testing.cases import numbers, refused, texts, times
from evergrid.testing.cases.case import EVERY, TIMED, Case

CASES: tuple[Case, ...] = (*texts.CASES, *numbers.CASES, *times.CASES, *refused.CASES)

__all__ = ["CASES", "EVERY", "TIMED", "Case"]
