"""Signals: named quantities that are measured, idle, too sparse or unknown. Unknown is never zero.

A *reading* is what the catalogue derives for one signal: a number, a whole histogram, idleness or
a gap. A quantile of a histogram reading is a `Signal` of its own, `Sparse` when too few samples
stand behind it.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from math import isfinite
from operator import ge
from typing import Literal, TypeAlias


class Gap(StrEnum):
    """Why a signal is unknown."""

    QUERY_FAILED = "query_failed"
    LATE = "late"
    ABSENT = "absent"
    STALE = "stale"
    NON_FINITE = "non_finite"
    BELOW_QUORUM = "below_quorum"
    MISSHAPEN = "misshapen"
    NOT_SUPPORTED = "not_supported"
    STALLED = "stalled"


@dataclass(frozen=True, slots=True)
class Measured:
    """A number in the signal's own unit. `count` is how many requests stand behind it, where that has a meaning.

    `partial` says that some of the data was missing: it may show that something is wrong, never that all is well.
    """

    value: float
    count: float | None = None
    partial: bool = False
    kind: Literal["measured"] = "measured"


@dataclass(frozen=True, slots=True)
class Idle:
    """Targets up, request counters flat, running and waiting measured as 0, over the whole window."""

    kind: Literal["idle"] = "idle"


@dataclass(frozen=True, slots=True)
class Sparse:
    """A quantile with too few samples: `count` of them, the value between `low` and `high`."""

    count: float
    low: float
    high: float
    kind: Literal["sparse"] = "sparse"


@dataclass(frozen=True, slots=True)
class Unknown:
    """No value, and why. `detail` is for people."""

    gap: Gap
    detail: str = ""
    kind: Literal["unknown"] = "unknown"


Signal: TypeAlias = Measured | Idle | Sparse | Unknown


@dataclass(frozen=True, slots=True)
class Distribution:
    """A histogram over one window: how many observations were at or below each edge.

    `edges` ascend and end with +Inf; `counts` are cumulative and as long as `edges`. Counts are what
    `increase()` gave, so they may be fractions. `total` is the sum of the observed values, None where
    it was not asked for.
    Raises ValueError when the shape is broken.
    """

    edges: tuple[float, ...]
    counts: tuple[float, ...]
    total: float | None = None
    partial: bool = False
    kind: Literal["distribution"] = "distribution"

    def __post_init__(self) -> None:
        """Refuse a histogram that could not be one."""
        if not self.edges or len(self.edges) != len(self.counts) or self.edges[-1] != float("inf"):
            message = f"a histogram needs as many counts as edges, the last edge +Inf: {len(self.edges)} edges, {len(self.counts)} counts"
            raise ValueError(message)
        if any(map(ge, self.edges, self.edges[1:])):
            message = "the edges of a histogram must ascend"
            raise ValueError(message)
        if not all(map(isfinite, self.counts)) or min(self.counts) < 0:
            message = "the counts of a histogram are finite and not negative"
            raise ValueError(message)

    @property
    def count(self) -> float:
        """How many observations there were."""
        return self.counts[-1]

    @property
    def mean(self) -> float | None:
        """The mean of the observed values, None without observations or without their sum."""
        return self.total / self.count if self.total is not None and self.count > 0 else None


Reading: TypeAlias = Measured | Idle | Unknown | Distribution


@dataclass(frozen=True, slots=True)
class Entry:
    """One reading and what it is a reading of. `replica` is None for the whole fleet's aggregate."""

    signal: str
    over: timedelta | None
    replica: str | None
    reading: Reading


@dataclass(frozen=True)
class Readings:
    """Everything that one look at Prometheus told about one fleet."""

    entries: tuple[Entry, ...] = ()

    @cached_property
    def _index(self) -> dict[tuple[str, timedelta | None, str | None], Reading]:
        return {(entry.signal, entry.over, entry.replica): entry.reading for entry in self.entries}

    def of(self, signal: str, *, over: timedelta | None = None, replica: str | None = None) -> Reading:
        """The reading of a signal; `Unknown(absent)` when nobody took one."""
        found = self._index.get((signal, over, replica))
        return Unknown(Gap.ABSENT, f"{signal} was not read") if found is None else found

    def by_replica(self, signal: str, *, over: timedelta | None = None) -> dict[str, Reading]:
        """The readings of a signal replica by replica."""
        return {
            entry.replica: entry.reading
            for entry in self.entries
            if entry.signal == signal and entry.over == over and entry.replica is not None
        }
