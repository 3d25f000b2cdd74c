"""The story of a fleet, tick by tick."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from autopilot.control.audit import Record
from autopilot.control.story import Event, story_of
from autopilot.domain.operations import OutcomeKind
from tests.unit.control.ticks import BAD, CALM, UNKNOWN, Ticking, burning, draining, fleet_of, proven

LANDED = fleet_of("sssss", version=2)


def events(ticking: Ticking, act: Callable[[Ticking], object]) -> list[Event]:
    """What the story says of the ticks of `act`, seen as one."""
    before, then = ticking.memory, ticking.now
    act(ticking)
    assert ticking.now - then == timedelta(seconds=5)
    assert ticking.last is not None
    seen = ticking.seen
    told = Record(ticking.fleet.ref, "", before, seen, None, ticking.last.decisions, None, ticking.memory)
    return [line.event for line in story_of(told)]


def test_an_alert_is_followed_from_its_beginning_to_its_end() -> None:
    ticking = Ticking(memory=proven()).tick(fleet_of("ss"))

    assert events(ticking, lambda one: one.tick(fleet_of("ss"), BAD)) == [Event.ALERT_PENDING]
    assert events(ticking, lambda one: one.tick(fleet_of("ss"), BAD)) == []
    assert events(ticking, lambda one: one.tick(fleet_of("ss"), BAD)) == [
        Event.ALERT_FIRING,
        Event.REMEDIATION_OPENED,
        Event.STEP_STARTED,
        Event.CHANGE_DECIDED,
    ]
    assert events(ticking.came_out(), lambda one: one.tick(LANDED, BAD)) == [Event.STEP_LANDED]
    assert events(ticking, lambda one: one.tick(LANDED, CALM)) == [Event.ALERT_RESOLVED, Event.STEP_ENDED, Event.REMEDIATION_CLOSED]


def test_a_disturbed_step_is_told_with_the_one_that_follows() -> None:
    ticking = burning(fleet_of("ss")).came_out()
    for version in range(2, 12):
        ticking.tick(fleet_of("ssppp", version=version, template=f"t{version}"), BAD)
        last = events(ticking, lambda one: one.tick(fleet_of("ssppp", version=99, template=f"u{one.now}"), BAD))

    assert last == [Event.STEP_ENDED, Event.STEP_STARTED]


def test_blindness_is_told_once_and_so_is_its_end() -> None:
    ticking = burning(fleet_of("ss"))

    assert events(ticking, lambda one: one.tick(fleet_of("ss"), UNKNOWN)) == [Event.WENT_BLIND]
    assert events(ticking, lambda one: one.tick(fleet_of("ss"), UNKNOWN)) == []
    assert events(ticking, lambda one: one.tick(fleet_of("ss"), BAD)) == [Event.SEES_AGAIN]


@pytest.mark.parametrize("kind", [kind for kind in OutcomeKind if kind is not OutcomeKind.DONE])
def test_a_change_that_fails_is_told(kind: OutcomeKind) -> None:
    ticking = burning(fleet_of("ss")).came_out(kind, "said")

    assert Event.CHANGE_FAILED in events(ticking, lambda one: one.tick(fleet_of("ss"), BAD))


def test_another_hand_is_told() -> None:
    ticking = Ticking().tick(fleet_of("ss"))

    assert events(ticking, lambda one: one.tick(fleet_of("sss", version=2))) == [Event.FOREIGN_WRITE]


def test_a_removal_is_told_step_by_step() -> None:
    ticking = draining()

    assert events(ticking, lambda one: one.tick(fleet_of("css"))) == [Event.CHANGE_DECIDED]
