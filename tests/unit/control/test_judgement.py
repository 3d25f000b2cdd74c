from dataclasses import replace
from math import inf, nan

import pytest

from autopilot.control.judgement import Judgement, Look, judge
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Comparison, Condition, Leaf, Not, Per, Truth
from autopilot.domain.signals import Entry, Gap, Idle, Measured, Reading, Readings, Unknown
from tests.unit.control.looks import MINUTE, NOON, QUEUED, SLOW, by_replica, readings, times

YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN
STARVED = Leaf("bandwidth_utilization", Comparison.BELOW, 0.6, over=MINUTE)
EMPTY = Look(Readings(), NOON)


def queued(reading: Reading, *, firing: bool = False) -> Look:
    return Look(readings(over=None, waiting=reading), NOON, firing=firing)


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Measured(1.5), Judgement(YES)),
        (Measured(1.0), Judgement(NO)),
        (Measured(0.0), Judgement(NO)),
        (Measured(1.5, partial=True), Judgement(YES, partial=True)),
        (Measured(0.5, partial=True), Judgement(UNKNOWN, partial=True)),
        (Idle(), Judgement(NO)),
        (Unknown(Gap.LATE), Judgement(UNKNOWN)),
        (Measured(nan), Judgement(UNKNOWN)),
        (Measured(inf), Judgement(UNKNOWN)),
        (times(0, 0, 0, 500), Judgement(UNKNOWN)),
    ],
    ids=[
        "above",
        "exactly-at-the-threshold",
        "below",
        "partial-may-say-yes",
        "partial-never-says-no",
        "idle-is-no",
        "unknown",
        "not-a-number",
        "infinite",
        "a-histogram-where-a-number-was-meant",
    ],
)
def test_a_number_is_compared(reading: Reading, expected: Judgement) -> None:
    assert judge(QUEUED, queued(reading)) == expected


@pytest.mark.parametrize(
    ("reading", "expected"),
    [(Measured(0.59), YES), (Measured(0.6), NO), (Measured(0.9), NO), (Idle(), NO)],
    ids=["below", "exactly-at-the-threshold", "above", "idle-is-no-on-this-side-too"],
)
def test_below_is_the_other_side(reading: Reading, expected: Truth) -> None:
    assert judge(STARVED, Look(readings(bandwidth_utilization=reading), NOON)).truth is expected


@pytest.mark.parametrize(
    ("firing", "value", "expected"),
    [(False, 1.5, NO), (False, 2.5, YES), (True, 1.5, YES), (True, 1.0, NO)],
    ids=["below-the-threshold", "above-it", "firing-until-clear-is-reached", "clear"],
)
def test_a_firing_alert_ends_at_the_level_called_clear(*, firing: bool, value: float, expected: Truth) -> None:
    leaf = replace(QUEUED, threshold=2.0, clear=1.0)

    assert judge(leaf, queued(Measured(value), firing=firing)).truth is expected


@pytest.mark.parametrize(
    ("on_unknown", "reading", "expected"),
    [
        (YES, Unknown(Gap.ABSENT), YES),
        (NO, Unknown(Gap.ABSENT), NO),
        (None, Unknown(Gap.ABSENT), UNKNOWN),
        (YES, times(5), UNKNOWN),
        (YES, times(0, 0, 500), NO),
        (NO, times(0, 500), UNKNOWN),
        (YES, times(500, partial=True), UNKNOWN),
        (YES, Idle(), NO),
    ],
    ids=[
        "taken-for-yes",
        "taken-for-no",
        "hold",
        "not-when-sparse",
        "not-when-known",
        "not-when-undecided",
        "not-when-partial",
        "not-idle",
    ],
)
def test_on_unknown_speaks_for_an_absent_source_alone(on_unknown: Truth | None, reading: Reading, expected: Truth) -> None:
    leaf = Leaf("ttft", Comparison.ABOVE, 0.3 if on_unknown is NO else 1.0, over=MINUTE, quantile=0.99, on_unknown=on_unknown)

    assert judge(leaf, Look(readings(ttft=reading), NOON)).truth is expected


def test_a_signal_that_nobody_read_is_unknown_and_blind() -> None:
    assert judge(QUEUED, EMPTY) == Judgement(UNKNOWN, undecided=False)


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Measured(1.0), Judgement(YES)),
        (Measured(1.0, partial=True), Judgement(YES, partial=True)),
        (Measured(0.0), Judgement(NO)),
        (Measured(0.0, partial=True), Judgement(UNKNOWN, partial=True)),
        (Unknown(Gap.ABSENT), Judgement(UNKNOWN)),
    ],
    ids=["shown", "shown-in-part", "not-shown", "not-shown-in-part", "not-known"],
)
def test_an_alert_of_another_evaluator_is_judged_by_what_its_source_shows(reading: Reading, expected: Judgement) -> None:
    look = Look(Readings((Entry("alertmanager:GpuLost", None, None, reading),)), NOON)

    assert judge(AlertmanagerLeaf("GpuLost"), look) == expected


@pytest.mark.parametrize("leaf", [AlertmanagerLeaf("Slow"), BurnRateLeaf("first-token", 14.4, MINUTE)], ids=lambda leaf: leaf.kind)
def test_a_leaf_without_a_source_yet_is_unknown(leaf: Condition) -> None:
    assert judge(leaf, EMPTY) == Judgement(UNKNOWN)


