"""What passes is waited for, and said; what does not pass is told at once."""

from __future__ import annotations

import pytest

from evergrid.kafka.diagnosis import AccessError, Step
from evergrid.kafka.topics import MissingTopic
from evergrid.model.errors import ConfigError, EvergridError, LinkError
from evergrid.orchestrator import kafka_retry
from evergrid.orchestrator.kafka_retry import KafkaRetry

AWAY = LinkError("the broker does not answer.")
MINUTES = 180


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(kafka_retry, "time", made)
    return made


class Questions:
    """Fails with `errors` one after the other, and then is answered."""

    def __init__(self, *errors: EvergridError) -> None:
        self.said: list[str] = []
        self.checked = 0
        self.retry = KafkaRetry(self._check, self.said.append)
        self._errors = list(errors)

    def ask(self) -> str:
        return self.retry.ask(self._question)

    def _check(self) -> None:
        self.checked += 1

    def _question(self) -> str:
        if self._errors:
            raise self._errors.pop(0)
        return "an answer"


def test_a_broker_that_is_restarted_is_waited_for(clock: Clock) -> None:
    asking = Questions(AWAY, AWAY, AWAY)
    assert asking.ask() == "an answer"
    assert asking.said == ["the broker does not answer. Going on when that is over."]
    assert asking.retry.waited == pytest.approx(clock.now)
    assert asking.checked == 4
    assert asking.ask() == "an answer"
    assert asking.retry.waited == pytest.approx(clock.now), "an answer at once costs nothing"


def test_but_not_for_ever(clock: Clock) -> None:
    asking = Questions(*[AWAY] * 10_000)
    with pytest.raises(LinkError, match="does not answer"):
        asking.ask()
    assert MINUTES < clock.now < MINUTES + 1


@pytest.mark.parametrize(
    "error",
    [
        MissingTopic("topic users does not exist"),
        AccessError("authorization failed for anna", where="", remedy="", step=Step.RIGHT),
        ConfigError("none of its messages can be read"),
    ],
)
def test_what_does_not_pass_is_told_at_once(clock: Clock, error: EvergridError) -> None:
    asking = Questions(error)
    with pytest.raises(type(error)):
        asking.ask()
    assert (clock.now, asking.said) == (0.0, [])


@pytest.mark.usefixtures("clock")
def test_a_login_that_is_refused_may_be_mended() -> None:
    refused = AccessError("wrong password", where="", remedy="Correct it.", step=Step.LOGIN)
    asking = Questions(refused, refused)
    assert asking.ask() == "an answer"
    assert asking.said == ["wrong password. Correct it. Going on when that is over."]
