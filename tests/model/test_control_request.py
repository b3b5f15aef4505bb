"""What a control message can ask for, and how two of them are combined."""

from __future__ import annotations

from evergrid.model.control_request import Request, topic_words, type_words
from evergrid.model.join import JoinType


def test_a_later_request_changes_only_what_it_names() -> None:
    earlier = Request({"users": "a", "accounts": "b"}, {"final": JoinType.LEFT})
    later = Request({"users": "c"})
    assert later.over(earlier) == Request({"users": "c", "accounts": "b"}, {"final": JoinType.LEFT})
    assert Request().over(earlier) == earlier


def test_fields_are_named_after_sources_and_joins() -> None:
    assert topic_words(["users", "accounts"]) == {
        "users": "usersTopic",
        "accounts": "accountsTopic",
    }
    assert type_words(["final"]) == {"final": "joinType"}
    assert type_words(["a", "b"]) == {"a": "aJoinType", "b": "bJoinType"}
