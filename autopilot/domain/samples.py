"""What a Prometheus server answers: samples."""

from collections.abc import Mapping
from typing import NamedTuple


class Sample(NamedTuple):
    """One point of an instant vector. `at` is in Unix seconds; `value` may be NaN or infinite.

    In an instant vector `at` is the evaluation time, not the time of the scrape: ask for
    `timestamp(series)` where freshness matters.
    """

    labels: Mapping[str, str]
    value: float
    at: float


class NativeBucket(NamedTuple):
    """How many observations lay over `low` and at or under `high`; either may be infinite."""

    low: float
    high: float
    held: float


class NativeSample(NamedTuple):
    """A native histogram in an instant vector: buckets that are not empty, in any order.

    `observations` (how many) and `total` (the observed values, summed) may be fractions, NaN or infinite; `at` as in `Sample`.
    """

    labels: Mapping[str, str]
    observations: float
    total: float
    buckets: tuple[NativeBucket, ...]
    at: float


class Answer(NamedTuple):
    """The whole answer to one query. Warnings mean that the data may be partial (Thanos does this)."""

    samples: tuple[Sample, ...]
    warnings: tuple[str, ...] = ()
    natives: tuple[NativeSample, ...] = ()


class Track(NamedTuple):
    """One series of a range query: its labels and (Unix seconds, value), in order, at the steps that have a value."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


class Build(NamedTuple):
    """Which server answers: `Prometheus` `2.42.0`. Either may be empty where it does not say."""

    product: str
    version: str
