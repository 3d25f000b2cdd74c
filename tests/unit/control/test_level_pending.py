"""Replicas that do not come up: how long they are waited for, taken back, and not asked for again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.control.level import Grow, Level, Stay, advance_level
from autopilot.control.load import LevelView
from autopilot.control.pending import start_within
from autopilot.control.scale_in import unobserved
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Bounds, LevelState, ProvenLoad, ScalingLaw
from autopilot.domain.workloads import Replica, ReplicaState
from tests.unit.control.levels import MINUTE, NOON, PROVEN, SHRINKS, TEMPLATE, TICK, after, evenly, pending, serving, view_of, workload

NO_GPU = "0/3 nodes are available: insufficient nvidia.com/gpu"
STUCK = replace(
    view_of(evenly(2, 60.0), workload(*serving(2), *pending("x", "y", message=NO_GPU))),
    law=replace(SHRINKS, start_within=3 * MINUTE),
    floor=4,
    remediation_open=True,
)


def gone(view: LevelView) -> LevelView:
    """The same fleet after the pending replicas were taken back."""
    return replace(view, workload=workload(*serving(2)))


def test_start_within_is_what_the_policy_says() -> None:
    assert start_within(ScalingLaw((), start_within=MINUTE), ProvenLoad("t", load_seconds=(300.0,))) == MINUTE


def test_automatic_start_within_is_twice_the_p99_of_the_measured_load_times() -> None:
    proven = ProvenLoad("t", load_seconds=tuple(float(n) for n in range(1, 51)))

    assert start_within(ScalingLaw(()), proven) == timedelta(seconds=100)


def test_automatic_start_within_is_a_minute_at_least() -> None:
    assert start_within(ScalingLaw(()), ProvenLoad("t", load_seconds=(5.0,))) == MINUTE


def test_start_within_is_ten_minutes_while_no_start_was_measured() -> None:
    assert start_within(ScalingLaw(()), ProvenLoad("t")) == timedelta(minutes=10)


@pytest.mark.parametrize(
    ("waited", "taken_back"),
    [(3 * MINUTE - TICK, ()), (3 * MINUTE, ("x", "y"))],
    ids=["just-inside", "exactly-at-the-edge"],
)
def test_what_is_not_ready_in_time_is_taken_back_with_the_backends_message(waited: timedelta, taken_back: tuple[str, ...]) -> None:
    level = after(PROVEN, STUCK, passed=waited)

    assert (level.retract, level.retract_why) == (taken_back, NO_GPU if taken_back else "")


def test_the_clock_of_a_pending_replica_stands_while_blind() -> None:
    blind = replace(view_of(None, STUCK.workload), law=STUCK.law)
    before = after(PROVEN, STUCK, passed=2 * MINUTE)

    dark = after(before.state, replace(blind, now=NOON + 2 * MINUTE + TICK), passed=10 * MINUTE)

    assert dict(dark.state.waited) == {"x": 2 * MINUTE, "y": 2 * MINUTE}


def test_the_clock_of_a_pending_replica_stands_while_the_backend_cannot_be_asked() -> None:
    lost = unobserved(after(PROVEN, STUCK, passed=MINUTE).state)

    level = advance_level(lost, replace(STUCK, now=NOON + 30 * MINUTE))

    assert dict(level.state.waited) == {"x": MINUTE, "y": MINUTE}


def test_a_fleet_without_any_serving_replica_is_not_blind_to_its_pending_ones() -> None:
    view = replace(view_of(None, workload(*pending("x", "y", "z"))), law=STUCK.law)

    assert after(LevelState(), view, passed=3 * MINUTE).retract == ("x", "y")  # the minimum of one stays


def test_a_replica_that_failed_before_it_ever_served_is_taken_back_at_once() -> None:
    failed = Replica("x", ReplicaState.FAILED, TEMPLATE, message="out of memory")
    view = view_of(evenly(2, 10.0), workload(*serving(2), failed))

    level = advance_level(PROVEN, view)

    assert (level.retract, level.retract_why) == (("x",), "out of memory")


def test_a_replica_that_failed_after_it_had_served_is_not_taken_back() -> None:
    before = advance_level(PROVEN, view_of(evenly(3, 10.0), workload(*serving(3))))
    failed = Replica("c", ReplicaState.FAILED, TEMPLATE)

    level = advance_level(before.state, view_of(evenly(2, 10.0), workload(*serving(2), failed), now=NOON + TICK))

    assert level.retract == ()


def test_a_failed_replica_does_not_count_towards_a_floor() -> None:
    before = advance_level(PROVEN, view_of(evenly(3, 10.0), workload(*serving(3))))
    failed = Replica("c", ReplicaState.FAILED, TEMPLATE)
    view = replace(view_of(evenly(2, 40.0), workload(*serving(2), failed), now=NOON + TICK), floor=3, remediation_open=True)

    level = advance_level(before.state, view)

    assert level.move == Grow(4, "4 replicas for the open remediation")


def test_nothing_is_taken_back_below_the_minimum() -> None:
    level = after(PROVEN, replace(STUCK, bounds=Bounds(4, 8)), passed=3 * MINUTE)

    assert level.retract == ()


def test_a_replica_that_serves_is_never_taken_back() -> None:
    view = replace(STUCK, workload=workload(*serving(4), *pending("x", "y"), desired=5))  # a rollout surges

    assert after(PROVEN, view, passed=5 * MINUTE).retract == ("x",)


def test_what_never_started_is_not_asked_for_again_for_five_minutes() -> None:
    late = after(PROVEN, STUCK, passed=3 * MINUTE)

    level = advance_level(late.state, replace(gone(STUCK), now=NOON + 4 * MINUTE))

    assert isinstance(level.move, Stay)
    assert level.move.reason is Reason.NO_CAPACITY


def rest_after(failures: int) -> tuple[Level, timedelta]:
    """Replicas that never start, asked for again after each rest."""
    level, now = after(PROVEN, STUCK, passed=3 * MINUTE), NOON + 3 * MINUTE
    for _ in range(failures - 1):
        assert level.state.bar is not None
        now = level.state.bar.until
        level = advance_level(level.state, replace(gone(STUCK), now=now))
        level = after(level.state, replace(STUCK, now=now + TICK), passed=3 * MINUTE)
        now += TICK + 3 * MINUTE
    return level, now


@pytest.mark.parametrize(
    ("failures", "rest"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (6, 60)], ids=["1st", "2nd", "3rd", "4th", "5th", "6th"]
)
def test_the_rest_doubles_up_to_an_hour(failures: int, rest: int) -> None:
    level, now = rest_after(failures)

    assert level.state.barred_until == now + rest * MINUTE


def test_after_the_rest_it_is_asked_for_again() -> None:
    late = after(PROVEN, STUCK, passed=3 * MINUTE)

    level = advance_level(late.state, replace(gone(STUCK), now=NOON + 8 * MINUTE))

    assert isinstance(level.move, Grow)


def test_a_count_that_had_been_there_may_be_asked_for_during_the_rest() -> None:
    late = after(PROVEN, STUCK, passed=3 * MINUTE)
    fewer = replace(STUCK, workload=workload(*serving(1)), now=NOON + 4 * MINUTE)

    level = advance_level(late.state, fewer)

    assert isinstance(level.move, Grow)
    assert level.move.to == 2


def test_the_minimum_is_asked_for_during_the_rest() -> None:
    late = after(PROVEN, STUCK, passed=3 * MINUTE)
    view = replace(gone(STUCK), bounds=Bounds(3, 8), now=NOON + 4 * MINUTE)

    level = advance_level(late.state, view)

    assert isinstance(level.move, Grow)
    assert level.move.to == 3


def test_one_that_comes_up_ends_the_rest() -> None:
    late = after(PROVEN, STUCK, passed=3 * MINUTE)
    up = replace(STUCK, workload=workload(*serving(2), Replica("x", ReplicaState.SERVING, TEMPLATE)), now=NOON + 4 * MINUTE)

    assert advance_level(late.state, up).state.bar is None


def test_another_reason_of_the_scheduler_ends_the_rest() -> None:
    kept = replace(STUCK, bounds=Bounds(4, 8))  # at the minimum nothing is taken back, so the reason can be watched
    late = after(PROVEN, kept, passed=3 * MINUTE)
    there = workload(*serving(2), *pending("x", "y", message="pulling image"))

    level = advance_level(late.state, replace(kept, workload=there, now=NOON + 4 * MINUTE))

    assert level.state.barred_until == NOON + 4 * MINUTE


def test_pending_replicas_that_nobody_asks_for_are_taken_back_when_the_remediation_closes() -> None:
    loaded = replace(STUCK, workload=workload(*serving(2), *pending("x", "y")))
    before = after(PROVEN, loaded, passed=MINUTE)
    closed = replace(view_of(evenly(2, 12.0), loaded.workload), floor=None, now=NOON + 12 * MINUTE)

    level = advance_level(replace(before.state, waited=(), needs=()), closed)

    assert set(level.retract) == {"x", "y"}


def test_pending_replicas_are_kept_while_nobody_knows_what_is_wanted() -> None:
    before = after(PROVEN, STUCK, passed=MINUTE)
    closed = replace(view_of(None, STUCK.workload), now=NOON + MINUTE + TICK)

    assert advance_level(before.state, closed).retract == ()


def test_pending_replicas_that_somebody_else_asked_for_are_kept() -> None:
    level = after(PROVEN, view_of(evenly(2, 12.0), workload(*serving(2), *pending("x", "y"))), passed=5 * MINUTE)

    assert level.retract == ()
