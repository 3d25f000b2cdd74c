"""The level: what asks for replicas, and what caps it."""

from dataclasses import replace

import pytest

from autopilot.control.level import Grow, Level, Shrink, Stay, advance_level
from autopilot.domain.conditions import Truth
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Bounds, DayOfLoad, Demand, LevelState, ProvenLoad
from autopilot.domain.signals import Entry, Idle, Measured
from autopilot.domain.verbs import Verb
from tests.unit.control.levels import MINUTE, PROVEN, SHRINKS, TEMPLATE, Traffic, after, evenly, pending, serving, view_of, workload

BAD_KNOWN = LevelState(learned=(ProvenLoad(TEMPLATE, days=(DayOfLoad(0, good=10.0, bad=20.0),), seconds=5.0),))


def asked_for(level: Level) -> int | None:
    return level.move.to if isinstance(level.move, Grow) else None


def reason(level: Level) -> Reason | None:
    return level.move.reason if isinstance(level.move, Stay) else None


def test_a_fleet_that_nothing_asks_of_stays_as_it_is() -> None:
    level = advance_level(PROVEN, view_of(evenly(4, 20.0), workload(*serving(4))))

    assert (level.wanted, asked_for(level)) == (4, None)


def test_the_floor_of_an_open_remediation_is_asked_for_at_once() -> None:
    view = replace(view_of(evenly(2, 60.0), workload(*serving(2))), floor=6, remediation_open=True)

    level = advance_level(PROVEN, view)

    assert (asked_for(level), level.wanted) == (6, 6)


def test_once_bad_is_known_it_asks_at_four_fifths_of_it_before_any_symptom() -> None:
    view = replace(view_of(evenly(2, 70.0), workload(*serving(2))), latency=Truth.UNKNOWN)

    assert asked_for(advance_level(BAD_KNOWN, view)) == 5  # ceil(70 / 16)


def test_without_a_known_bad_load_alone_asks_for_nothing() -> None:
    view = replace(view_of(evenly(2, 70.0), workload(*serving(2))), latency=Truth.UNKNOWN)

    assert asked_for(advance_level(PROVEN, view)) is None


@pytest.mark.parametrize(
    ("value", "headroom", "expected"),
    [(30_000.0, 0.0, 3), (30_000.0, 0.1, 4), (5_000.0, 0.0, None)],
    ids=["exactly-three", "headroom", "covered"],
)
def test_a_demand_asks_by_what_one_replica_carries(value: float, headroom: float, expected: int | None) -> None:
    demand = Demand("prompt_token_rate", per_replica=10_000.0, over=MINUTE)
    traffic = replace(evenly(2, 10.0), more=(Entry("prompt_token_rate", MINUTE, None, Measured(value)),))
    view = replace(view_of(traffic, workload(*serving(2))), law=replace(SHRINKS, demand=(demand,), headroom=headroom))

    assert asked_for(advance_level(PROVEN, view)) == expected


def test_a_demand_that_was_partly_seen_may_still_ask() -> None:
    demand = Demand("prompt_token_rate", per_replica=10_000.0, over=MINUTE)
    traffic = replace(evenly(2, 10.0), more=(Entry("prompt_token_rate", MINUTE, None, Measured(50_000.0, partial=True)),))
    view = replace(view_of(traffic, workload(*serving(2))), law=replace(SHRINKS, demand=(demand,)))

    assert asked_for(advance_level(PROVEN, view)) == 5


def test_what_is_added_ends_at_the_maximum() -> None:
    view = replace(view_of(evenly(2, 60.0), workload(*serving(2)), bounds=Bounds(1, 4)), floor=9, remediation_open=True)

    assert asked_for(advance_level(PROVEN, view)) == 4


def test_at_the_maximum_the_reason_says_so() -> None:
    view = replace(view_of(evenly(4, 60.0), workload(*serving(4)), bounds=Bounds(1, 4)), floor=9, remediation_open=True)

    assert reason(advance_level(PROVEN, view)) is Reason.AT_BOUND


