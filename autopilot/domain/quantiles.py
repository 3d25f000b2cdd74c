"""Quantiles judged on bucket counts, never on the interpolated number (which is for people's eyes).

A threshold between two edges leaves some observations undecided: they are *possibly* but not
*certainly* above it. Every function here takes the cumulative histogram of one window.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from math import ceil, exp, floor, inf, isinf, lgamma, log, log1p

from autopilot.domain.signals import Distribution, Measured, Sparse

LEAST_SLOW = 3  # observations certainly on the wrong side before a small window may say yes
LEAST_CALM = 10  # observations before a small window may say no
CONFIDENCE = 0.95  # one-sided
ROUNDING = 1e-9  # what floats lose on the way; a request is 1


@dataclass(frozen=True, slots=True)
class Share:
    """How many of `count` observations lie above a threshold: at least `certainly`, at most `possibly`."""

    count: float
    certainly: float
    possibly: float

    @property
    def certain_ratio(self) -> float:
        """The share certainly above, in [0, 1]; 0 of nothing is 0."""
        return self.certainly / self.count if self.count > 0 else 0.0

    @property
    def possible_ratio(self) -> float:
        """The share possibly above, in [0, 1]; 0 of nothing is 0."""
        return self.possibly / self.count if self.count > 0 else 0.0


def share_above(histogram: Distribution, threshold: float) -> Share:
    """Count what lies above the threshold, in the histogram's own unit."""
    count = histogram.count
    at_or_over = bisect_left(histogram.edges, threshold)  # smallest edge >= threshold
    at_or_under = bisect_right(histogram.edges, threshold) - 1  # largest edge <= threshold
    certainly = count - histogram.counts[at_or_over]
    possibly = count - (histogram.counts[at_or_under] if at_or_under >= 0 else 0.0)
    return Share(count=count, certainly=max(0.0, certainly), possibly=max(0.0, possibly))


def full_size(quantile: float) -> int:
    """How many samples a window needs for its quantile to be judged without a bound: p90 50, p99 200, p99.9 2,000.

    Raises ValueError for a quantile outside (0, 1).
    """
    if not 0.0 < quantile < 1.0:
        message = f"a quantile lies between 0 and 1, got {quantile}"
        raise ValueError(message)
    return max(50, ceil(round(2.0 / (1.0 - quantile), 6)))


def exceeds(part: float, *, count: float, share: float) -> bool:
    """Whether `part` of `count` is more than `share`; exactly as much is not.

    `1 - 0.9` is a little under 0.1 and counts come out of `increase()` as fractions: what differs by rounding is equal.
    """
    return part - share * count > ROUNDING * max(count, 1.0)


def surely_exceeds(*, hits: float, count: float, share: float) -> bool:
    """Whether the one-sided 95 % lower bound of hits/count lies over `share`, which is in (0, 1).

    Exact (Clopper-Pearson): the bound lies over `share` when so many hits or more would come up with
    less than 5 % probability if the true share were `share`. Fractions of counts are rounded so that
    it becomes harder to say yes.
    """
    n = ceil(count - ROUNDING)
    k = min(floor(hits + ROUNDING), n)
    if k <= n * share:  # at or under the mean the probability of so many or more is near a half
        return False
    # Logarithms: the binomial coefficients of a large window do not fit a float.
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    term = exp(ways + k * log(share) + (n - k) * log1p(-share))
    probability = term
    for i in range(k, n):  # over the mean the terms fall, so the sum ends where they no longer count
        term *= (n - i) / (i + 1) * share / (1.0 - share)
        probability += term
        if term < ROUNDING * probability:
            break
    return probability < 1.0 - CONFIDENCE - ROUNDING


def estimate(histogram: Distribution, quantile: float) -> Measured | Sparse:
    """The interpolated quantile for people's eyes, as Prometheus's `histogram_quantile` computes it.

    Over the top finite edge the value is that edge, and to be read as "at least" (see `at_least`).
    `Sparse` when the window is smaller than `full_size`, or there is no finite edge at all.
    """
    count = histogram.count
    low, high = _bracket(histogram, quantile)
    if count < full_size(quantile) or len(histogram.edges) == 1:
        return Sparse(count=count, low=low, high=high)
    return Measured(value=interpolate(histogram, quantile), count=count, partial=histogram.partial)


def at_least(histogram: Distribution, quantile: float) -> bool:
    """Whether the quantile lies over the top finite edge, so that its estimate is only a lower bound."""
    return isinf(_bracket(histogram, quantile)[1])


def interpolate(histogram: Distribution, quantile: float) -> float:
    """`histogram_quantile(quantile, histogram)` of Prometheus; NaN when there are no observations."""
    if histogram.count <= 0:
        return float("nan")
    rank = quantile * histogram.count
    index = bisect_left(histogram.counts, rank)
    if index >= len(histogram.edges) - 1:
        return histogram.edges[-2] if len(histogram.edges) > 1 else float("nan")
    upper = histogram.edges[index]
    lower, below = (histogram.edges[index - 1], histogram.counts[index - 1]) if index else (0.0, 0.0)
    if index == 0 and upper <= 0:
        return upper
    inside = histogram.counts[index] - below
    return lower + (upper - lower) * ((rank - below) / inside) if inside > 0 else upper


def _bracket(histogram: Distribution, quantile: float) -> tuple[float, float]:
    """The edges between which the quantile lies. Under the first edge observations are taken not to be negative."""
    if histogram.count <= 0:
        return 0.0, inf
    index = min(bisect_left(histogram.counts, quantile * histogram.count), len(histogram.edges) - 1)
    upper = histogram.edges[index]
    return (histogram.edges[index - 1] if index else min(0.0, upper)), upper
