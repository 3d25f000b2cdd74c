"""One step, phase by phase, at its edges."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.domain.memory import Pause
from autopilot.domain.operations import OutcomeKind
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Phase, Verdict
from autopilot.domain.scaling import Bound
from autopilot.domain.verbs import Mode, Modes
from autopilot.domain.workloads import Unobserved
from tests.support.policies import closed_loop, only
from tests.unit.control.ticks import BAD, CALM, TICK, UNKNOWN, Ticking, burning, fleet_of, proven, telling

LANDED = fleet_of("sssss", version=2)


def landed() -> Ticking:
    return burning(fleet_of("ss")).came_out().tick(LANDED, BAD)


def test_a_step_held_by_gpus_waits_one_within_and_is_not_taken() -> None:
    ticking = Ticking(memory=proven())
    for _ in range(3 + 24):
        ticking.tick(fleet_of("ss"), BAD, granted=0)
    waiting = (ticking.attempt.phase, ticking.attempt.reason)
    ticking.tick(fleet_of("ss"), BAD, granted=0).tick(fleet_of("ss"), BAD, granted=0)

    assert waiting == (Phase.STARTED, Reason.NO_GPUS)
    assert (ticking.attempt.verdict, ticking.attempt.reason) == (Verdict.NOT_TAKEN, Reason.NO_GPUS)


def test_a_step_that_got_some_of_its_gpus_is_judged_on_what_came() -> None:
    ticking = Ticking(memory=proven())
    for _ in range(3):
        ticking.tick(fleet_of("ss"), BAD, granted=1)
    asked = ticking.counts
    ticking.came_out()
    for _ in range(28):
        ticking.tick(fleet_of("sss", version=2), BAD, granted=0)

    assert asked == [(2, 3)]
    assert (ticking.attempt.phase, ticking.attempt.target) == (Phase.LANDED, 3)


def test_a_step_goes_on_when_gpus_become_free() -> None:
    ticking = Ticking(memory=proven())
    for _ in range(10):
        ticking.tick(fleet_of("ss"), BAD, granted=0)
    ticking.tick(fleet_of("ss"), BAD)

    assert ticking.counts == [(2, 5)]
    assert ticking.attempt.reason is Reason.AWAITING_LANDING


def test_a_step_is_not_taken_when_the_bounds_fall_below_it_before_anything_was_asked() -> None:
    ticking = burning(fleet_of("ss")).came_out(OutcomeKind.CONFLICT)
    policy = only(closed_loop(), "queued")
    assert policy.scaling is not None
    ticking.policy = replace(policy, scaling=replace(policy.scaling, bounds=(Bound(1, 1),)))
    ticking.ticks(2, fleet_of("ss", version=2), BAD)

    assert ticking.counts == []
    assert (ticking.ladder.attempts[0].verdict, ticking.ladder.attempts[0].reason) == (Verdict.NOT_TAKEN, Reason.AT_BOUND)


def test_bounds_that_fall_below_what_is_there_take_nothing_away() -> None:
    ticking = landed()
    policy = only(closed_loop(), "queued")
    assert policy.scaling is not None
    ticking.policy = replace(policy, scaling=replace(policy.scaling, bounds=(Bound(1, 1),)))
    acts = [ticking.tick(LANDED, BAD).effects for _ in range(200)]

    assert [effects for effects in acts if effects] == []


def test_an_old_failure_does_not_condemn_replicas_that_are_not_there_yet() -> None:
    ticking = burning(fleet_of("ssf"), served=("r3",))
    ticking.came_out().tick(fleet_of("ssf", desired=6, version=2), BAD)

    assert ticking.attempt.phase is Phase.STARTED


def test_an_old_failure_does_not_condemn_a_change_that_is_still_on_its_way() -> None:
    ticking = burning(fleet_of("ssf"), served=("r3",))
    ticking.ticks(3, fleet_of("ssf"), BAD)

    assert ticking.attempt.phase is Phase.STARTED


def test_what_never_started_is_an_error_in_the_words_of_the_backend() -> None:
    ticking = burning(fleet_of("ss")).came_out()
    stuck = fleet_of("ssppp", version=2)
    stuck = replace(stuck, replicas=tuple(replace(one, message="no room" if one.name > "r2" else "") for one in stuck.replicas))
    for _ in range(40):
        ticking.tick(stuck, BAD)
        if ticking.ladder.attempts[0].phase is Phase.ENDED:
            break

    assert (ticking.ladder.attempts[0].verdict, ticking.ladder.attempts[0].reason) == (Verdict.ERROR, Reason.NO_CAPACITY)
    assert "no room" in ticking.ladder.attempts[0].detail


def test_what_is_retracted_in_the_meantime_is_an_error_in_the_words_of_the_backend() -> None:
    ticking = burning(fleet_of("ss")).came_out()
    stuck = fleet_of("ssppp", version=2)
    stuck = replace(stuck, replicas=tuple(replace(one, message="no room" if one.name > "r2" else "") for one in stuck.replicas))
    while not ticking.tick(stuck, BAD).counts:
        assert ticking.now < timedelta(hours=3)
    ticking.came_out().ticks(2, fleet_of("ss", version=3), BAD)

    assert (ticking.ladder.attempts[0].verdict, ticking.ladder.attempts[0].detail) == (Verdict.ERROR, "no room")


def test_the_start_of_what_was_asked_for_later_is_waited_for_from_then() -> None:
    ticking = burning(fleet_of("s")).came_out()
    half = fleet_of("spppp", version=2)
    ticking.ticks(11, half, BAD)  # of twelve that a start may take
    ticking.tick(half, 30.0)
    grown = ticking.attempt.target
    ticking.came_out().tick(fleet_of("sppppppp", version=3), 30.0)

    assert grown == 8
    assert ticking.attempt.phase is Phase.STARTED
    assert ticking.attempt.waited <= TICK


def test_a_landing_that_is_not_scraped_is_inconclusive_at_its_deadline() -> None:
    ticking = landed()
    for _ in range(40):
        ticking.tick(LANDED, BAD, readings=telling(LANDED, waiting=BAD, mute=("r5",)))

    assert ticking.ladder.attempts[0].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("there", "verdict"),
    [
        (fleet_of("ssss", version=3), Verdict.VOID),
        (fleet_of("sssss", version=3, template="t2"), Verdict.VOID),
        (fleet_of("ssssu", version=2), Verdict.VOID),
    ],
    ids=["another hand", "a rollout", "a lost replica"],
)
def test_what_happens_in_between_makes_a_landed_step_void(there: object, verdict: Verdict) -> None:
    ticking = landed()
    ticking.tick(there, BAD)  # type: ignore[arg-type]

    assert ticking.ladder.attempts[0].verdict is verdict


def test_the_clock_of_within_stands_while_the_effect_cannot_be_seen() -> None:
    ticking = landed().ticks(10, LANDED, BAD)
    before = ticking.attempt.waited
    ticking.ticks(20, LANDED, UNKNOWN)

    assert ticking.attempt.phase is Phase.LANDED
    assert ticking.attempt.waited == before


def test_the_clock_of_start_within_stands_while_nobody_sees() -> None:
    ticking = burning(fleet_of("ss")).came_out().tick(fleet_of("ssppp", version=2), BAD)
    ticking.ticks(200, fleet_of("ssppp", version=2), UNKNOWN)

    assert ticking.attempt.phase is Phase.STARTED


def test_nothing_is_decided_about_a_step_while_the_backend_cannot_be_asked() -> None:
    ticking = burning(fleet_of("ss")).ticks(300, Unobserved(), BAD)

    assert (ticking.attempt.phase, ticking.attempt.reason) == (Phase.STARTED, Reason.UNOBSERVED)
    assert ticking.effects == []


def test_advice_is_taken_when_the_mode_becomes_act() -> None:
    ticking = Ticking(policy=only(closed_loop(mode=Mode.ADVISE), "queued"), memory=proven()).ticks(100, fleet_of("ss"), BAD)
    shown = (ticking.attempt.phase, ticking.attempt.reason, ticking.attempt.target)
    ticking.policy = only(closed_loop(), "queued")
    ticking.tick(fleet_of("ss"), BAD)

    assert shown == (Phase.WAITING, Reason.MODE_ADVISE, 5)
    assert ticking.counts == [(2, 5)]


def test_an_approval_that_nobody_gives_is_waited_for_half_an_hour() -> None:
    policy = replace(only(closed_loop(), "queued"), modes=Modes(Mode.APPROVE))
    ticking = Ticking(policy=policy, memory=proven()).ticks(3 + 360, fleet_of("ss"), BAD)
    waiting = ticking.attempt.reason
    ticking.ticks(2, fleet_of("ss"), BAD)

    assert waiting is Reason.AWAITING_APPROVAL
    assert ticking.attempt.verdict is Verdict.NOT_TAKEN


@pytest.mark.parametrize("phase", [Phase.WAITING, Phase.STARTED, Phase.LANDED])
def test_a_pause_in_any_phase_makes_no_change(phase: Phase) -> None:
    starts = {
        Phase.WAITING: Ticking(memory=proven()),
        Phase.STARTED: burning(fleet_of("ss")).came_out(OutcomeKind.FAILED),
        Phase.LANDED: landed(),
    }
    ticking = starts[phase]
    there = LANDED if phase is Phase.LANDED else fleet_of("ss")
    ticking.memory = replace(ticking.memory, pauses=(Pause(timedelta(days=1), "a release", "people"),))
    effects = [ticking.tick(there, BAD).effects for _ in range(300)]

    assert [one for one in effects if one] == []


def test_a_symptom_that_ends_helps() -> None:
    ticking = landed().ticks(3, LANDED, CALM)

    assert ticking.memory.finished[-1].verdict is Verdict.HELPED


def test_a_change_that_takes_very_long_is_not_made_twice() -> None:
    ticking = burning(fleet_of("ss"))
    counts = [ticking.tick(fleet_of("ss"), BAD).counts for _ in range(500)]

    assert [one for one in counts if one] == []
    assert ticking.ladder.attempts[0].verdict is Verdict.ERROR
