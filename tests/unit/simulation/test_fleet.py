"""The simulated fleet behaves as a backend and a Prometheus would."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.domain.operations import Cordon, SetReplicas, Uncordon
from autopilot.domain.signals import Distribution, Idle, Measured, Unknown
from autopilot.domain.workloads import FleetRef, ReplicaState
from autopilot.ports import Backend, Conflict, Refused
from autopilot.simulation.arrivals import Request, arrivals, constant
from autopilot.simulation.fleet import Blackout, Scene, SimulatedFleet, StartUp
from tests.unit.simulation.chance import seeded

FLEET = FleetRef("simulated", "chat")
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
QUIET: Sequence[Request] = ()


def busy(seconds: float = 600.0) -> list[Request]:
    return arrivals(constant(4.0), peak=4.0, seconds=seconds, rng=seeded(3))


def fleet(scene: Scene) -> SimulatedFleet:
    return SimulatedFleet(scene, seeded(1))


def change(one: SimulatedFleet, count: int, *victims: str) -> SetReplicas:
    there = one.observe(FLEET)
    return SetReplicas(count, there.desired, there.version, victims)


def test_it_offers_the_door_of_a_backend() -> None:
    backend: Backend = fleet(Scene(QUIET, 2))

    assert backend.observe(FLEET).kind == "workload"


def test_a_new_replica_serves_after_its_start_up() -> None:
    one = fleet(Scene(QUIET, 2, start_up=StartUp(seconds=90.0)))
    one.set_replicas(FLEET, change(one, 3))
    one.advance(89 * SECOND)
    before = len(one.observe(FLEET).serving)
    one.advance(91 * SECOND)

    assert (before, len(one.observe(FLEET).serving), one.observe(FLEET).replicas[2].load_seconds) == (2, 3, 90.0)


def test_a_replica_without_a_place_says_why() -> None:
    one = fleet(Scene(QUIET, 2, start_up=StartUp(seconds=1.0, places=2)))
    one.set_replicas(FLEET, change(one, 3))
    one.advance(10 * MINUTE)

    pending = one.observe(FLEET).in_state(ReplicaState.STARTING)

    assert [bool(replica.message) for replica in pending] == [True]


def test_a_place_that_becomes_free_is_taken() -> None:
    one = fleet(Scene(QUIET, 2, start_up=StartUp(seconds=1.0, places=2)))
    one.set_replicas(FLEET, change(one, 3))
    one.start_up = replace(one.start_up, places=3)
    one.advance(MINUTE)

    assert len(one.observe(FLEET).serving) == 3


def test_a_start_can_fail() -> None:
    one = fleet(Scene(QUIET, 1, start_up=StartUp(seconds=1.0, fails="out of memory")))
    one.set_replicas(FLEET, change(one, 2))
    one.advance(MINUTE)

    assert [(replica.state, replica.message) for replica in one.observe(FLEET).replicas[1:]] == [(ReplicaState.FAILED, "out of memory")]


def test_a_change_planned_at_another_version_is_a_conflict() -> None:
    one = fleet(Scene(QUIET, 2))
    planned = change(one, 3)
    one.set_by_hand(5)

    with pytest.raises(Conflict):
        one.set_replicas(FLEET, planned)


def test_named_victims_go() -> None:
    one = fleet(Scene(QUIET, 3))
    one.set_replicas(FLEET, change(one, 2, "replica-1"))

    assert [replica.name for replica in one.observe(FLEET).replicas] == ["replica-2", "replica-3"]


def test_a_cordoned_replica_gets_no_new_requests_until_it_is_given_back() -> None:
    one = fleet(Scene(busy(), 2))
    one.advance(MINUTE)
    one.cordon(FLEET, Cordon(("replica-1",)))
    one.advance(5 * MINUTE)
    drained = one.readings().of("running", replica="replica-1")
    one.uncordon(FLEET, Uncordon(("replica-1",)))
    one.advance(6 * MINUTE)

    assert drained == Measured(0.0)
    assert one.readings().of("running", replica="replica-1") != Measured(0.0)


def test_a_fleet_that_cannot_cordon_refuses() -> None:
    one = fleet(Scene(QUIET, 2, can_cordon=False))

    with pytest.raises(Refused):
        one.cordon(FLEET, Cordon(("replica-1",)))


def test_a_crash_loses_requests_and_the_replica_comes_back() -> None:
    one = fleet(Scene(busy(), 2, start_up=StartUp(seconds=30.0)))
    one.advance(2 * MINUTE)
    one.crash("replica-1")
    ill = one.observe(FLEET).replicas[0].state
    one.advance(3 * MINUTE)

    assert (ill, one.observe(FLEET).replicas[0].state, one.tally.lost > 0) == (ReplicaState.UNHEALTHY, ReplicaState.SERVING, True)


@pytest.mark.parametrize(("graceful", "lost"), [(True, False), (False, True)], ids=["graceful", "cut"])
def test_a_removed_replica_finishes_what_it_has_only_where_it_is_graceful(graceful: bool, lost: bool) -> None:
    one = fleet(Scene(busy(), 2, graceful=graceful))
    one.advance(2 * MINUTE)
    one.set_replicas(FLEET, change(one, 1, "replica-1"))

    assert (one.tally.lost > 0) is lost


def test_readings_agree_with_what_happened() -> None:
    one = fleet(Scene(busy(), 2))
    one.advance(5 * MINUTE)
    readings = one.readings()
    ttft, rate = readings.of("ttft", over=MINUTE), readings.of("request_rate", over=MINUTE)

    assert isinstance(ttft, Distribution)
    assert isinstance(rate, Measured)
    assert rate.value == pytest.approx(4.0, rel=0.3)
    assert ttft.count == pytest.approx(60 * rate.value, rel=0.15)


def test_a_fleet_without_requests_is_idle() -> None:
    one = fleet(Scene(QUIET, 2))
    one.advance(5 * MINUTE)

    assert one.readings().of("ttft", over=MINUTE) == Idle()


def test_in_a_blackout_nothing_is_known() -> None:
    one = fleet(Scene(busy(), 2, blackouts=(Blackout(120.0, 300.0),)))
    one.advance(3 * MINUTE)

    assert isinstance(one.readings().of("in_flight"), Unknown)


def test_one_silent_replica_of_many_makes_the_rest_partial() -> None:
    one = fleet(Scene(busy(), 6, blackouts=(Blackout(120.0, 300.0, ("replica-1",)),)))
    one.advance(4 * MINUTE)
    in_flight = one.readings().of("in_flight")

    assert isinstance(in_flight, Measured)
    assert in_flight.partial


def test_half_of_the_replicas_silent_is_unknown() -> None:
    one = fleet(Scene(busy(), 2, blackouts=(Blackout(120.0, 300.0, ("replica-1",)),)))
    one.advance(4 * MINUTE)

    assert isinstance(one.readings().of("in_flight"), Unknown)


def test_the_same_seed_tells_the_same_story() -> None:
    first, second = (SimulatedFleet(Scene(busy(), 2), seeded(5)) for _ in range(2))
    first.advance(10 * MINUTE)
    second.advance(10 * MINUTE)

    assert (first.tally, first.readings().entries) == (second.tally, second.readings().entries)
