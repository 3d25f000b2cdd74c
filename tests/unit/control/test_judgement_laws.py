"""Laws of judgement over any condition and any readings."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from autopilot.control.judgement import Look, judge
from autopilot.domain.conditions import AnyOf, Comparison, Condition, Leaf, Not, Truth
from autopilot.domain.signals import Distribution, Gap, Measured, Reading, Readings, Unknown
from tests.unit.control.looks import MINUTE, NOON, SLOW, seeing
from tests.unit.domain.strategies import (
    EITHER,
    PARTIAL,
    REPLICAS,
    WHOLE,
    conditions,
    distributions,
    looks_at_everything,
    quantiles,
    thresholds,
)

RANK = {Truth.NO: 0, Truth.UNKNOWN: 1, Truth.YES: 2}
sizes = st.one_of(st.none(), st.integers(1, 100))
sides = st.sampled_from(list(Comparison))


def look(readings: Readings) -> Look:
    return Look(readings, NOON, replicas=REPLICAS)


@given(window=distributions(), low=thresholds, high=thresholds, quantile=quantiles, size=sizes)
def test_raising_a_threshold_never_makes_a_no_a_yes(
    window: Distribution, low: float, high: float, quantile: float, size: int | None
) -> None:
    leaf = Leaf("ttft", Comparison.ABOVE, min(low, high), over=MINUTE, quantile=quantile, min_samples=size)
    lower = judge(leaf, seeing(window)).truth
    higher = judge(replace(leaf, threshold=max(low, high)), seeing(window)).truth

    assert RANK[higher] <= RANK[lower]


@given(window=distributions(), more=st.integers(1, 300), threshold=thresholds, quantile=quantiles, size=sizes)
def test_more_slow_requests_never_make_a_yes_a_no_or_unknown(
    window: Distribution, more: int, threshold: float, quantile: float, size: int | None
) -> None:
    leaf = Leaf("ttft", Comparison.ABOVE, threshold, over=MINUTE, quantile=quantile, min_samples=size)
    slower = replace(window, counts=(*window.counts[:-1], window.counts[-1] + more))
    before, after = judge(leaf, seeing(window)).truth, judge(leaf, seeing(slower)).truth

    certainly_slow = len(window.edges) > 1 and threshold <= window.edges[-2]
    assert before is not Truth.YES or not certainly_slow or after is Truth.YES
    assert before is not Truth.YES or after is not Truth.NO


@given(window=distributions(), threshold=thresholds, quantile=quantiles, size=sizes, side=sides)
def test_the_two_sides_of_a_quantile_are_never_both_true(
    window: Distribution, threshold: float, quantile: float, size: int | None, side: Comparison
) -> None:
    leaf = Leaf("ttft", side, threshold, over=MINUTE, quantile=quantile, min_samples=size)
    other = Comparison.BELOW if side is Comparison.ABOVE else Comparison.ABOVE
    truths = {judge(leaf, seeing(window)).truth, judge(replace(leaf, comparison=other), seeing(window)).truth}

    assert truths != {Truth.YES}


@given(condition=conditions, readings=looks_at_everything(partial=PARTIAL))
def test_partial_data_never_says_no_unless_something_is_idle(condition: Condition, readings: Readings) -> None:
    busy = Readings(tuple(replace(entry, reading=_busy(entry.reading)) for entry in readings.entries))

    assert judge(condition, look(busy)).truth is not Truth.NO


@given(condition=conditions, readings=looks_at_everything(partial=EITHER))
def test_a_no_rests_on_whole_data_alone(condition: Condition, readings: Readings) -> None:
    """What was partial could as well be missing: a no stays a no."""
    without = Readings(tuple(replace(entry, reading=_whole_or_nothing(entry.reading)) for entry in readings.entries))

    assert judge(condition, look(readings)).truth is not Truth.NO or judge(condition, look(without)).truth is Truth.NO


@given(condition=conditions, readings=looks_at_everything(partial=EITHER))
def test_a_yes_that_is_not_called_partial_rests_on_whole_data(condition: Condition, readings: Readings) -> None:
    without = Readings(tuple(replace(entry, reading=_whole_or_nothing(entry.reading)) for entry in readings.entries))
    judgement = judge(condition, look(readings))

    assert judgement.truth is not Truth.YES or judgement.partial or judge(condition, look(without)).truth is Truth.YES


@given(condition=conditions, readings=looks_at_everything(partial=WHOLE), hidden=st.integers(0, 8))
def test_losing_a_reading_never_turns_a_truth_into_its_opposite(condition: Condition, readings: Readings, hidden: int) -> None:
    entries = [replace(entry, reading=Unknown(Gap.STALE)) if number == hidden else entry for number, entry in enumerate(readings.entries)]
    before, after = judge(condition, look(readings)).truth, judge(condition, look(Readings(tuple(entries)))).truth

    assert after in (before, Truth.UNKNOWN)


@given(condition=conditions, readings=looks_at_everything(partial=WHOLE))
def test_not_is_its_own_inverse_and_excluded_middle_is_never_no(condition: Condition, readings: Readings) -> None:
    judged = judge(condition, look(readings)).truth

    assert judge(Not(Not(condition)), look(readings)).truth is judged
    assert judge(Not(condition), look(readings)).truth is judged.negated()
    assert judge(AnyOf((condition, Not(condition))), look(readings)).truth is not Truth.NO


@given(condition=conditions, readings=looks_at_everything(partial=EITHER))
def test_only_an_unknown_is_undecided(condition: Condition, readings: Readings) -> None:
    judgement = judge(condition, look(readings))

    assert not judgement.undecided or judgement.truth is Truth.UNKNOWN


@given(window=distributions(partial=EITHER), minutes=st.integers(0, 20), size=sizes)
def test_calm_only_turns_an_unknown_into_a_no(window: Distribution, minutes: int, size: int | None) -> None:
    leaf = replace(SLOW, min_samples=size)
    fresh = judge(leaf, seeing(window)).truth
    rested = judge(leaf, seeing(window, calm=((0, NOON - minutes * MINUTE),))).truth

    assert rested is fresh or (fresh is Truth.UNKNOWN and rested is Truth.NO and minutes >= 10)


def _busy(reading: Reading) -> Reading:
    return reading if isinstance(reading, Distribution | Measured) else Unknown(Gap.STALE)


def _whole_or_nothing(reading: Reading) -> Reading:
    partial = isinstance(reading, Distribution | Measured) and reading.partial
    return Unknown(Gap.STALE) if partial else reading
