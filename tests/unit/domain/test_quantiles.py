from math import inf, isnan

import pytest

from autopilot.domain.quantiles import Share, at_least, estimate, exceeds, full_size, interpolate, share_above, surely_exceeds
from autopilot.domain.signals import Distribution, Measured, Sparse

EDGES = (0.25, 0.5, 1.0, inf)


@pytest.mark.parametrize(
    ("threshold", "certainly", "possibly"),
    [
        (0.1, 60.0, 100.0),
        (0.25, 60.0, 60.0),
        (0.3, 30.0, 60.0),
        (0.5, 30.0, 30.0),
        (1.0, 10.0, 10.0),
        (2.0, 0.0, 10.0),
        (inf, 0.0, 0.0),
    ],
    ids=[
        "under-the-first-edge",
        "on-the-first-edge",
        "between-two-edges",
        "on-an-edge",
        "on-the-top-edge",
        "over-the-top-edge",
        "infinite",
    ],
)
def test_what_lies_between_two_edges_is_only_possibly_above(threshold: float, certainly: float, possibly: float) -> None:
    histogram = Distribution(EDGES, (40.0, 70.0, 90.0, 100.0))

    assert share_above(histogram, threshold) == Share(100.0, certainly, possibly)


def test_the_share_of_no_observations_is_zero() -> None:
    share = share_above(Distribution(EDGES, (0.0, 0.0, 0.0, 0.0)), 0.3)

    assert (share.certain_ratio, share.possible_ratio) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("quantile", "samples"),
    [(0.5, 50), (0.9, 50), (0.95, 50), (0.96, 50), (0.98, 100), (0.99, 200), (0.999, 2000)],
)
def test_a_window_is_full_when_two_observations_may_lie_over_the_quantile(quantile: float, samples: int) -> None:
    assert full_size(quantile) == samples


@pytest.mark.parametrize("quantile", [0.0, 1.0, 99.0, -0.5])
def test_a_quantile_outside_zero_and_one_has_no_size(quantile: float) -> None:
    with pytest.raises(ValueError, match="quantile"):
        full_size(quantile)


@pytest.mark.parametrize(
    ("part", "count", "quantile", "expected"),
    [(5.0, 50.0, 0.9, False), (6.0, 50.0, 0.9, True), (2.0, 200.0, 0.99, False), (3.0, 200.0, 0.99, True), (0.0, 0.0, 0.9, False)],
    ids=["just-a-tenth", "over-a-tenth", "just-a-hundredth", "over-a-hundredth", "nothing"],
)
def test_exactly_the_allowed_share_does_not_exceed_it(part: float, count: float, quantile: float, *, expected: bool) -> None:
    assert exceeds(part, count=count, share=1.0 - quantile) is expected


@pytest.mark.parametrize(
    ("hits", "count", "share", "expected"),
    [
        (2, 5, 0.1, False),  # P(X >= 2) = 0.0815
        (3, 5, 0.1, True),  # P(X >= 3) = 0.0086
        (3, 9, 0.1, False),  # P(X >= 3) = 0.0530
        (3, 8, 0.1, True),  # P(X >= 3) = 0.0381
        (3, 83, 0.01, False),  # P(X >= 3) = 0.0509
        (3, 82, 0.01, True),  # P(X >= 3) = 0.0495
        (0, 0, 0.01, False),
        (0, 10, 0.01, False),
        (2.9, 3.0, 0.1, True),  # two of three: P(X >= 2) = 0.028
        (300, 1999, 0.001, True),
        (1400, 3000, 0.5, False),
        (1700, 3000, 0.5, True),
    ],
)
def test_the_bound_is_clopper_and_pearsons(hits: float, count: float, share: float, *, expected: bool) -> None:
    assert surely_exceeds(hits=hits, count=count, share=share) is expected


def test_no_window_is_too_large_for_the_bound() -> None:
    assert surely_exceeds(hits=400_000.0, count=1_000_000.0, share=0.1) is True


@pytest.mark.parametrize(
    ("quantile", "value"),
    [(0.2, 0.125), (0.4, 0.25), (0.55, 0.375), (0.9, 1.0), (0.95, 1.0)],
    ids=["first-bucket", "on-an-edge", "second-bucket", "top-finite-edge", "over-the-top-finite-edge"],
)
def test_a_quantile_is_interpolated_as_prometheus_does(quantile: float, value: float) -> None:
    assert interpolate(Distribution(EDGES, (40.0, 70.0, 90.0, 100.0)), quantile) == pytest.approx(value)


@pytest.mark.parametrize(
    "histogram",
    [Distribution(EDGES, (0.0, 0.0, 0.0, 0.0)), Distribution((inf,), (100.0,))],
    ids=["no-observations", "no-finite-edge"],
)
def test_what_prometheus_gives_no_number_for_has_none_here(histogram: Distribution) -> None:
    assert isnan(interpolate(histogram, 0.5))


def test_two_requests_are_too_few_for_a_number() -> None:
    """T7 A."""
    histogram = Distribution((0.5, 1.0, 10.0, inf), (1.0, 1.0, 1.0, 2.0))

    assert estimate(histogram, 0.99) == Sparse(count=2.0, low=10.0, high=inf)


def test_three_percent_over_the_top_edge_read_at_least_that_edge() -> None:
    """T7 B."""
    histogram = Distribution((0.5, 1.0, 10.0, inf), (400.0, 450.0, 485.0, 500.0))

    assert estimate(histogram, 0.99) == Measured(value=10.0, count=500.0)
    assert at_least(histogram, 0.99)


def test_a_quantile_under_the_top_edge_is_not_a_lower_bound() -> None:
    assert not at_least(Distribution((0.5, 1.0, 10.0, inf), (400.0, 450.0, 499.0, 500.0)), 0.99)


def test_an_estimate_says_that_data_was_missing() -> None:
    found = estimate(Distribution(EDGES, (40.0, 70.0, 90.0, 100.0), partial=True), 0.9)

    assert found == Measured(value=1.0, count=100.0, partial=True)


def test_a_histogram_without_a_finite_edge_has_no_number() -> None:
    assert estimate(Distribution((inf,), (500.0,)), 0.5) == Sparse(count=500.0, low=0.0, high=inf)


@pytest.mark.parametrize(
    "counts",
    [(float("nan"), float("nan")), (-1.0, 5.0), (5.0, inf)],
    ids=["nan", "negative", "infinite"],
)
def test_what_counts_nothing_is_no_histogram(counts: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="counts"):
        Distribution((1.0, inf), counts)
