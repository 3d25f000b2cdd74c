"""A ladder from its alert to its end."""

from dataclasses import replace
from datetime import timedelta

from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Verdict
from autopilot.domain.verbs import Mode, Verb
from autopilot.simulation.arrivals import constant, steps
from autopilot.simulation.fleet import StartUp
from tests.support.policies import closed_loop, only
from tests.unit.control.stories.scenes import HOPELESS, at, changes, closed, player, scene

SURGE = steps((0.0, 3.0), (300.0, 16.0))


def test_a_breach_ends_with_more_replicas_and_a_verdict_of_helped() -> None:
    story = player(closed_loop(), scene(SURGE, seconds=1500)).run(at(1500))

    remediation = closed(story.memory, "queued")[0]

    assert remediation.verdict is Verdict.HELPED
    assert remediation.attempts[0].verb is Verb.SCALE_OUT
    assert story.world.observe(story.fleet.ref).desired >= 3


def test_an_alert_that_another_ladder_is_about_to_help_does_not_climb_to_people() -> None:
    story = player(closed_loop(), scene(SURGE, seconds=1500)).run(at(1500))

    assert story.told == []


def test_a_step_starts_on_the_tick_on_which_its_alert_fires() -> None:
    story = player(only(closed_loop(), "slow"), scene(SURGE, seconds=600))
    fired = next(record for record in story.play(at(600)) if any(alert.firing for alert in record.after.alerts))

    assert changes([fired]) == [(1, fired.after.remediation.floor if fired.after.remediation else 0)]


def test_a_fleet_that_more_replicas_do_not_help_climbs_to_people_and_tells_them_once() -> None:
    story = player(only(closed_loop(maximum=6), "slow"), scene(constant(3.0), seconds=2400, engine=HOPELESS)).run(at(2400))

    remediation = closed(story.memory, "slow")[0]
    verdicts = [(attempt.verb, attempt.verdict) for attempt in remediation.attempts]

    assert verdicts[-2] == (Verb.RELOCATE, Verdict.NOT_TAKEN)
    assert verdicts[-1][0] is Verb.NOTIFY
    assert all(verdict in (Verdict.INEFFECTIVE, Verdict.INSUFFICIENT) for verb, verdict in verdicts if verb is Verb.SCALE_OUT)
    assert remediation.exhausted
    assert [message.receivers for message in story.told] == [("oncall",)]


def test_capacity_that_did_not_help_stays_while_the_alert_fires() -> None:
    story = player(only(closed_loop(maximum=6), "slow"), scene(constant(3.0), seconds=2400, engine=HOPELESS)).run(at(2400))

    assert all(after > before for before, after in changes(story.records))


def test_an_exhausted_ladder_is_climbed_again_after_an_hour_not_before() -> None:
    story = player(only(closed_loop(maximum=2), "slow"), scene(constant(3.0), seconds=9000, engine=HOPELESS)).run(at(9000))

    first, second = closed(story.memory, "slow")[:2]

    assert first.closed_at is not None
    assert second.opened_at - first.closed_at >= timedelta(hours=1)


def test_replicas_that_never_start_end_the_step_as_an_error_and_are_not_asked_for_again_at_once() -> None:
    policy = only(closed_loop(), "slow")
    stuck = replace(scene(SURGE, seconds=1500), start_up=StartUp(seconds=30.0, fails="engine died: no such model"))
    story = player(policy, stuck).run(at(660))

    remediation = closed(story.memory, "slow")[0]

    assert remediation.attempts[0].verdict is Verdict.ERROR
    assert remediation.attempts[0].detail == "engine died: no such model"
    assert [(before, after) for before, after in changes(story.records) if after > before] == [(1, remediation.attempts[0].target)]
    assert story.world.observe(story.fleet.ref).desired == 1


def test_in_advise_the_first_step_is_shown_and_nothing_is_touched() -> None:
    story = player(only(closed_loop(mode=Mode.ADVISE), "slow"), scene(SURGE, seconds=900)).run(at(900))

    remediation = story.memory.remediation

    assert changes(story.records) == []
    assert remediation is not None
    assert remediation.current is not None
    assert remediation.current.reason is Reason.MODE_ADVISE
    assert (story.memory.level.wanted or 0) > 1


def test_a_scale_step_at_the_bound_is_not_taken() -> None:
    story = player(only(closed_loop(maximum=1), "slow"), scene(constant(3.0), seconds=600, engine=HOPELESS)).run(at(600))

    attempt = closed(story.memory, "slow")[0].attempts[0]

    assert (attempt.verdict, attempt.reason) == (Verdict.NOT_TAKEN, Reason.AT_BOUND)
