"""Histories of series as OpenMetrics text, for `promtool tsdb create-blocks-from openmetrics`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

TTFT_EDGES = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0)
"""Of `vllm:time_to_first_token_seconds`, vLLM 0.32, seconds."""


@dataclass(frozen=True, slots=True)
class Track:
    """One series over time: points of (Unix seconds, value), in order. Counters are named with their _total."""

    name: str
    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A histogram at one moment: every value observed so far."""

    at: float
    observed: Sequence[float]


def histogram(name: str, labels: Mapping[str, str], snapshots: Sequence[Snapshot], edges: Sequence[float] = TTFT_EDGES) -> list[Track]:
    """The series of a classic histogram: a _bucket per edge and for +Inf, _sum and _count. `name` is without suffix."""
    buckets = [
        Track(
            f"{name}_bucket",
            {**labels, "le": "+Inf" if edge == float("inf") else str(edge)},
            [(snapshot.at, float(sum(value <= edge for value in snapshot.observed))) for snapshot in snapshots],
        )
        for edge in (*edges, float("inf"))
    ]
    total = Track(f"{name}_sum", labels, [(snapshot.at, float(sum(snapshot.observed))) for snapshot in snapshots])
    count = Track(f"{name}_count", labels, [(snapshot.at, float(len(snapshot.observed))) for snapshot in snapshots])
    return [*buckets, total, count]


def every(step_seconds: float, *, since: float, until: float) -> list[float]:
    """The times of scrapes, both ends included."""
    return [since + step_seconds * index for index in range(int((until - since) / step_seconds) + 1)]


def openmetrics(tracks: Iterable[Track]) -> str:
    """The text of these series."""
    return "\n".join([*_lines(tracks), "# EOF", ""])


def _lines(tracks: Iterable[Track]) -> Iterator[str]:
    for track in tracks:
        pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in track.labels.items())
        for at, value in track.points:
            yield f"{track.name}{{{pairs}}} {value!r} {at:.3f}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