@pytest.mark.parametrize(
    ("waiting", "bandwidth", "both", "either"),
    [
        (Measured(5.0), Measured(0.3), YES, YES),
        (Measured(5.0), Measured(0.9), NO, YES),
        (Measured(5.0), Unknown(Gap.STALE), UNKNOWN, YES),
        (Measured(0.0), Unknown(Gap.STALE), NO, UNKNOWN),
        (Measured(0.0), Measured(0.9), NO, NO),
    ],
    ids=["yes-yes", "yes-no", "yes-unknown", "no-unknown", "no-no"],
)
def test_all_and_any_are_three_valued(waiting: Reading, bandwidth: Reading, both: Truth, either: Truth) -> None:
    look = Look(readings(over=MINUTE, waiting=waiting, bandwidth_utilization=bandwidth), NOON)
    parts = (replace(QUEUED, over=MINUTE), STARVED)

    assert (judge(All(parts), look).truth, judge(AnyOf(parts), look).truth) == (both, either)


def test_nothing_to_look_at_is_unknown_and_not_a_yes() -> None:
    assert (judge(All(()), EMPTY).truth, judge(AnyOf(()), EMPTY).truth) == (UNKNOWN, UNKNOWN)


def test_an_absent_bandwidth_leaves_the_layer_above_it_to_decide() -> None:
    """T8 A."""
    layered = All((SLOW, replace(STARVED, on_unknown=YES)))
    look = Look(readings(ttft=times(300, 100, 100), bandwidth_utilization=Unknown(Gap.MISSHAPEN)), NOON)

    assert judge(layered, look) == Judgement(YES)


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        (Not(QUEUED), 5.0, Judgement(UNKNOWN, partial=True)),
        (Not(QUEUED), 0.0, Judgement(UNKNOWN, partial=True)),
        (Not(Not(QUEUED)), 5.0, Judgement(YES, partial=True)),
        (All((Not(QUEUED), Not(QUEUED))), 5.0, Judgement(UNKNOWN, partial=True)),
        (Not(All((Not(QUEUED), Not(QUEUED)))), 5.0, Judgement(YES, partial=True)),
    ],
    ids=["inverted-yes", "inverted-unknown", "twice-inverted-yes", "all-of-inverted-yes", "none-of-inverted-yes"],
)
def test_partial_data_never_says_no_under_not_either(condition: Condition, value: float, expected: Judgement) -> None:
    assert judge(condition, queued(Measured(value, partial=True))) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (AnyOf((QUEUED, STARVED)), Judgement(YES)),
        (All((QUEUED, STARVED)), Judgement(YES, partial=True)),
        (All((Not(QUEUED), Not(STARVED))), Judgement(NO)),
        (AnyOf((Not(QUEUED), Not(STARVED))), Judgement(UNKNOWN, partial=True)),
    ],
    ids=["one-whole-yes-is-enough", "all-need-each", "one-whole-no-is-enough", "none-needs-each"],
)
def test_one_part_without_gaps_is_enough_where_one_part_decides(condition: Condition, expected: Judgement) -> None:
    seen = (*readings(over=None, waiting=Measured(5.0, partial=True)).entries, *readings(bandwidth_utilization=Measured(0.3)).entries)

    assert judge(condition, Look(Readings(seen), NOON)) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (Measured(5.0), Measured(0.0), YES),
        (Measured(0.0), Measured(0.0), NO),
        (Measured(5.0), Unknown(Gap.STALE), YES),
        (Measured(0.0), Unknown(Gap.STALE), UNKNOWN),
        (Measured(0.0), Measured(0.0, partial=True), UNKNOWN),
        (Idle(), Measured(0.0), NO),
    ],
    ids=["one-is", "none-is", "one-is-one-silent", "one-silent", "one-partial", "one-idle"],
)
def test_per_replica_is_yes_for_any_and_no_for_all(a: Reading, b: Reading, expected: Truth) -> None:
    leaf = replace(QUEUED, per=Per.REPLICA)

    assert judge(leaf, Look(by_replica("waiting", over=None, a=a, b=b), NOON, replicas=("a", "b"))).truth is expected


def test_a_replica_that_does_not_report_is_unknown() -> None:
    leaf = replace(QUEUED, per=Per.REPLICA)

    assert judge(leaf, Look(by_replica("waiting", over=None, a=Measured(0.0)), NOON, replicas=("a", "b"))) == Judgement(UNKNOWN)


def test_a_fleet_without_replicas_is_unknown_and_not_well() -> None:
    assert judge(replace(QUEUED, per=Per.REPLICA), EMPTY) == Judgement(UNKNOWN)


def test_a_replica_that_is_gone_does_not_count() -> None:
    leaf = replace(QUEUED, per=Per.REPLICA)
    seen = by_replica("waiting", over=None, a=Measured(0.0), ghost=Measured(9.0))

    assert judge(leaf, Look(seen, NOON, replicas=("a",))) == Judgement(NO)


def test_an_unknown_beside_an_undecided_part_is_blind() -> None:
    look = Look(readings(ttft=times(5)), NOON)

    assert judge(SLOW, look).undecided
    assert not judge(All((SLOW, QUEUED)), look).undecided