def test_a_count_found_over_the_maximum_is_kept() -> None:
    level = advance_level(PROVEN, view_of(evenly(6, 60.0), workload(*serving(6)), bounds=Bounds(1, 4)))

    assert (level.wanted, isinstance(level.move, Stay)) == (6, True)


def test_a_count_under_the_minimum_is_raised_even_while_blind() -> None:
    level = advance_level(PROVEN, view_of(None, workload(*serving(1)), bounds=Bounds(3, 8)))

    assert asked_for(level) == 3


def test_a_zero_that_another_hand_set_stays() -> None:
    view = replace(view_of(None, workload(), bounds=Bounds(2, 8)), foreign_zero=True, floor=4, remediation_open=True)

    level = advance_level(replace(PROVEN, wanted=4), view)

    assert (reason(level), level.wanted) == (Reason.OWNED_ELSEWHERE, 0)


def test_an_empty_fleet_that_nobody_emptied_is_raised_to_the_minimum() -> None:
    level = advance_level(PROVEN, view_of(None, workload(), bounds=Bounds(2, 8)))

    assert asked_for(level) == 2


def test_pending_replicas_count_towards_what_is_asked_for() -> None:
    there = workload(*serving(2), *pending("x", "y", "z"))
    view = replace(view_of(evenly(2, 60.0), there), floor=5, remediation_open=True)

    level = advance_level(PROVEN, view)

    assert (reason(level), level.wanted) == (Reason.PENDING_COVERS, 5)


def test_on_an_unknown_tick_the_gauge_repeats_its_last_value() -> None:
    level = advance_level(replace(PROVEN, wanted=6), view_of(None, workload(*serving(4))))

    assert (level.wanted, asked_for(level)) == (6, None)


def test_partial_data_asks_for_what_is_certainly_there() -> None:
    traffic = replace(evenly(2, 70.0), partial=True)
    view = replace(view_of(traffic, workload(*serving(3))), latency=Truth.UNKNOWN)

    assert asked_for(advance_level(BAD_KNOWN, view)) == 5


def test_a_policy_without_a_scale_in_law_never_shrinks() -> None:
    view = replace(view_of(evenly(4, 1.0), workload(*serving(4))), law=replace(SHRINKS, scale_in=None))

    level = after(PROVEN, view, passed=30 * MINUTE)

    assert level.move == Stay(Verb.SCALE_IN, Reason.AS_WANTED, "the policy has no scaling.in")


def test_what_a_fleet_needs_is_told_beside_what_it_wants() -> None:
    view = view_of(evenly(4, 20.0), workload(*serving(4)))

    level = after(PROVEN, view, passed=5 * MINUTE)

    assert (level.needed, level.wanted) == (2, 4)


def test_nobody_knows_what_a_blind_fleet_needs() -> None:
    level = advance_level(PROVEN, view_of(None, workload(*serving(4))))

    assert level.needed is None


def test_idle_demands_need_nothing() -> None:
    demand = Demand("prompt_token_rate", per_replica=10_000.0, over=MINUTE)
    traffic = replace(evenly(3, 0.0, finished=0.0), more=(Entry("prompt_token_rate", MINUTE, None, Idle()),))
    view = replace(view_of(traffic, workload(*serving(3))), law=replace(SHRINKS, demand=(demand,)))

    level = after(PROVEN, view, passed=10 * MINUTE)

    assert isinstance(level.move, Shrink)


def test_lasting_demand_does_not_take_a_backlog_for_load() -> None:
    backlog = Traffic({"a": 10.0, "b": 10.0}, waiting=60.0, finished=4.0, growth=-2.0)

    level = advance_level(PROVEN, view_of(backlog, workload(*serving(2))))

    assert level.needed == 2  # 1.2 x 2 arrivals x 5 s / 10, at least one, against 8 by what is in flight
