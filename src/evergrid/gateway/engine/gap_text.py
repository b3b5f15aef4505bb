"""The texts about gaps in a table: a warning for viewers, a line for the log."""

from __future__ import annotations

from collections.abc import Sequence

from evergrid.changelog.manifest import MAX_GAP_KEYS, Gap
from evergrid.model.gap import GapReason

_KEYS_SHOWN = 3
_KEY_LENGTH = 40


def gap_warning(gaps: Sequence[Gap]) -> str:
    """One sentence for viewers of the table; empty when nothing is missing."""
    sentences = []
    if of_join := [gap for gap in gaps if not _is_of_gateway(gap)]:
        parts = ";".join(f"{_affected(gap)}: {_label(gap)}" for gap in of_join)
        sentences.append(f"Rows may be missing or show an older match{parts}.")
    if of_gateway := [gap for gap in gaps if _is_of_gateway(gap)]:
        parts = "; ".join(f"{_label(gap)} ({_at_least(gap.messages)})" for gap in of_gateway)
        sentences.append(f"Rows are missing: {parts}.")
    return " ".join(sentences)


def gap_log_line(table: str, join: str, gap: Gap) -> str:
    """One line for the log, without join keys: those are data."""
    reason = _reason(gap)
    if reason and reason.is_of_gateway:
        return (
            f"Table {table}: rows are missing: {reason.label}. {reason.sentence()} "
            f"So far: {gap.messages:,}."
        )
    line = f"Table {table}: rows may be missing or show an older match: {_label(gap)}."
    why = f" {reason.sentence(join)}" if reason else ""
    return f"{line}{why} Messages left out of the join so far: {gap.messages:,}."


def _affected(gap: Gap) -> str:
    """The affected keys; the pipeline reports only the newest of many."""
    count = len(gap.keys)
    if not count:
        return ""
    shown = ", ".join(map(_clipped, gap.keys[:_KEYS_SHOWN]))
    more = ", …" if count > _KEYS_SHOWN else ""
    some = f"{count} or more keys" if count >= MAX_GAP_KEYS else f"{count} keys"
    return f" for {'1 key' if count == 1 else some} ({shown}{more})"


def _at_least(count: int) -> str:
    """Rounded down to two digits, so that viewers get few new sentences while it grows."""
    step = 10 ** max(0, len(str(count)) - 2)
    rounded = count // step * step
    return f"{count:,}" if rounded == count else f"more than {rounded:,}"


def _is_of_gateway(gap: Gap) -> bool:
    reason = _reason(gap)
    return reason is not None and reason.is_of_gateway


def _clipped(key: str) -> str:
    return key if len(key) <= _KEY_LENGTH else f"{key[: _KEY_LENGTH - 1]}…"


def _label(gap: Gap) -> str:
    """The reason's label; the raw value if a newer pipeline reports one that is unknown here."""
    reason = _reason(gap)
    return reason.label if reason else _clipped(gap.reason)


def _reason(gap: Gap) -> GapReason | None:
    try:
        return GapReason(gap.reason)
    except ValueError:
        return None
