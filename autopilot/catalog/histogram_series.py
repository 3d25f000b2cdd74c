"""One histogram of a fleet, whatever form each replica exports it in: buckets by `le`, or a native histogram.

A count at or under an edge is known at every edge of a form, and between two edges that have the same count: a native
histogram leaves out its empty buckets and loses nothing by it. The fleet's counts are summed where both forms know theirs.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from math import inf, isfinite

from autopilot.catalog.histograms import NOISE, distribution
from autopilot.domain.samples import NativeBucket, NativeSample
from autopilot.domain.signals import Distribution, Gap, Unknown


@dataclass(frozen=True, slots=True)
class Forms:
    """A fleet's histogram as it is exported: classic rows by `le` with their uneven edges, and the native one."""

    rows: Mapping[str, float]
    uneven: Mapping[str, float]
    native: NativeSample | None = None


def histogram(found: Forms, *, total: float | None, partial: bool) -> Distribution | Unknown:
    """The fleet's histogram, or why there is none. `total` is the sum of what the classic replicas observed, None if not known."""
    classic = distribution(found.rows, found.uneven, total=total, partial=partial) if found.rows else None
    if found.native is None:
        return classic or Unknown(Gap.ABSENT, "no buckets")
    native = native_distribution(found.native)
    if isinstance(native, Unknown):
        return native
    native = replace(native, total=_sum(native.total, total), partial=partial)
    match classic:
        case None:
            return native
        case Unknown():
            return classic
        case Distribution():
            return _joined(classic, native)


def native_distribution(native: NativeSample) -> Distribution | Unknown:
    """The counts at every edge of a bucket that is not empty."""
    buckets = sorted(bucket for bucket in native.buckets if bucket.held != 0)
    if not isfinite(native.observations) or native.observations < 0 or not all(0 < bucket.held < inf for bucket in buckets):
        return Unknown(Gap.NON_FINITE, "a native histogram without a number of observations")
    if not _ascends(buckets):
        return Unknown(Gap.MISSHAPEN, "the buckets of a native histogram overlap, or hold what is under 0")
    found: dict[float, float] = {}
    for bucket, count in zip(buckets, accumulate(bucket.held for bucket in buckets), strict=True):
        found[bucket.high] = count
        found.setdefault(bucket.low, count - bucket.held)
    known = sorted(edge for edge in found if 0 < edge < inf)
    counts = tuple(accumulate((found[edge] for edge in known), max))
    if (counts[-1] if counts else 0.0) > native.observations * (1 + NOISE):
        return Unknown(Gap.MISSHAPEN, "a native histogram with more in its buckets than in all")
    total = native.total if isfinite(native.total) else None
    return Distribution((*known, inf), (*(min(count, native.observations) for count in counts), native.observations), total)


def _ascends(buckets: list[NativeBucket]) -> bool:
    """Whether each bucket lies over the one before it, and none under 0. The first may reach down to anything: it is the lowest."""
    if not all(bucket.low < bucket.high and bucket.high > 0 for bucket in buckets):
        return False
    return all(before.high <= after.low for before, after in pairwise(buckets))


def _joined(classic: Distribution, native: Distribution) -> Distribution | Unknown:
    """Both summed at the edges where both are known. The native one brings the sum of both."""
    summed = {edge: _sum(_at(classic, edge), _at(native, edge)) for edge in {*classic.edges, *native.edges}}
    known = {edge: count for edge, count in summed.items() if count is not None}
    if not isfinite(known[inf]):
        return Unknown(Gap.NON_FINITE, "the counts of both forms are too large to be added")
    if len(known) == 1 and len(summed) > 1:
        return Unknown(Gap.MISSHAPEN, "the replicas share no edge")
    edges = sorted(known)
    return Distribution(tuple(edges), tuple(known[edge] for edge in edges), native.total, classic.partial or native.partial)


def _at(shape: Distribution, edge: float) -> float | None:
    """How many observations lay at or under an edge; None where it lies inside a bucket that is not empty."""
    index = bisect_left(shape.edges, edge)
    above = shape.counts[index]
    below = shape.counts[index - 1] if index else 0.0
    return above if shape.edges[index] == edge or above == below else None


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
