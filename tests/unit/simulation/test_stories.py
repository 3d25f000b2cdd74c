"""The scaling level on a simulated fleet: whole stories, in a second or two each."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from math import ceil

import pytest

from autopilot.control.level import Stay
from autopilot.control.load import number
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Bounds
from autopilot.simulation.arrivals import Rate, arrivals, burst, constant, steps
from autopilot.simulation.fleet import Blackout, Scene, SimulatedFleet, StartUp
from benchmarks.rules import FLEET, LAW, SLO_SECONDS, TICK, ProvenLoad, play
from tests.unit.simulation.chance import seeded

MINUTE = timedelta(minutes=1)
ONE = 3.5  # requests per second that one replica of the model carries within the SLO


def a_scene(rate: Rate, *, peak: float, minutes: int, replicas: int) -> Scene:
    requests = arrivals(rate, peak=peak, seconds=60.0 * minutes, rng=seeded(1))
    return Scene(requests, replicas, start_up=StartUp(seconds=90.0, jitter=0.1))


def played(scene: Scene, rule: ProvenLoad, *, minutes: int) -> SimulatedFleet:
    fleet = SimulatedFleet(scene, seeded(1))
    play(fleet, rule, until=minutes * MINUTE)
    return fleet


def counts(fleet: SimulatedFleet) -> list[int]:
    return [count for _, count in fleet.tally.counts]


def test_a_steady_load_that_is_carried_moves_nothing() -> None:
    scene = a_scene(constant(3.2 * ONE), peak=3.2 * ONE, minutes=60, replicas=4)

    fleet = played(scene, ProvenLoad(Bounds(1, 12)), minutes=60)

    assert fleet.tally.within(SLO_SECONDS) >= 0.99
    assert max(counts(fleet)) - min(counts(fleet)) <= 1


def test_a_burst_is_met_at_once_and_given_back_without_losing_a_request() -> None:
    rate = burst(usual=ONE / 2, factor=10.0, begins=1_200.0, lasts=300.0)
    scene = a_scene(rate, peak=5 * ONE, minutes=60, replicas=2)

    fleet = played(scene, ProvenLoad(Bounds(1, 20)), minutes=60)

    reacted = next(at for at, count in fleet.tally.counts if count > 2)
    assert reacted - 1_200.0 <= 45.0  # a scrape of 15 s, `for` of 10 s, and a tick or two
    assert fleet.observe(FLEET).desired <= 3
    assert fleet.tally.lost == 0


def test_a_step_of_load_is_learned_from() -> None:
    rate = steps((0.0, 1.5 * ONE), (1_200.0, 5 * ONE))
    scene = a_scene(rate, peak=5 * ONE, minutes=60, replicas=2)

    rule = ProvenLoad(Bounds(1, 12))
    fleet = played(scene, rule, minutes=60)

    proven = rule.state.of("simulated")
    assert 5 <= fleet.observe(FLEET).desired <= 8
    assert proven.good is not None
    assert proven.load_seconds


@pytest.mark.parametrize("dark", [("replica-1",), ()], ids=["one-silent", "prometheus-gone"])
def test_nothing_shrinks_while_something_is_unknown(dark: tuple[str, ...]) -> None:
    scene = a_scene(steps((0.0, 3 * ONE), (1_200.0, ONE / 2)), peak=3 * ONE, minutes=60, replicas=6)
    scene = replace(scene, blackouts=(Blackout(1_190.0, 2_700.0, dark),))

    fleet = played(scene, ProvenLoad(Bounds(1, 12)), minutes=60)

    falls = [at for (_, before), (at, count) in zip(fleet.tally.counts, fleet.tally.counts[1:], strict=False) if count < before]
    assert falls
    assert min(falls) >= 2_700.0 + 600.0


def waits_for(fleet: SimulatedFleet, rule: ProvenLoad, *, until: timedelta, look: Callable[[], None]) -> None:
    while fleet.now < until:
        fleet.advance(fleet.now + TICK)
        rule.tick(fleet)
        look()


def test_while_replicas_load_for_ten_minutes_they_are_not_asked_for_twice() -> None:
    """R-29, first half: what is asked for follows the need, however long nothing of it is ready."""
    scene = a_scene(steps((0.0, 1.5 * ONE), (600.0, 3 * ONE)), peak=3 * ONE, minutes=20, replicas=2)
    scene = replace(scene, start_up=StartUp(seconds=600.0))
    rule = ProvenLoad(Bounds(1, 40))
    fleet = SimulatedFleet(scene, seeded(1))
    needs = [2]

    def look() -> None:
        good, in_flight = rule.state.of("simulated").good, number(fleet.readings().of("in_flight"))
        back_to_proven = ceil(in_flight / good) if good is not None and in_flight is not None else 0
        needs.append(max(rule.floor or 0, back_to_proven))

    waits_for(fleet, rule, until=20 * MINUTE, look=look)

    assert 2 < max(counts(fleet)) <= max(needs)


def test_what_never_gets_a_place_is_taken_back_and_left_alone_for_longer_each_time() -> None:
    """R-29, second half."""
    scene = a_scene(steps((0.0, 1.5 * ONE), (600.0, 3 * ONE)), peak=3 * ONE, minutes=40, replicas=2)
    scene = replace(scene, start_up=StartUp(seconds=60.0, places=2))
    rule = ProvenLoad(Bounds(1, 8), law=replace(LAW, start_within=5 * MINUTE))
    fleet = SimulatedFleet(scene, seeded(1))
    rests: dict[timedelta, list[int]] = {}

    def look() -> None:
        bar = rule.state.bar
        if bar is not None and fleet.now < bar.until:
            rests.setdefault(bar.rest, []).append(fleet.observe(FLEET).desired)

    waits_for(fleet, rule, until=40 * MINUTE, look=look)

    assert list(rests) == [5 * MINUTE, 10 * MINUTE, 20 * MINUTE]
    assert all(counts == sorted(counts, reverse=True) and counts[-1] == 2 for counts in rests.values())
    assert rule.state.bar is not None
    assert "gpu" in rule.state.bar.message


def test_the_reason_for_a_rest_is_the_want_of_capacity() -> None:
    scene = a_scene(constant(3 * ONE), peak=3 * ONE, minutes=8, replicas=2)
    scene = replace(scene, start_up=StartUp(seconds=60.0, places=2))
    rule = ProvenLoad(Bounds(1, 8), law=replace(LAW, start_within=2 * MINUTE))

    play(SimulatedFleet(scene, seeded(1)), rule, until=6 * MINUTE)

    assert rule.level is not None
    assert isinstance(rule.level.move, Stay)
    assert rule.level.move.reason is Reason.NO_CAPACITY


def test_a_crash_changes_no_count_by_itself() -> None:
    scene = a_scene(constant(2 * ONE), peak=2 * ONE, minutes=30, replicas=4)
    fleet, rule = SimulatedFleet(scene, seeded(1)), ProvenLoad(Bounds(4, 8))
    play(fleet, rule, until=10 * MINUTE)
    fleet.crash("replica-1")
    play(fleet, rule, until=30 * MINUTE)

    assert (set(counts(fleet)), len(fleet.observe(FLEET).serving)) == ({4}, 4)
