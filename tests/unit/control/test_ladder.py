"""The ladder at its edges: edits, losses, holds, and people at the end."""

from dataclasses import replace

import pytest

from autopilot.actions import Diagnose, Notify, Scale
from autopilot.domain.alerts import Severity
from autopilot.domain.operations import OutcomeKind
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Phase, Verdict
from autopilot.domain.verbs import Mode, Modes, Verb
from autopilot.domain.workloads import Unobserved
from autopilot.policy.values import Policy, Remedy, Step, Verify
from tests.support.policies import MINUTE, QUEUED, closed_loop, only, rule
from tests.unit.control.ticks import BAD, CALM, TICK, UNKNOWN, Ticking, burning, fleet_of, proven, telling

SCALE = Step(Scale(by=1), repeat=3, verify=Verify(within=2 * MINUTE))
ONCALL = Step(Notify(receivers=("oncall",)))


def climbing(*steps: Step, severity: Severity = Severity.TICKET, receivers: tuple[str, ...] = ()) -> Policy:
    policy = only(closed_loop(), "queued")
    alert = rule("queued", QUEUED, hold=2 * TICK, severity=severity)
    return replace(policy, alerts=(alert,), remedies=(Remedy("queued", steps),), receivers=receivers)


def two_alerts(second: Severity) -> Policy:
    policy = climbing(SCALE)
    other = replace(rule("worse", replace(QUEUED, threshold=5.0), hold=6 * TICK, severity=second))
    return replace(policy, alerts=(*policy.alerts, other), remedies=(*policy.remedies, Remedy("worse", (SCALE,))))


def test_a_ladder_that_was_edited_shorter_while_a_step_was_under_way_ends_and_people_are_told() -> None:
    ticking = Ticking(policy=climbing(ONCALL, SCALE), memory=proven()).ticks(4, fleet_of("s"), BAD)
    ticking.policy = climbing(ONCALL)
    ticking.tick(fleet_of("s"), BAD)

    assert ticking.ladder.exhausted
    assert ticking.attempt.verdict is Verdict.VOID


def test_a_step_that_was_edited_into_another_is_looked_at_again() -> None:
    ticking = Ticking(policy=climbing(SCALE, ONCALL), memory=proven()).ticks(4, fleet_of("s"), BAD)
    ticking.policy = climbing(ONCALL)
    ticking.tick(fleet_of("s"), BAD)

    assert ticking.ladder.attempts[0].verdict is Verdict.VOID
    assert [message.receivers for message in ticking.told] == [("oncall",)]


def test_an_alert_that_was_renamed_ends_its_remediation_and_changes_nothing() -> None:
    ticking = burning(fleet_of("ss"))
    ticking.policy = replace(climbing(SCALE), alerts=(rule("renamed", QUEUED),), remedies=(Remedy("renamed", (SCALE,)),))
    ticking.tick(fleet_of("ss"), BAD)

    assert ticking.memory.remediation is None
    assert (ticking.memory.finished[-1].verdict, ticking.memory.finished[-1].attempts[-1].phase) == (Verdict.VOID, Phase.ENDED)


def test_without_its_policy_a_remediation_ends_and_the_alerts_are_forgotten() -> None:
    ticking = burning(fleet_of("ss"))
    ticking.policy = None
    ticking.tick(fleet_of("ss"), BAD)

    assert ticking.memory.remediation is None
    assert ticking.memory.alerts == ()
    assert ticking.reasons(Verb.SCALE_OUT) == [Reason.NO_POLICY]


def test_a_policy_that_only_tells_people_needs_no_scaling() -> None:
    policy = replace(climbing(ONCALL), scaling=None)
    ticking = Ticking(policy=policy).ticks(3, fleet_of("s"), BAD)

    assert [message.receivers for message in ticking.told] == [("oncall",)]
    assert ticking.reasons(Verb.SCALE_OUT) == [Reason.NO_POLICY]


def test_people_are_told_of_a_verification_that_stays_blind() -> None:
    ticking = burning(fleet_of("s")).came_out().tick(fleet_of("sssss", version=2), BAD)
    told = [message for _ in range(60) for message in ticking.tick(fleet_of("sssss", version=2), UNKNOWN).told]

    assert ticking.ladder.exhausted
    assert (ticking.attempt.verdict, ticking.attempt.extended) == (Verdict.INCONCLUSIVE, True)
    assert len(told) == 1


def test_each_notify_step_reaches_its_own_receivers_under_a_key_of_its_own() -> None:
    early = Step(Notify(receivers=("chat",)))
    ticking = Ticking(policy=climbing(early, ONCALL)).ticks(3, fleet_of("s"), BAD)

    assert [message.receivers for message in ticking.told] == [("chat",), ("oncall",)]
    assert len({message.key for message in ticking.told}) == 2


def test_a_ladder_that_ends_with_a_diagnosis_still_tells_people() -> None:
    ticking = Ticking(policy=climbing(Step(Diagnose(collect=("engine-logs",))), receivers=("oncall",))).ticks(3, fleet_of("s"), BAD)

    assert [message.receivers for message in ticking.told] == [("oncall",)]


