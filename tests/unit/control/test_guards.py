"""What speaks against an act, and in which order."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.control.guards import objection
from autopilot.control.refusals import BACKEND
from autopilot.control.seen import Case, Seen
from autopilot.domain.memory import ForeignWrite, Memory, Pause
from autopilot.domain.reasons import Reason
from autopilot.domain.signals import Readings
from autopilot.domain.verbs import DISRUPTIVE, TALKING, Mode, Modes, Verb
from autopilot.domain.workloads import Observation, Unobserved
from autopilot.policy.values import Policy
from tests.support.policies import CHAT, closed_loop
from tests.unit.control.ticks import SECOND, START, TICK, fleet_of

HOUR = timedelta(hours=1)


def reason(
    verb: Verb, *, policy: Policy | None = None, memory: Memory | None = None, there: Observation | None = None, **seen: object
) -> Reason | None:
    look = Seen(now=START, interval=TICK, scrape_interval=TICK, readings=Readings(), workload=there or fleet_of("ss"))
    case = Case(CHAT, policy or closed_loop(), memory or Memory(), replace(look, **seen))  # type: ignore[arg-type]
    hold = objection(case, verb)
    return None if hold is None else hold.reason


def pausing(*verbs: Verb, until: timedelta = START + HOUR, by: str = "people") -> Memory:
    return Memory(pauses=(Pause(until, "a release", by, verbs),))


@pytest.mark.parametrize("verb", list(Verb))
def test_nothing_speaks_against_an_act_on_a_quiet_day(verb: Verb) -> None:
    assert reason(verb) is None


@pytest.mark.parametrize(
    ("verb", "memory", "expected"),
    [
        (Verb.SCALE_OUT, pausing(), Reason.PAUSED),
        (Verb.NOTIFY, pausing(), None),
        (Verb.NOTIFY, pausing(Verb.NOTIFY), Reason.PAUSED),
        (Verb.SCALE_OUT, pausing(Verb.SCALE_IN), None),
        (Verb.SCALE_OUT, pausing(until=START + SECOND), Reason.PAUSED),
        (Verb.SCALE_OUT, pausing(until=START), None),
        (Verb.SCALE_OUT, pausing(Verb.SCALE_OUT, by=BACKEND), Reason.DENIED),
        (Verb.SCALE_IN, pausing(Verb.SCALE_OUT, by=BACKEND), None),
        (Verb.SCALE_OUT, pausing(Verb.SCALE_OUT, by=BACKEND, until=START), None),
    ],
    ids=[
        "all",
        "people are told",
        "unless told not to",
        "another verb",
        "just inside",
        "over",
        "refused",
        "refused else",
        "refused before",
    ],
)
def test_a_pause_holds_what_it_names(verb: Verb, memory: Memory, expected: Reason | None) -> None:
    assert reason(verb, memory=memory) is expected


def test_the_annotation_pauses_all_but_talk() -> None:
    there = replace(fleet_of("ss"), paused_by="a release")

    assert {verb for verb in Verb if reason(verb, there=there) is None} == TALKING


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Mode.DISABLED, Reason.MODE_DISABLED),
        (Mode.OBSERVE, Reason.MODE_OBSERVE),
        (Mode.ADVISE, Reason.MODE_ADVISE),
        (Mode.APPROVE, Reason.AWAITING_APPROVAL),
        (Mode.ACT, None),
    ],
)
def test_a_mode_consents_or_not(mode: Mode, expected: Reason | None) -> None:
    assert reason(Verb.SCALE_OUT, policy=replace(closed_loop(), modes=Modes(mode))) is expected


@pytest.mark.parametrize("talk", sorted(TALKING))
def test_talking_needs_no_consent(talk: Verb) -> None:
    assert reason(talk, policy=replace(closed_loop(), modes=Modes(Mode.DISABLED))) is None


def test_a_freeze_and_a_storm_hold_what_is_disruptive_and_nothing_else() -> None:
    frozen = replace(closed_loop(), limits=replace(closed_loop().limits, freeze=("stop",)))

    assert {verb for verb in Verb if reason(verb, policy=frozen, windows=("stop",)) is Reason.FROZEN} == DISRUPTIVE
    assert {verb for verb in Verb if reason(verb, storm=True) is Reason.STORM} == DISRUPTIVE
    assert {verb for verb in Verb if reason(verb, memory=Memory(hold_until=START + SECOND)) is Reason.STARTING_UP} == DISRUPTIVE


@pytest.mark.parametrize(
    ("write", "verb", "expected"),
    [
        ((3, 1), Verb.SCALE_OUT, Reason.OWNED_ELSEWHERE),
        ((3, 1), Verb.SCALE_IN, None),
        ((1, 3), Verb.SCALE_IN, Reason.OWNED_ELSEWHERE),
        ((1, 3), Verb.SCALE_OUT, None),
        ((3, 1), Verb.RELOCATE, None),
    ],
    ids=["they lowered: we do not raise", "we may lower", "they raised: we do not lower", "we may raise", "not about the count"],
)
def test_the_opposite_of_another_hand_is_held(write: tuple[int, int], verb: Verb, expected: Reason | None) -> None:
    assert reason(verb, memory=Memory(foreign=(ForeignWrite(START, *write),))) is expected


def test_what_cannot_be_seen_is_not_changed_and_people_are_told_of_it() -> None:
    assert {verb for verb in Verb if reason(verb, there=Unobserved()) is None} == TALKING


def test_people_come_before_other_hands_and_those_before_the_world() -> None:
    memory = replace(pausing(), foreign=(ForeignWrite(START, 3, 1),))

    assert reason(Verb.SCALE_OUT, memory=memory, there=Unobserved()) is Reason.PAUSED
    assert reason(Verb.SCALE_OUT, memory=replace(memory, pauses=()), there=Unobserved()) is Reason.OWNED_ELSEWHERE
