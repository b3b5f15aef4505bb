"""Made-up people are believable and nobody's."""

from __future__ import annotations

import random
import re

from evergrid.demo.sample_people import moved, person


def test_people_are_distinct_and_cannot_be_mailed() -> None:
    rng = random.Random(3)
    people = [person(rng, number) for number in range(2000)]
    assert len({someone.user_id for someone in people}) == 2000
    assert len({someone.email for someone in people}) == 2000
    assert len({someone.name for someone in people}) > 1000
    for someone in people:
        assert re.fullmatch(r"[a-z]+\.[a-z]+\d+@example\.(com|org)", someone.email)
        assert 18 <= someone.age <= 97


def test_a_changed_person_is_still_that_person() -> None:
    rng = random.Random(3)
    before = person(rng, 1)
    after = [moved(rng, before) for _ in range(100)]
    assert {someone.user_id for someone in after} == {before.user_id}
    assert {someone.name.split()[0] for someone in after} == {before.name.split()[0]}
    for field in ("name", "email", "age"):
        assert any(getattr(someone, field) != getattr(before, field) for someone in after)
