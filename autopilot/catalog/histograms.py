"""From bucket rows to a histogram that can be trusted, or the reason why not."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from math import inf, isfinite, isnan
from operator import sub

from autopilot.domain.signals import Distribution, Gap, Unknown

NOISE = 1e-6  # of the count: rounding, as Prometheus forgives it
REPAIRABLE = 0.05  # of the count: what a counter reset seen in some buckets only does; beyond it is another histogram


def distribution(
    rows: Mapping[str, float], uneven: Mapping[str, float], *, total: float | None = None, partial: bool = False
) -> Distribution | Unknown:
    """Build the histogram from counts by `le`. `uneven` are the shares of replicas that have an edge not all have.

    Only edges that all replicas share are kept: below any other edge some observations were never counted.
    Edges are compared as numbers: `1` and `1.0` are one.
    """
    counts = _by_number(rows)
    if inf not in counts or any(map(isnan, counts)):
        return Unknown(Gap.MISSHAPEN, "a histogram without +Inf or with an edge that is no number")
    if not all(map(isfinite, counts.values())) or min(counts.values()) < 0:
        return Unknown(Gap.NON_FINITE, "a bucket count is not a number of observations")
    apart = {edge for edge, share in _by_number(uneven).items() if share < 1 - NOISE}
    edges = sorted(counts.keys() - apart)
    if len(edges) == 1 and len(counts) > 1:
        return Unknown(Gap.MISSHAPEN, "the replicas share no edge")
    found = [counts[edge] for edge in edges]
    raised, worst = _monotonic(found)
    if worst > max(REPAIRABLE * raised[-1], NOISE):
        return Unknown(Gap.MISSHAPEN, f"bucket counts fall by {worst:g} of {raised[-1]:g}: are the edges not the same everywhere?")
    return Distribution(tuple(edges), raised, total, partial or worst > NOISE * raised[-1])


def _monotonic(counts: Sequence[float]) -> tuple[tuple[float, ...], float]:
    """Each count raised to the highest before it, as Prometheus does, and by how much at most."""
    raised = tuple(accumulate(counts, max))
    return raised, max(map(sub, raised, counts))


def _by_number(rows: Mapping[str, float]) -> dict[float, float]:
    found = {_edge(text): value for text, value in rows.items()}
    if len(found) == len(rows):
        return found
    summed: dict[float, float] = {}
    for text, value in rows.items():
        edge = _edge(text)
        summed[edge] = summed.get(edge, 0.0) + value
    return summed


@lru_cache(maxsize=4096)
def _edge(text: str) -> float:
    """The number behind an `le`; NaN for what is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
