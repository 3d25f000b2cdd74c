"""Intents, settled by report or by looking."""

from datetime import timedelta

import pytest

from autopilot.control.seen import Seen
from autopilot.control.settle import settle
from autopilot.domain.operations import Cordon, Effect, Intent, Operation, Outcome, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.domain.signals import Readings
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import Observation, Unobserved
from tests.support.policies import CHAT
from tests.unit.control.ticks import START, TICK, fleet_of

UP = SetReplicas(3, 2, "1")
TELL = Tell(("oncall",), "key", "title", "text")


def intent(effect: Effect) -> Intent:
    return Intent(Operation("llm/chat/1", CHAT.ref, Verb.SCALE_OUT, effect), START)


def seen(
    there: Observation, *, kind: OutcomeKind | None = None, after: timedelta = TICK, restarted: bool = False, executing: bool = False
) -> Seen:
    return Seen(
        now=START + after,
        interval=TICK,
        scrape_interval=TICK,
        readings=Readings(),
        workload=there,
        outcomes=() if kind is None else (Outcome("llm/chat/1", kind, "said"),),
        executing=("llm/chat/1",) if executing else (),
        restarted=restarted,
    )


def settled(effect: Effect, look: Seen) -> tuple[bool, bool, bool] | None:
    """Whether it happened, is void, is refused for good; None while it stays open."""
    _, done = settle((intent(effect),), look)
    return next(((one.happened, one.void, one.permanent) for one in done), None)


HAPPENED, NOT, VOID, NEVER = (True, False, False), (False, False, False), (False, True, False), (False, False, True)


@pytest.mark.parametrize(
    ("kind", "effect", "expected"),
    [
        (OutcomeKind.DONE, UP, HAPPENED),
        (OutcomeKind.CONFLICT, UP, NOT),
        (OutcomeKind.FAILED, UP, NOT),
        (OutcomeKind.REFUSED, UP, NEVER),
        (OutcomeKind.UNSURE, UP, NOT),  # it looks as before
        (OutcomeKind.DONE, Cordon(("r1",)), HAPPENED),
        (OutcomeKind.REFUSED, Cordon(("r1",)), NEVER),
        (OutcomeKind.UNSURE, Cordon(("r1",)), NOT),
        (OutcomeKind.UNSURE, Uncordon(("r1",)), HAPPENED),
        (OutcomeKind.DONE, TELL, HAPPENED),
        (OutcomeKind.FAILED, TELL, None),
        (OutcomeKind.REFUSED, TELL, None),
        (OutcomeKind.UNSURE, TELL, None),
    ],
)
def test_a_report_settles_an_intent(kind: OutcomeKind, effect: Effect, expected: object) -> None:
    assert settled(effect, seen(fleet_of("ss"), kind=kind)) == expected


@pytest.mark.parametrize(
    ("effect", "there", "expected"),
    [
        (UP, fleet_of("ss"), NOT),
        (UP, fleet_of("sss", version=2), HAPPENED),
        (UP, fleet_of("ss", version=2), NOT),
        (UP, fleet_of("s", version=2), VOID),
        (UP, Unobserved(), None),
        (Cordon(("r1", "r2")), fleet_of("ccs"), HAPPENED),
        (Cordon(("r1", "r2")), fleet_of("css"), NOT),
        (Cordon(("gone",)), fleet_of("ss"), HAPPENED),
        (Uncordon(("r1", "r2")), fleet_of("sss"), HAPPENED),
        (Uncordon(("r1", "r2")), fleet_of("css"), NOT),
        (TELL, fleet_of("ss"), None),
    ],
)
def test_without_a_report_what_is_there_settles_it(effect: Effect, there: Observation, expected: object) -> None:
    assert settled(effect, seen(there)) == expected


def test_what_a_worker_still_holds_is_open() -> None:
    assert settled(UP, seen(fleet_of("sss", version=2), executing=True)) is None


@pytest.mark.parametrize("there", [fleet_of("ss"), Unobserved()], ids=["observed", "unobserved"])
def test_after_a_crash_people_are_told_again_at_once(there: Observation) -> None:
    assert settled(TELL, seen(there, restarted=True)) == NOT


def test_otherwise_people_are_told_again_once_a_minute() -> None:
    assert settled(TELL, seen(fleet_of("ss"), after=timedelta(minutes=1))) == NOT
