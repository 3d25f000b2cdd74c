"""The laws of error budgets."""

from datetime import timedelta
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autopilot.domain.signals import Distribution
from autopilot.domain.slos import Between, Tally, alert_pairs, budget_left, burn_rate, burn_rates, burns, may_burn, tally

OBJECTIVES = st.floats(0.5, 0.9999)
COUNTS = st.integers(0, 10_000)


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    certainly, undecided, good = draw(COUNTS), draw(COUNTS), draw(COUNTS)
    return Tally(float(certainly + undecided + good), float(certainly), float(certainly + undecided))


def rates(counted: Tally, objective: float) -> Between:
    found = burn_rates(counted, objective)
    assert found is not None
    return found


@given(st.floats(0, 1), st.floats(0, 1), OBJECTIVES)
def test_the_more_is_bad_the_faster_the_budget_burns(one: float, other: float, objective: float) -> None:
    low, high = sorted([one, other])

    assert burn_rate(low, objective) <= burn_rate(high, objective)


@given(tallies(), st.integers(1, 10_000), OBJECTIVES)
def test_turning_requests_away_never_slows_the_burning(counted: Tally, turned_away: int, objective: float) -> None:
    after = rates(counted.with_bad(turned_away), objective)
    before = burn_rates(counted, objective) or Between(0.0, 0.0)

    assert after.low >= before.low * (1 - 1e-12)
    assert after.high >= before.high * (1 - 1e-12)


@given(st.integers(1, 10_000), OBJECTIVES)
def test_when_all_are_turned_away_all_are_bad(turned_away: int, objective: float) -> None:
    burning = rates(Tally(0.0, 0.0, 0.0).with_bad(turned_away), objective)

    assert (burning.low, burning.high) == pytest.approx((1.0 / (1.0 - objective),) * 2)


@given(st.integers(1, 10_000), st.integers(0, 10_000), OBJECTIVES)
def test_what_is_left_and_what_was_spent_are_the_whole_budget(good: int, bad: int, objective: float) -> None:
    counted = Tally(float(good + bad), float(bad), float(bad))
    left = budget_left(counted, objective)

    assert left is not None
    assert left.low + rates(counted, objective).high == pytest.approx(1.0, abs=1e-6)
    assert (left.low < 0) == burns_at_all(counted, objective)


def burns_at_all(counted: Tally, objective: float) -> bool:
    return counted.certainly / counted.total / (1.0 - objective) > 1.0


@given(tallies(), OBJECTIVES, st.floats(0.1, 100))
def test_a_verdict_holds_for_every_reading_of_the_undecided(counted: Tally, objective: float, above: float) -> None:
    verdict = burns(counted, objective, above=above)
    readings = [Tally(counted.total, bad, bad) for bad in (counted.certainly, counted.possibly)]

    assert verdict is None or {burns(one, objective, above=above) for one in readings} == {verdict}
    assert may_burn(counted, objective, above=above) or verdict is not True


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        (Tally(0, 0, 0), None),
        (Tally(100, 15, 15), True),
        (Tally(100, 14, 14), False),
        (Tally(1000, 100, 200), None),
        (Tally(10, 2, 2), None),
        (Tally(10, 1, 1), False),
        (Tally(1, 0, 0), False),
    ],
    ids=["nobody-came", "above", "at-most-so-fast", "undecided", "two-slow-are-no-trend", "one-of-ten", "one-good"],
)
def test_a_budget_burns_faster_than(counted: Tally, expected: bool | None) -> None:
    assert burns(counted, 0.99, above=14.4) is expected


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(0.5, Tally(100, 10, 10)), (0.7, Tally(100, 4, 10)), (2.0, Tally(100, 0, 4)), (0.1, Tally(100, 30, 100))],
    ids=["an-edge", "between-two-edges", "above-the-highest", "below-the-lowest"],
)
def test_bad_is_what_lies_above_the_threshold(threshold: float, expected: Tally) -> None:
    assert tally(Distribution((0.25, 0.5, 1.0, inf), (70, 90, 96, 100)), threshold) == expected


def test_nothing_of_nothing_is_no_burn_rate() -> None:
    assert burn_rates(Tally(0, 0, 0), 0.99) is None
    assert budget_left(Tally(0, 0, 0), 0.99) is None


@pytest.mark.parametrize("objective", [1.0, 1.5, -0.1])
def test_an_objective_without_a_budget_has_no_burn_rate(objective: float) -> None:
    with pytest.raises(ValueError, match="budget"):
        burn_rate(0.1, objective)


@pytest.mark.parametrize("counts", [(10, 11, 11), (10, 5, 4), (10, -1, 4)])
def test_what_cannot_have_been_counted_is_refused(counts: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="bad"):
        Tally(*counts)


@pytest.mark.parametrize(("days", "expected"), [(30, [14.4, 6.0, 3.0, 1.0]), (28, [13.44, 5.6, 2.8, 0.9333])])
def test_the_pairs_are_googles_for_the_window(days: int, expected: list[float]) -> None:
    assert [pair.above for pair in alert_pairs(timedelta(days=days))] == pytest.approx(expected, rel=1e-4)
