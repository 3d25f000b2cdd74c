"""Who holds the slot, what is counted, and what is remembered."""

from dataclasses import replace

import pytest

from autopilot.control.remedies import KEPT, MOST, advance_remediations
from autopilot.domain.alerts import Severity
from autopilot.domain.memory import Memory
from autopilot.domain.remediations import Remediation, Score, Verdict
from autopilot.domain.verbs import Verb
from tests.unit.control.ticks import BAD, CALM, START, burning, fleet_of

LANDED = fleet_of("sssss", version=2)


def ladder(number: int, alert: str = "queued") -> Remediation:
    return Remediation(f"llm/chat#{number}", alert, Severity.TICKET, START)


def forgotten(memory: Memory) -> Memory:
    """The memory after the policy lost every remedy."""
    return advance_remediations(memory, (), now=START).memory


def test_a_step_that_helped_is_counted_once() -> None:
    ticking = burning(fleet_of("ss")).came_out().tick(LANDED, BAD).ticks(5, LANDED, CALM)

    assert ticking.memory.scores == (Score(Verb.SCALE_OUT, tried=1, helped=1),)


def test_a_step_that_was_disturbed_is_not_counted() -> None:
    ticking = burning(fleet_of("ss")).came_out().tick(LANDED, BAD).tick(replace(LANDED, template="t2"), BAD)

    assert ticking.ladder.attempts[0].verdict is Verdict.VOID
    assert ticking.memory.scores == ()


def test_the_landing_is_remembered_for_the_cooldown() -> None:
    ticking = burning(fleet_of("ss")).came_out().tick(LANDED, BAD)

    assert ticking.memory.landed_at == ticking.now


def test_ladders_without_a_remedy_are_closed_with_their_own_time() -> None:
    memory = forgotten(Memory(remediation=ladder(1), talks=(ladder(2, "shown"),)))

    assert (memory.remediation, memory.talks) == (None, ())
    assert [(one.verdict, one.closed_at) for one in memory.finished] == [(Verdict.VOID, START)] * 2


@pytest.mark.parametrize(
    ("alerts", "kept"),
    [(["queued"] * 30, KEPT), (["first", *["queued"] * 30], KEPT + 1), ([f"a{n}" for n in range(60)], MOST)],
    ids=["one alert", "a rare one beside it", "many alerts"],
)
def test_enough_is_remembered_and_not_more(alerts: list[str], kept: int) -> None:
    finished = tuple(replace(ladder(number, alert), closed_at=START) for number, alert in enumerate(alerts))
    memory = forgotten(Memory(finished=finished, remediation=ladder(99, alerts[-1])))

    assert len(memory.finished) == kept
    assert alerts[0] in {one.alert for one in memory.finished} or len(set(alerts)) > MOST
