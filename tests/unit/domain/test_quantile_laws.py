"""Laws of quantiles over any histogram."""

from math import comb, inf, nextafter

from hypothesis import assume, given
from hypothesis import strategies as st

from autopilot.domain.quantiles import estimate, exceeds, share_above, surely_exceeds
from autopilot.domain.signals import Distribution, Measured, Sparse
from tests.unit.domain.strategies import distributions, quantiles, thresholds


@given(histogram=distributions(), threshold=thresholds)
def test_what_is_certainly_above_is_possibly_above(histogram: Distribution, threshold: float) -> None:
    share = share_above(histogram, threshold)

    assert 0.0 <= share.certainly <= share.possibly <= share.count


@given(histogram=distributions(), low=thresholds, high=thresholds)
def test_fewer_lie_above_a_higher_threshold(histogram: Distribution, low: float, high: float) -> None:
    low, high = min(low, high), max(low, high)
    lower, higher = share_above(histogram, low), share_above(histogram, high)

    assert (higher.certainly, higher.possibly) <= (lower.certainly, lower.possibly)
    assert higher.possibly <= lower.possibly


@given(histogram=distributions(), quantile=quantiles)
def test_an_estimate_never_lies_outside_its_bracket(histogram: Distribution, quantile: float) -> None:
    rank = quantile * histogram.count
    below = [edge for edge, count in zip(histogram.edges, histogram.counts, strict=True) if count < rank]
    low = max(below, default=0.0)
    high = min((edge for edge in histogram.edges if edge > low and edge not in below), default=inf)
    match estimate(histogram, quantile):
        case Measured(value=value):
            # one rounding of the interpolation is not outside
            assert low <= value <= nextafter(high, inf)
        case Sparse(low=sparse_low, high=sparse_high):
            assert 0.0 <= sparse_low < sparse_high


@given(count=st.integers(1, 150), share=st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.5, 0.9]), data=st.data())
def test_the_bound_agrees_with_the_sum_written_out(count: int, share: float, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, count))
    tail = sum(comb(count, i) * share**i * (1.0 - share) ** (count - i) for i in range(hits, count + 1))
    assume(abs(tail - 0.05) > 1e-6)

    assert surely_exceeds(hits=hits, count=count, share=share) is (tail < 0.05)


@given(count=st.integers(1, 3000), share=st.sampled_from([0.001, 0.01, 0.1, 0.5]), data=st.data())
def test_what_surely_exceeds_exceeds_and_one_more_hit_changes_nothing(count: int, share: float, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, count))
    sure = surely_exceeds(hits=hits, count=count, share=share)

    assert not sure or exceeds(hits, count=count, share=share)
    assert not sure or surely_exceeds(hits=hits + 1, count=count + 1, share=share)
