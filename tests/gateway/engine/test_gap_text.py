"""What a joined table may lack is said in one sentence."""

from __future__ import annotations

import pytest

from evergrid.changelog.manifest import MAX_GAP_KEYS, Gap
from evergrid.gateway.engine.gap_text import gap_log_line, gap_warning
from evergrid.model.gap import GapReason


def gap(*keys: str, reason: str = "history", messages: int = 7) -> Gap:
    return Gap(reason, messages, keys, 1)


def test_nothing_missing_is_nothing_to_say() -> None:
    assert gap_warning(()) == ""


@pytest.mark.parametrize(
    ("gaps", "sentence"),
    [
        (
            (gap("u1", "u2", "u3"),),
            "Rows may be missing or show an older match for 3 keys (u1, u2, u3): history limit.",
        ),
        (
            (gap("u1", reason="pairs"),),
            "Rows may be missing or show an older match for 1 key (u1): pair limit.",
        ),
        ((gap(reason="state"),), "Rows may be missing or show an older match: lost state."),
        (
            (gap("a", "b", "c", "d"), gap("e", reason="memory")),
            "Rows may be missing or show an older match for 4 keys (a, b, c, …): history limit; "
            "for 1 key (e): memory limit.",
        ),
        (
            (gap(*(f"u{n}" for n in range(MAX_GAP_KEYS))),),
            "Rows may be missing or show an older match for 20 or more keys (u0, u1, u2, …): "
            "history limit.",
        ),
        (
            (gap("x" * 100, reason="of a newer version"),),
            f"Rows may be missing or show an older match for 1 key ({'x' * 39}…): "
            "of a newer version.",
        ),
    ],
)
def test_one_sentence_says_which_keys_and_why(gaps: tuple[Gap, ...], sentence: str) -> None:
    assert gap_warning(gaps) == sentence


def test_the_log_has_the_setting_and_no_key() -> None:
    line = gap_log_line("final_ui", "final", gap("secret", messages=1200))
    assert line == (
        "Table final_ui: rows may be missing or show an older match: history limit. A key has more "
        "messages than joins.final.history keeps. Messages left out of the join so far: 1,200."
    )
    assert "new" in gap_log_line("final_ui", "final", gap(reason="new"))


def test_every_reason_has_its_words() -> None:
    for reason in GapReason:
        assert reason.label
        assert reason.sentence("final").endswith(".")
        assert "{" not in reason.sentence()


def test_what_the_gateway_lacks_has_a_sentence_of_its_own() -> None:
    gaps = (gap("u1"), gap(reason="table_memory", messages=7646), gap(reason="unreadable"))
    assert gap_warning(gaps) == (
        "Rows may be missing or show an older match for 1 key (u1): history limit. Rows are "
        "missing: memory limit of the table (more than 7,600); unreadable changelog records (7)."
    )
    line = gap_log_line("users_ui", "<name>", gap(reason="table_memory", messages=7646))
    assert line == (
        "Table users_ui: rows are missing: memory limit of the table. The table needs more memory "
        "than gateway.table_bytes allows: its oldest rows were dropped. So far: 7,646."
    )
