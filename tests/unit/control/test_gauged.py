from dataclasses import replace
from math import nan

import pytest

from autopilot.control.judgement import gauge_symptoms
from autopilot.domain.conditions import All, Comparison, Leaf, Per
from autopilot.domain.remediations import Gauged
from autopilot.domain.signals import Gap, Idle, Measured, Reading, Readings, Unknown
from tests.unit.control.looks import MINUTE, QUEUED, SLOW, by_replica, readings, times

STARVED = Leaf("bandwidth_utilization", Comparison.BELOW, 0.6, over=MINUTE)


@pytest.mark.parametrize(
    ("reading", "share", "mean"),
    [
        (times(60, 20, 20, total=50.0), 0.2, 0.5),
        (times(60, 20, 20), 0.2, None),
        (times(60, 20, 20, total=50.0, partial=True), 0.2, 0.5),
        (times(), None, None),
        (Idle(), None, None),
        (Unknown(Gap.STALE), None, None),
    ],
    ids=["share-and-mean", "no-sum-no-mean", "partial", "empty", "idle", "unknown"],
)
def test_a_histogram_is_gauged_by_share_and_mean(reading: Reading, share: float | None, mean: float | None) -> None:
    assert gauge_symptoms(SLOW, readings(ttft=reading)) == Gauged((share,), (mean,))


@pytest.mark.parametrize(("value", "mean"), [(3.0, 3.0), (0.0, 0.0), (nan, None)], ids=["a-number", "zero", "not-a-number"])
def test_a_gauge_is_gauged_by_its_value(value: float, mean: float | None) -> None:
    assert gauge_symptoms(QUEUED, readings(over=None, waiting=Measured(value))) == Gauged((None,), (mean,))


def test_only_symptoms_are_gauged_in_reading_order() -> None:
    seen = Readings((*readings(ttft=times(60, 20, 20, total=50.0)).entries, *readings(over=None, waiting=Measured(7.0)).entries))

    assert gauge_symptoms(All((QUEUED, STARVED, SLOW)), seen) == Gauged((None, 0.2), (7.0, 0.5))


@pytest.mark.parametrize(
    ("a", "b", "share", "mean"),
    [
        (times(60, 20, 20, total=50.0), times(90, 0, 10, total=90.0), 0.2, 0.9),
        (times(60, 20, 20, total=50.0), Unknown(Gap.STALE), None, None),
        (times(60, 20, 20, total=50.0), Idle(), 0.2, 0.5),
        (Idle(), Idle(), None, None),
    ],
    ids=["the-worst", "one-unknown", "one-idle", "all-idle"],
)
def test_per_replica_the_worst_counts(a: Reading, b: Reading, share: float | None, mean: float | None) -> None:
    assert gauge_symptoms(replace(SLOW, per=Per.REPLICA), by_replica("ttft", a=a, b=b)) == Gauged((share,), (mean,))


def test_below_counts_the_other_side_and_compares_no_mean() -> None:
    fast = replace(SLOW, comparison=Comparison.BELOW)

    assert gauge_symptoms(fast, readings(ttft=times(60, 20, 20, total=50.0))) == Gauged((0.8,), (None,))
