from __future__ import annotations

from dataclasses import replace

import pytest

from demo import pacing
from demo.scenario import LADDER, SCALE, Scenario
from demo.scene import Scene, advance
from demo.sight import Sight
from tests.unit.demo.stories import HANDED_OVER, HELPED, LANDED, RISEN, SERVING, SHRUNK, attempt, fleet, line, told


@pytest.mark.parametrize(
    ("looks", "phase"),
    [
        ((), "warm start"),
        (RISEN[:1], "calm"),
        (RISEN, "surge"),
        (LANDED[:3], "breach"),
        (LANDED[:4], "action"),
        (LANDED, "verified"),
        (HELPED, "load falls"),
        (SHRUNK[:-1], "shrunk"),
    ],
    ids=str,
)
def test_each_phase_follows_from_what_was_seen(looks: tuple[Sight, ...], phase: str) -> None:
    assert told(SCALE, *looks).phase.name == phase


@pytest.mark.parametrize(
    ("looks", "rate"),
    [((), 0.0), (RISEN[:1], pacing.EASY_RATE), (RISEN, pacing.HARD_RATE), (LANDED, pacing.HARD_RATE), (HELPED, pacing.EASY_RATE)],
    ids=["at-first", "calm", "surge", "until-verified", "fallen"],
)
def test_the_load_follows_the_phase(looks: tuple[Sight, ...], rate: float) -> None:
    assert told(SCALE, *looks).rate == rate


def test_the_calm_lasts_until_the_alert_can_see() -> None:
    seen = fleet(41.0, SERVING)
    blind = replace(seen, alerts=tuple(replace(alert, blind=True) for alert in seen.alerts))

    assert told(SCALE, RISEN[0], Sight(41.0, blind)).phase.name == "calm"


def test_an_alert_from_before_the_surge_is_no_breach() -> None:
    early = Sight(44.0, fleet(44.0, SERVING), story=(line(1, 30.0, "alert_pending"),))

    assert told(SCALE, *RISEN, early).facts.pending_at is None


def test_the_end_is_reached_when_the_fleet_has_shrunk_and_settled() -> None:
    assert told(SCALE, *SHRUNK).done


def test_the_ladder_ends_a_while_after_people_were_told() -> None:
    assert (told(LADDER, *HANDED_OVER[:-1]).done, told(LADDER, *HANDED_OVER).done) == (False, True)


@pytest.mark.parametrize("scenario", [SCALE, LADDER], ids=lambda scenario: str(scenario.name))
def test_no_phase_is_waited_for_longer_than_its_bound(scenario: Scenario) -> None:
    late = 1.0 + scenario.phases[0].bound_seconds

    assert told(scenario, Sight(late)).missed is not None


def test_a_verdict_other_than_helped_ends_the_wait_when_the_ladder_is_over() -> None:
    over = Sight(120.0, fleet(120.0, SERVING, SERVING), story=(line(4, 120.0, "remediation_closed"),), attempts=(attempt("ineffective"),))

    assert told(SCALE, *LANDED, over).missed is not None


def test_a_replica_that_never_came_is_not_waited_for_to_the_end() -> None:
    over = Sight(70.0, fleet(70.0, SERVING), story=(line(3, 70.0, "remediation_closed"),), attempts=(attempt("error"),))

    assert told(SCALE, *LANDED[:4], over).missed is not None


def test_a_look_that_saw_nothing_changes_nothing_but_the_time() -> None:
    scene = told(SCALE, *LANDED)

    assert _but_time(advance(scene, Sight(81.0))) == _but_time(scene)


def _but_time(scene: Scene) -> Scene:
    return replace(scene, facts=replace(scene.facts, at=0.0))
