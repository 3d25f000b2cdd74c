"""Other hands on the replica count are given way to."""

from dataclasses import replace

from autopilot.domain.decisions import Hold
from autopilot.domain.reasons import Reason
from autopilot.simulation.arrivals import constant
from tests.support.policies import CHAT, closed_loop
from tests.unit.control.stories.scenes import at, changes, player, scene

HEAVY = constant(14.0)


def reasons(decisions: tuple[object, ...]) -> set[Reason]:
    return {decision.reason for decision in decisions if isinstance(decision, Hold)}


def test_who_lowers_the_count_is_not_worked_against_for_ten_minutes() -> None:
    story = player(closed_loop(), scene(HEAVY, seconds=1200, replicas=3)).run(at(300))
    made_before = len(changes(story.records))
    story.world.set_by_hand(1)
    story.run(at(890))

    assert changes(story.records)[made_before:] == []
    assert Reason.OWNED_ELSEWHERE in reasons(story.records[-1].decisions)


def test_after_ten_minutes_the_fleet_is_scaled_again() -> None:
    story = player(closed_loop(), scene(HEAVY, seconds=1500, replicas=3)).run(at(300))
    story.world.set_by_hand(1)
    story.run(at(1000))

    assert story.world.observe(story.fleet.ref).desired > 1


def test_a_third_foreign_write_within_ten_minutes_contests_the_count_until_people_resume() -> None:
    story = player(closed_loop(), scene(HEAVY, seconds=3000, replicas=3)).run(at(300))
    for number in range(3):
        story.world.set_by_hand(2 if number % 2 else 1)
        story.run(story.world.now + at(60))
    story.run(at(2400))

    assert story.memory.contested
    assert Reason.OWNED_ELSEWHERE in reasons(story.records[-1].decisions)


def test_the_count_met_at_adoption_is_nobodys_write() -> None:
    story = player(closed_loop(), scene(constant(1.0), seconds=60, replicas=3)).run(at(60))

    assert story.memory.foreign == ()


def test_a_zero_set_by_another_hand_stays() -> None:
    story = player(closed_loop(), scene(constant(1.0), seconds=3600, replicas=2)).run(at(120))
    story.world.set_by_hand(0)
    story.run(at(3600))

    assert story.world.observe(story.fleet.ref).desired == 0


def test_a_declared_writer_of_replicas_is_left_alone() -> None:
    hpa = replace(CHAT, pools=(replace(CHAT.pools[0], replicas_writer="hpa"),))
    story = player(closed_loop(), scene(HEAVY, seconds=900))
    story.fleet = hpa
    story.run(at(900))

    assert changes(story.records) == []


def test_without_a_policy_a_fleet_is_only_observed() -> None:
    story = player(None, scene(HEAVY, seconds=600)).run(at(600))

    assert changes(story.records) == []
    assert reasons(story.records[-1].decisions) == {Reason.NO_POLICY}
