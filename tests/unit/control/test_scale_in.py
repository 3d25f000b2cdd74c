"""The scale-in law: its clock, its objections, its victims."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.control.level import Level, Shrink, Stay, advance_level
from autopilot.control.load import LevelView
from autopilot.control.scale_in import after_restart, unobserved
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Bounds, Demand, LevelState, ScalingLaw
from autopilot.domain.signals import Entry, Gap, Idle, Measured, Unknown
from autopilot.domain.workloads import Replica, ReplicaState
from tests.unit.control.levels import (
    MINUTE,
    NOON,
    NOTHING_KNOWN,
    PROVEN,
    SHRINKS,
    TEMPLATE,
    TICK,
    Traffic,
    after,
    evenly,
    pending,
    serving,
    view_of,
    workload,
)

CALM = view_of(Traffic({"a": 4.0, "b": 1.0, "c": 3.0, "d": 2.0}, finished=4.0), workload(*serving(4)))  # needs one
STABLE_FOR = 10 * MINUTE


def paced(view: LevelView, *, by: int | None = None) -> LevelView:
    law = view.law.scale_in
    assert law is not None
    return replace(view, law=replace(view.law, scale_in=replace(law, by=by)))


def at(view: LevelView, now: timedelta) -> LevelView:
    return replace(view, now=now)


def reason(level: Level) -> Reason | None:
    return level.move.reason if isinstance(level.move, Stay) else None


def victims(level: Level) -> tuple[str, ...]:
    return level.move.victims if isinstance(level.move, Shrink) else ()


@pytest.mark.parametrize(
    ("known_for", "expected"),
    [(STABLE_FOR - TICK, Reason.NOT_STABLE), (STABLE_FOR, None)],
    ids=["just-inside", "exactly-at-the-edge"],
)
def test_capacity_goes_down_only_after_all_of_stable_for(known_for: timedelta, expected: Reason | None) -> None:
    assert reason(after(PROVEN, CALM, passed=known_for)) is expected


def test_those_with_the_fewest_requests_go() -> None:
    level = after(PROVEN, CALM, passed=STABLE_FOR)

    assert level.move == Shrink(1, ("b", "d", "c"), "1 replicas were enough for 0:10:00")


def test_by_lets_go_of_so_many_at_a_time() -> None:
    level = after(PROVEN, paced(CALM, by=1), passed=STABLE_FOR)

    assert (victims(level), level.wanted) == (("b",), 3)


def test_the_highest_need_of_stable_for_is_kept() -> None:
    busy = view_of(evenly(4, 28.0, finished=20.0), workload(*serving(4)))
    peak = advance_level(after(PROVEN, CALM, passed=STABLE_FOR).state, at(busy, NOON + STABLE_FOR + TICK))

    level = after(peak.state, at(CALM, NOON + STABLE_FOR + 2 * TICK), passed=5 * MINUTE)

    assert (level.needed, len(victims(level))) == (3, 1)


def test_a_peak_is_forgotten_after_stable_for() -> None:
    busy = view_of(evenly(4, 28.0, finished=20.0), workload(*serving(4)))
    peak = advance_level(PROVEN, busy)

    level = after(peak.state, at(CALM, NOON + TICK), passed=STABLE_FOR)

    assert level.needed == 1


def test_a_whole_every_lies_between_two_removals() -> None:
    first = after(PROVEN, paced(CALM, by=1), passed=STABLE_FOR)
    three = paced(view_of(Traffic({"a": 4.0, "c": 3.0, "d": 2.0}), workload(*serving(1), *serving(4)[2:])), by=1)
    shrunk = advance_level(first.state, at(three, NOON + STABLE_FOR + TICK))

    reasons = [
        reason(after(shrunk.state, at(three, NOON + STABLE_FOR + 2 * TICK), passed=passed)) for passed in (MINUTE - 2 * TICK, MINUTE)
    ]

    assert (reason(shrunk), *reasons) == (Reason.EVERY, Reason.EVERY, None)


def test_the_minimum_stays() -> None:
    level = after(PROVEN, replace(CALM, bounds=Bounds(3, 8)), passed=STABLE_FOR)

    assert (len(victims(level)), level.wanted) == (1, 3)


def test_the_last_replica_stays_even_where_the_bounds_would_let_it_go() -> None:
    idle = view_of(evenly(2, 0.0, finished=0.0), workload(*serving(2)), bounds=Bounds(0, 8))

    level = after(PROVEN, idle, passed=STABLE_FOR)

    assert level.wanted == 1


def test_a_count_over_the_maximum_comes_down_by_this_law() -> None:
    level = after(PROVEN, replace(CALM, bounds=Bounds(1, 2)), passed=STABLE_FOR)

    assert level.wanted == 1


OBJECTIONS: list[tuple[Callable[[LevelView], LevelView], Reason]] = [
    (lambda view: replace(view, symptom_yes=True), Reason.SYMPTOM),
    (lambda view: replace(view, remediation_open=True), Reason.REMEDIATION_OPEN),
    (lambda view: replace(view, readings=NOTHING_KNOWN), Reason.BLIND),
    (lambda view: replace(view, workload=replace(view.workload, template="t2"), readings=NOTHING_KNOWN), Reason.BLIND),
    (lambda view: replace(view, bounds=Bounds(4, 8)), Reason.AS_WANTED),
]


@pytest.mark.parametrize(("objecting", "expected"), OBJECTIONS, ids=["symptom", "remediation", "blind", "new-and-blind", "minimum"])
def test_capacity_stays_while_something_objects(objecting: Callable[[LevelView], LevelView], expected: Reason) -> None:
    stable = after(PROVEN, CALM, passed=STABLE_FOR).state

    assert reason(advance_level(stable, objecting(at(CALM, NOON + STABLE_FOR + TICK)))) is expected


def test_a_template_that_has_proven_nothing_does_not_shrink() -> None:
    idle = view_of(evenly(4, 0.0, finished=0.0), workload(*serving(4)))

    assert reason(after(LevelState(), idle, passed=2 * STABLE_FOR)) is Reason.GOOD_UNKNOWN


def stable_after(seen: str) -> Level:
    """Ten minutes and more of known ticks (k) with unknown ones (u) among them, then as written."""
    level = after(PROVEN, CALM, passed=STABLE_FOR - TICK)
    now = NOON + STABLE_FOR - TICK
    for tick in seen:
        now += TICK
        level = advance_level(level.state, at(CALM if tick == "k" else replace(CALM, readings=NOTHING_KNOWN), now))
    return level


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ("k", None),
        ("u", Reason.BLIND),
        ("uk", Reason.NOT_STABLE),  # neither the interval before nor the one after an unknown tick counts
        ("ukk", None),
        ("uuk", Reason.NOT_STABLE),
        ("uukk", None),
        ("uuukk", Reason.NOT_STABLE),  # three running reset it
        ("uuu" + "k" * 120, Reason.NOT_STABLE),
        ("uuu" + "k" * 121, None),
    ],
)
def test_an_unknown_tick_stops_the_clock_and_three_running_reset_it(seen: str, expected: Reason | None) -> None:
    assert reason(stable_after(seen)) is expected


MISSING = [
    ("up", None, Unknown(Gap.STALE)),
    ("up", None, Measured(0.0)),
    ("running", None, Unknown(Gap.STALE)),
    ("waiting", None, Unknown(Gap.STALE)),
    ("request_rate", MINUTE, Unknown(Gap.STALE)),
    ("request_rate", MINUTE, Measured(1.0, partial=True)),
]


@pytest.mark.parametrize("missing", MISSING, ids=["up", "down", "running", "waiting", "counter", "partial"])
def test_every_replica_must_tell_everything(missing: tuple[str, timedelta | None, Unknown | Measured]) -> None:
    signal, over, reading = missing
    silent = replace(CALM, readings=replace(CALM.readings, entries=(*CALM.readings.entries, Entry(signal, over, "c", reading))))
    stable = after(PROVEN, CALM, passed=STABLE_FOR).state

    assert reason(advance_level(stable, at(silent, NOON + STABLE_FOR + TICK))) is Reason.BLIND


@pytest.mark.parametrize("signal", ["in_flight", "request_rate", "in_flight_growth"])
def test_partial_totals_let_nothing_go(signal: str) -> None:
    over = None if signal == "in_flight" else MINUTE
    extra = Entry(signal, over, None, Measured(1.0, partial=True))
    partly = replace(CALM, readings=replace(CALM.readings, entries=(*CALM.readings.entries, extra)))

    assert reason(after(PROVEN, partly, passed=STABLE_FOR)) is Reason.BLIND


def test_idle_replicas_tell_enough() -> None:
    quiet = evenly(4, 0.0, finished=0.0)
    counters = tuple(Entry("request_rate", MINUTE, replica.name, Idle()) for replica in serving(4))
    idle = view_of(replace(quiet, more=(*counters, Entry("request_rate", MINUTE, None, Idle()))), workload(*serving(4)))

    assert after(PROVEN, idle, passed=STABLE_FOR).wanted == 1


def test_a_demand_that_nobody_can_read_lets_nothing_go() -> None:
    law = ScalingLaw((), scale_in=SHRINKS.scale_in, demand=(Demand("gateway_rate", 10.0, MINUTE),))

    assert reason(after(PROVEN, replace(CALM, law=law), passed=STABLE_FOR)) is Reason.BLIND


def test_a_replica_that_has_just_come_up_is_no_gap() -> None:
    stable = after(PROVEN, CALM, passed=STABLE_FOR).state
    five = replace(CALM, workload=workload(*serving(5)), now=NOON + STABLE_FOR + TICK)

    level = after(stable, five, passed=MINUTE - TICK)

    assert level.state.unknown_run == 0


def test_a_replica_that_stays_silent_is_one() -> None:
    stable = after(PROVEN, CALM, passed=STABLE_FOR).state
    five = replace(CALM, workload=workload(*serving(5)), now=NOON + STABLE_FOR + TICK)

    assert reason(after(stable, five, passed=MINUTE)) is Reason.BLIND


def test_pending_replicas_go_before_those_that_carry_requests() -> None:
    there = replace(CALM, workload=workload(*serving(4), *pending("x")))

    assert victims(after(PROVEN, paced(there, by=1), passed=STABLE_FOR)) == ("x",)


def test_what_failed_goes_first() -> None:
    failed = Replica("f", ReplicaState.FAILED, TEMPLATE)
    state = replace(PROVEN, serving_since=(("f", NOON),))
    there = replace(CALM, workload=workload(*serving(4), failed, *pending("x")))

    assert victims(after(state, paced(there, by=2), passed=STABLE_FOR)) == ("f", "x")


def test_without_a_cordon_only_a_replica_with_nothing_running_goes() -> None:
    traffic = Traffic({"a": 4.0, "b": 0.0, "c": 3.0, "d": 2.0}, finished=4.0)
    view = view_of(traffic, workload(*serving(4), can_cordon=False))

    assert victims(after(PROVEN, view, passed=STABLE_FOR)) == ("b",)


def test_without_a_cordon_and_without_an_empty_replica_nothing_goes() -> None:
    view = replace(CALM, workload=workload(*serving(4), can_cordon=False))

    assert reason(after(PROVEN, view, passed=STABLE_FOR)) is Reason.NO_DRAIN


def test_a_restart_begins_stable_for_at_zero_and_keeps_what_was_learned() -> None:
    before = after(PROVEN, CALM, passed=STABLE_FOR).state
    restarted = after_restart(before)

    level = advance_level(restarted, at(CALM, NOON + STABLE_FOR + TICK))

    assert (reason(level), level.state.of(TEMPLATE)) == (Reason.NOT_STABLE, before.of(TEMPLATE))


def test_time_without_the_backend_counts_for_nothing() -> None:
    lost = unobserved(after(PROVEN, CALM, passed=MINUTE).state)

    level = advance_level(lost, at(CALM, NOON + 30 * MINUTE))

    assert (reason(level), level.state.stable) == (Reason.NOT_STABLE, MINUTE)
