"""Laws of the level, over any history of ticks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from autopilot.control.level import Grow, Level, Shrink, advance_level
from autopilot.control.load import LevelView, load_of
from autopilot.domain.conditions import Truth
from autopilot.domain.scaling import Bounds, LevelState, ScaleInLaw, ScalingLaw
from autopilot.domain.workloads import PENDING_STATES, Replica, ReplicaState
from tests.unit.control.levels import MINUTE, TEMPLATE, TICK, Traffic, view_of, workload

NAMES = tuple("abcdefgh")
LAWS = st.builds(
    ScalingLaw,
    bounds=st.just(()),
    start_within=st.sampled_from([None, 2 * TICK]),
    scale_in=st.none() | st.builds(ScaleInLaw, st.just(2 * TICK), st.just(TICK), st.just(MINUTE), st.sampled_from([None, 1])),
)
LOADS = st.floats(0, 100)
STATES = st.sampled_from([*[ReplicaState.SERVING] * 4, *ReplicaState])


@dataclass(frozen=True)
class Tick:
    """One tick and what came of it."""

    before: LevelState
    view: LevelView
    level: Level


@st.composite
def views(draw: st.DrawFn, *, now: timedelta, law: ScalingLaw) -> LevelView:
    replicas = tuple(Replica(name, draw(STATES), TEMPLATE) for name in NAMES[: draw(st.integers(0, len(NAMES)))])
    there = workload(*replicas, desired=draw(st.integers(0, 8)), can_cordon=draw(st.booleans()))
    told = [replica.name for replica in replicas if replica.state is ReplicaState.SERVING]
    silent = draw(st.integers(0, 5)) == 0 or not told
    load, mean = {name: draw(LOADS) for name in told}, {name: draw(LOADS) for name in told}
    traffic = Traffic(load, mean, draw(LOADS), draw(LOADS), draw(st.floats(-10, 10)), partial=draw(st.integers(0, 5)) == 0)
    low = draw(st.integers(0, 4))
    floor = draw(st.sampled_from([None, None, 1, 5, 9]))
    return replace(
        view_of(None if silent else traffic, there, now=now, bounds=Bounds(low, low + draw(st.integers(0, 5)))),
        law=law,
        latency=draw(st.sampled_from(Truth)),
        symptom_yes=draw(st.booleans()),
        began_firing=draw(st.booleans()),
        floor=floor,
        remediation_open=floor is not None,
    )


@st.composite
def histories(draw: st.DrawFn) -> list[Tick]:
    state, ticks, law = LevelState(), [], draw(LAWS)
    for number in range(draw(st.integers(1, 12))):
        view = draw(views(now=(number + 1) * TICK, law=law))
        level = advance_level(state, view)
        ticks.append(Tick(state, view, level))
        state = level.state
    return ticks


def holds_on_every_tick(law: Callable[[Tick], bool], history: list[Tick]) -> bool:
    return all(law(tick) for tick in history)


def in_bounds(tick: Tick) -> bool:
    bounds, present = tick.view.bounds, tick.view.workload.desired
    most = max(bounds.maximum, present)
    match tick.level.move:
        case Grow(to=to):
            moved = present < to <= bounds.maximum
        case Shrink(to=to):
            moved = max(1, bounds.minimum) <= to < present
        case _:
            moved = True
    return moved and bounds.minimum <= tick.level.wanted <= most


@settings(max_examples=50, deadline=None)
@given(histories())
def test_the_result_is_always_in_bounds(history: list[Tick]) -> None:
    assert holds_on_every_tick(in_bounds, history)


def nothing_goes_unseen(tick: Tick) -> bool:
    seen = load_of(tick.view).in_flight is not None
    return seen or (not isinstance(tick.level.move, Shrink) and tick.level.wanted >= min(tick.view.workload.desired, tick.level.wanted))


@settings(max_examples=50, deadline=None)
@given(histories())
def test_no_capacity_goes_down_on_unknown_or_partial_data(history: list[Tick]) -> None:
    assert holds_on_every_tick(nothing_goes_unseen, history)


def gauge_does_not_fall_unseen(tick: Tick) -> bool:
    seen = load_of(tick.view).at_least is not None
    last = tick.before.wanted
    same_bounds = last is not None and tick.view.bounds.minimum <= last <= tick.view.bounds.maximum
    return seen or not same_bounds or last is None or tick.level.wanted >= last


@settings(max_examples=50, deadline=None)
@given(histories())
def test_the_gauge_does_not_fall_on_unknown_data(history: list[Tick]) -> None:
    assert holds_on_every_tick(gauge_does_not_fall_unseen, history)


def asks_once(tick: Tick) -> bool:
    """Where nothing was lost, never more than what asks, the minimum included, whatever is still pending."""
    there = tick.view.workload
    proven = tick.level.state.of(TEMPLATE)
    if tick.level.state.given_up or there.in_state(ReplicaState.FAILED) or proven.bad is not None:
        return True
    asked = max(tick.view.floor or 0, tick.view.bounds.minimum)
    return not isinstance(tick.level.move, Grow) or tick.level.move.to <= asked


@settings(max_examples=50, deadline=None)
@given(histories())
def test_pending_replicas_are_never_asked_for_twice(history: list[Tick]) -> None:
    assert holds_on_every_tick(asks_once, history)


def victims_are_there(tick: Tick) -> bool:
    move, there = tick.level.move, tick.view.workload
    if not isinstance(move, Shrink):
        return True
    found = [there.named(name) for name in move.victims]
    return None not in found and len(set(move.victims)) == there.desired - move.to


@settings(max_examples=50, deadline=None)
@given(histories())
def test_as_many_victims_are_named_as_the_count_falls_by(history: list[Tick]) -> None:
    assert holds_on_every_tick(victims_are_there, history)


def retracts_only_what_never_served(tick: Tick) -> bool:
    there = tick.view.workload
    states = {replica.state for name in tick.level.retract if (replica := there.named(name)) is not None}
    left = there.desired - len(tick.level.retract)
    return states <= {*PENDING_STATES, ReplicaState.FAILED} and (not tick.level.retract or left >= tick.view.bounds.minimum)


@settings(max_examples=50, deadline=None)
@given(histories())
def test_only_what_never_served_is_taken_back_and_never_below_the_minimum(history: list[Tick]) -> None:
    assert holds_on_every_tick(retracts_only_what_never_served, history)


def shrinks_in_peace(tick: Tick) -> bool:
    calm = not tick.view.symptom_yes and not tick.view.remediation_open and tick.level.state.of(TEMPLATE).good is not None
    return calm or not isinstance(tick.level.move, Shrink)


@settings(max_examples=50, deadline=None)
@given(histories())
def test_nothing_is_let_go_while_there_is_trouble(history: list[Tick]) -> None:
    assert holds_on_every_tick(shrinks_in_peace, history)


@settings(max_examples=50, deadline=None)
@given(histories())
def test_the_needs_that_are_remembered_fall(history: list[Tick]) -> None:
    needs = [need.replicas for need in history[-1].level.state.needs]

    assert needs == sorted(set(needs), reverse=True)
