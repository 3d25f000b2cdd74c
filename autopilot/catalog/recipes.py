"""How each signal is made: which series are asked for, and how replicas become a fleet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from autopilot.catalog import series
from autopilot.catalog.series import Series
from autopilot.catalog.signals import FINISHED, GENERATION_TOKENS, PROMPT_TOKENS, RUNNING, SIGNALS, WAITING


class Fold(StrEnum):
    """How the values of the replicas become the fleet's."""

    TOTAL = "total"
    MEAN = "mean"
    SHARE = "share"  # the first series' total of the second's
    EVER = "ever"  # as TOTAL, with what replicas counted that are gone: what they did wrong was not undone by their end


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number per replica. `parts` are added, or divided for a share; `signed` where it may be negative."""

    fold: Fold
    parts: Callable[[timedelta | None], tuple[Series, ...]]
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Histogram:
    """A whole histogram per fleet; `metric` without `_bucket`."""

    metric: str


@dataclass(frozen=True, slots=True)
class UpShare:
    """Which scrapes work."""


@dataclass(frozen=True, slots=True)
class StalledReplicas:
    """Which replicas have requests and make no step."""


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Memory traffic against the peak of the card."""


Recipe: TypeAlias = Scalar | Histogram | UpShare | StalledReplicas | Bandwidth


def _gauges(fold: Fold, *metrics: str, within: str = "sum") -> Scalar:
    return Scalar(fold, lambda over: tuple(series.gauge(metric, over, within=within) for metric in metrics))


def _windowed(fold: Fold, *parts: Callable[[timedelta], Series]) -> Scalar:
    return Scalar(fold, lambda over: tuple(part(over) for part in parts) if over is not None else ())


def _counter(metric: str) -> Scalar:
    return _windowed(Fold.TOTAL, lambda over: series.increase(metric, over))


def _counters_share(part: str, whole: str) -> Scalar:
    return _windowed(Fold.SHARE, lambda over: series.increase(part, over), lambda over: series.increase(whole, over))


_NUMBERS: dict[str, Recipe] = {
    "up": UpShare(),
    "running": _gauges(Fold.TOTAL, RUNNING),
    "waiting": _gauges(Fold.TOTAL, WAITING),
    "waiting_per_replica": _gauges(Fold.MEAN, WAITING),
    "in_flight": _gauges(Fold.TOTAL, RUNNING, WAITING),
    "in_flight_growth": replace(_windowed(Fold.TOTAL, series.growth), signed=True),
    "engine_steps": _windowed(Fold.TOTAL, series.steps),
    "stalled_replicas": StalledReplicas(),
    "request_rate": _counter(FINISHED),
    "prompt_token_rate": _counter(PROMPT_TOKENS),
    "generation_token_rate": _counter(GENERATION_TOKENS),
    "error_ratio": _windowed(Fold.SHARE, series.failed, series.answered),
    "server_errors": _windowed(Fold.EVER, series.server_errors),
    "refused": _windowed(Fold.EVER, series.refused),
    "rejected": _counter("vllm:admission_rejections_total"),
    "preemptions": _counter("vllm:num_preemptions_total"),
    "prefix_hit_ratio": _counters_share("vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
    "kv_usage": _gauges(Fold.MEAN, "vllm:kv_cache_usage_perc", within="max"),
    "bandwidth_utilization": Bandwidth(),
}

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    _NUMBERS | {kind.name: Histogram(kind.metrics[0]) for kind in SIGNALS.values() if kind.form == "histogram"}
)