def test_people_are_told_at_the_end_even_if_only_a_step_names_them() -> None:
    page = climbing(SCALE, ONCALL, Step(Diagnose(collect=("engine-logs",))))
    ticking = Ticking(policy=replace(page, modes=Modes(Mode.DISABLED))).ticks(3, fleet_of("s"), BAD)

    assert {message.receivers for message in ticking.told} == {("oncall",)}


def test_a_disabled_notify_tells_nobody() -> None:
    policy = replace(climbing(ONCALL, receivers=("oncall",)), modes=Modes(Mode.ACT, ((Verb.NOTIFY, Mode.DISABLED),)), notify_on=("ticket",))
    ticking = Ticking(policy=policy).ticks(3, fleet_of("s"), BAD)

    assert ticking.told == []
    assert Reason.MODE_DISABLED in ticking.reasons(Verb.NOTIFY)


def test_talking_does_not_wait_for_the_cooldown() -> None:
    young = replace(proven(), landed_at=proven().now)
    ticking = Ticking(policy=climbing(Step(Diagnose(collect=("engine-logs",))), ONCALL), memory=young).ticks(3, fleet_of("s"), BAD)

    assert [message.receivers for message in ticking.told] == [("oncall",)]


def test_a_page_supersedes_a_ticket_and_credits_the_replicas_that_are_coming() -> None:
    ticking = Ticking(policy=two_alerts(Severity.PAGE), memory=proven()).ticks(3, fleet_of("s"), BAD)
    asked = ticking.counts
    ticking.came_out().ticks(7, fleet_of("sp", version=2), BAD)

    assert asked == [(1, 2)]
    assert ticking.memory.finished[-1].verdict is Verdict.VOID
    assert (ticking.ladder.alert, ticking.attempt.phase, ticking.attempt.target) == ("worse", Phase.STARTED, 2)
    assert ticking.counts == []


def test_a_second_ticket_waits_for_the_slot() -> None:
    ticking = Ticking(policy=two_alerts(Severity.TICKET), memory=proven()).ticks(10, fleet_of("s"), BAD)

    assert ticking.ladder.alert == "queued"
    assert ticking.memory.finished == ()


def test_a_remediation_that_meets_disturbance_after_disturbance_stays_small() -> None:
    ticking = burning(fleet_of("ss")).came_out()
    for version in range(2, 60):
        ticking.tick(fleet_of("sspp" if version % 2 else "supp", version=version, template=f"t{version}"), BAD)

    assert len(ticking.ladder.attempts) < 10


def test_the_last_ladder_of_an_alert_is_remembered_however_often_others_end() -> None:
    ticking = Ticking(policy=climbing(SCALE), memory=proven())
    gone = burning(fleet_of("s")).ladder
    exhausted = replace(gone, alert="queued", closed_at=ticking.now, exhausted=True)
    others = tuple(replace(gone, id=f"x{n}", alert="other", closed_at=ticking.now) for n in range(40))
    ticking.memory = replace(ticking.memory, finished=(exhausted, *others))
    ticking.ticks(4, fleet_of("s"), CALM)

    assert "queued" in {one.alert for one in ticking.memory.finished}


@pytest.mark.parametrize("hindrance", ["pause", "another hand", "unobserved"])
def test_what_only_hindered_a_ladder_lets_it_open_again_when_it_is_gone(hindrance: str) -> None:
    ticking = Ticking(policy=climbing(SCALE, ONCALL), memory=proven()).tick(fleet_of("ss"), BAD)
    there = fleet_of("s", version=2) if hindrance == "another hand" else fleet_of("ss")
    in_the_way = Unobserved() if hindrance == "unobserved" else replace(there, paused_by="people" if hindrance == "pause" else "")
    seen = telling(fleet_of("ss"), waiting=BAD)
    told = [message for _ in range(60) for message in ticking.tick(in_the_way, readings=seen).told]
    ended = ticking.ladder.exhausted
    acted = any(ticking.tick(there, BAD).counts for _ in range(100))

    assert ended
    assert len(told) == 1
    assert acted


def test_a_refusal_for_good_ends_the_step_as_an_error() -> None:
    ticking = burning(fleet_of("s")).came_out(OutcomeKind.REFUSED, "forbidden").tick(fleet_of("s"), BAD)

    assert (ticking.ladder.attempts[0].verdict, ticking.ladder.attempts[0].reason) == (Verdict.ERROR, Reason.DENIED)


def test_an_exhausted_ladder_rests_for_an_hour() -> None:
    ticking = Ticking(policy=climbing(ONCALL), memory=proven()).ticks(3 + 719, fleet_of("s"), BAD)
    before = len(ticking.memory.finished)
    ticking.ticks(2, fleet_of("s"), BAD)

    assert (before, len(ticking.memory.finished)) == (1, 2)
