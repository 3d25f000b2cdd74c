"""What judgement tests look at: readings written down briefly."""

from datetime import timedelta
from math import inf

from autopilot.control.judgement import Look
from autopilot.domain.conditions import Comparison, Leaf
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.signals import Distribution, Entry, Reading, Readings

MINUTE = timedelta(minutes=1)
NOON: LogicalTime = timedelta(hours=12)
EDGES = (0.25, 0.5, 1.0, 10.0, inf)

SLOW = Leaf("ttft", Comparison.ABOVE, 0.5, over=MINUTE, quantile=0.99, symptom=True, latency=True)
QUEUED = Leaf("waiting", Comparison.ABOVE, 1.0, symptom=True)


def times(*counts: float, partial: bool = False, total: float | None = None) -> Distribution:
    """So many observations up to 0.25, up to 0.5, up to 1, up to 10 and over 10 seconds; what is not given is none."""
    inside = [*counts, *([0.0] * (len(EDGES) - len(counts)))]
    return Distribution(EDGES, tuple(sum(inside[: index + 1]) for index in range(len(EDGES))), total=total, partial=partial)


def readings(*, over: timedelta | None = MINUTE, **fleet: Reading) -> Readings:
    """The fleet's readings by signal."""
    return Readings(tuple(Entry(signal, over, None, reading) for signal, reading in fleet.items()))


def by_replica(signal: str, *, over: timedelta | None = MINUTE, **replicas: Reading) -> Readings:
    """One signal's readings by replica."""
    return Readings(tuple(Entry(signal, over, name, reading) for name, reading in replicas.items()))


def seeing(ttft: Reading, *, now: LogicalTime = NOON, calm: tuple[tuple[int, LogicalTime], ...] = ()) -> Look:
    """A look at one reading of the time to first token."""
    return Look(readings=readings(ttft=ttft), now=now, calm=calm)
