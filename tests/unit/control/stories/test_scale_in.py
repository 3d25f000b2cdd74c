"""Capacity goes down only by the law, drained, and not on bad days."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.domain.memory import Pause
from autopilot.domain.verbs import Mode, Verb
from autopilot.simulation.arrivals import constant, steps
from autopilot.simulation.fleet import Blackout
from tests.support.policies import closed_loop
from tests.unit.control.stories.scenes import at, changes, dark, player, scene

CALM_AFTER = steps((0.0, 14.0), (900.0, 2.0))


def shrinks(story_changes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(before, after) for before, after in story_changes if after < before]


def test_after_the_load_has_fallen_the_fleet_shrinks_and_no_request_is_lost() -> None:
    story = player(closed_loop(), scene(CALM_AFTER, seconds=3600, replicas=4)).run(at(3600))

    assert story.world.observe(story.fleet.ref).desired == 1
    assert story.world.tally.lost == 0


@pytest.mark.parametrize(
    "blackout",
    [dark(950.0, 3600.0), Blackout(950.0, 3600.0, replicas=("replica-1", "replica-2"))],
    ids=["prometheus-is-gone", "half-the-replicas-are-silent"],
)
def test_nothing_is_removed_while_the_fleet_cannot_be_seen(blackout: Blackout) -> None:
    scene_ = replace(scene(CALM_AFTER, seconds=3600, replicas=4), blackouts=(blackout,))
    story = player(closed_loop(), scene_).run(at(3600))

    assert shrinks(changes(story.records)) == []


def test_no_alert_resolves_while_prometheus_is_gone() -> None:
    loaded = replace(scene(constant(14.0), seconds=900), blackouts=(dark(300.0, 600.0),))
    story = player(closed_loop(maximum=1), loaded).run(at(290))
    before = {alert.name: alert.state for alert in story.memory.alerts}
    story.run(at(595))

    assert {alert.name: alert.state for alert in story.memory.alerts} == before


def test_a_removal_is_called_back_when_the_load_returns_while_it_drains() -> None:
    back = steps((0.0, 14.0), (300.0, 1.0), (1500.0, 14.0))
    story = player(closed_loop(), scene(back, seconds=2400, replicas=4)).run(at(2400))

    assert story.memory.removal is None
    assert story.world.tally.lost == 0
    assert len(story.world.observe(story.fleet.ref).serving) >= 3


def test_a_pause_holds_scale_in_until_it_ends() -> None:
    story = player(closed_loop(), scene(CALM_AFTER, seconds=5400, replicas=4))
    pause = Pause(until=timedelta(seconds=3600), reason="release", by="an operator", verbs=(Verb.SCALE_IN,))
    story.memory = replace(story.memory, pauses=(pause,))
    story.run(at(3590))
    while_paused = shrinks(changes(story.records))
    story.run(at(5400))

    assert while_paused == []
    assert shrinks(changes(story.records)) != []


def test_a_policy_without_scale_in_never_shrinks() -> None:
    policy = closed_loop()
    assert policy.scaling is not None
    story = player(replace(policy, scaling=replace(policy.scaling, scale_in=None)), scene(CALM_AFTER, seconds=3600, replicas=4)).run(
        at(3600)
    )

    assert shrinks(changes(story.records)) == []


def test_advise_never_removes() -> None:
    story = player(closed_loop(mode=Mode.ADVISE), scene(CALM_AFTER, seconds=3600, replicas=4)).run(at(3600))

    assert changes(story.records) == []
