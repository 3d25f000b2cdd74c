"""What failed is tried again, less and less often."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from autopilot.control.backoff import LONGEST, rest, take_failures
from autopilot.control.seen import Settled
from autopilot.domain.memory import Failing, Memory
from autopilot.domain.operations import Intent, Operation, OutcomeKind, SetReplicas, Tell
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import Verb
from tests.support.policies import CHAT, closed_loop, only
from tests.unit.control.ticks import CALM, START, Ticking, fleet_of

UP = Intent(Operation("llm/chat/1", CHAT.ref, Verb.SCALE_OUT, SetReplicas(3, 2, "1")), START)
TOLD = Intent(Operation("llm/chat/2", CHAT.ref, Verb.NOTIFY, Tell(("people",), "k", "t", "x")), START)
FAILED_TWICE = Memory(failing=(Failing(Verb.SCALE_OUT, 2, START, "503"),))


def trying(kind: OutcomeKind, *, ticks: int) -> Ticking:
    """A fleet below its minimum whose backend always answers like this."""
    ticking = Ticking(policy=only(closed_loop(minimum=3), "queued"))
    for _ in range(ticks):
        ticking.tick(fleet_of("ss"), CALM)
        ticking.came_out(kind, "503")
    return ticking


@pytest.mark.parametrize("kind", [OutcomeKind.FAILED, OutcomeKind.CONFLICT])
def test_r_8_a_backend_that_always_fails_is_asked_less_and_less_often(
    kind: OutcomeKind, record_property: Callable[[str, object], None]
) -> None:
    ticking = trying(kind, ticks=12 * 60)

    record_property("tries_in_an_hour", ticking.memory.sequence)
    assert 60 <= ticking.memory.sequence <= 180  # rests of 30 s on average; every second tick would be 360
    assert ticking.memory.failing[0].tries >= 60


def test_r_8_the_rest_is_the_reason_that_is_shown() -> None:
    ticking = trying(OutcomeKind.FAILED, ticks=100)

    seen = set()
    for _ in range(12):
        ticking.tick(fleet_of("ss"), CALM)
        seen |= set(ticking.reasons(Verb.SCALE_OUT))
    assert Reason.BACKEND_ERROR in seen


def test_r_9_a_conflict_is_decided_afresh_at_once_the_first_time() -> None:
    assert rest(1, "llm/chat/1") == timedelta(0)


@pytest.mark.parametrize(("tries", "most"), [(2, 2.0), (3, 4.0), (6, 32.0), (7, 60.0), (1000, 60.0)])
def test_r_8_a_rest_is_anything_up_to_a_doubled_time_and_at_most_a_minute(tries: int, most: float) -> None:
    rests = [rest(tries, f"llm/chat/{number}").total_seconds() for number in range(400)]

    assert 0.0 <= min(rests) < 0.05 * most
    assert 0.95 * most < max(rests) <= most <= LONGEST.total_seconds()


def test_a_rest_is_the_same_in_a_replay() -> None:
    assert rest(5, "llm/chat/9") == rest(5, "llm/chat/9") != rest(5, "llm/code/9")


@pytest.mark.parametrize(
    ("settled", "tries"),
    [
        (Settled(UP, happened=True), []),
        (Settled(UP, happened=False), [3]),
        (Settled(UP, happened=False, permanent=True), []),
        (Settled(UP, happened=False, void=True), [2]),
        (Settled(TOLD, happened=False), [2]),
    ],
    ids=["made", "not made", "refused, which rests on its own", "made void by another hand", "a message"],
)
def test_only_what_was_not_made_counts(settled: Settled, tries: list[int]) -> None:
    assert [one.tries for one in take_failures(FAILED_TWICE, (settled,), now=START).failing] == tries
