"""Fleets that were: series of vLLM replicas over ten minutes, in one history for one server."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import cast

import pytest

from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.queries import Need, Target
from autopilot.domain.workloads import FleetRef
from tests.support.openmetrics import TTFT_EDGES, Snapshot, Track, every, histogram

SCRAPE = 15.0
SINCE = 1_790_000_000.0
NOW = SINCE + 600.0
MINUTE = timedelta(minutes=1)
ENGINE = {"engine": "0", "model_name": "tiny"}
HISTOGRAM_NAME = "vllm:time_to_first_token_seconds"


@dataclass(frozen=True, slots=True)
class Pod:
    """One replica's behaviour. Rates are per second; `ttft` draws one observation; None means that a series is not exported."""

    name: str
    up: float | None = 1.0
    running: float | None = 2.0
    waiting: float = 1.0
    finished: float = 0.5
    steps: float = 10.0
    ttft: Callable[[random.Random], float] | None = lambda source: source.lognormvariate(-1.5, 0.8)
    edges: Sequence[float] = TTFT_EDGES
    kv: float | None = 0.4
    until: float = NOW
    restarts_at: float | None = None
    engines: tuple[str, ...] = ("0",)
    stuck: tuple[str, ...] = ()  # engines that make no step
    extra: Mapping[str, float] = field(default_factory=dict)  # further counters by name, per second


@dataclass(frozen=True, slots=True)
class Scene:
    """A fleet with its pods; `live` are the replicas that the backend knows, all of its pods where not said."""

    name: str
    pods: tuple[Pod, ...]
    live: tuple[str, ...] | None = None
    needs: frozenset[Need] = frozenset()
    peak_bandwidth: float | None = None

    @property
    def ref(self) -> FleetRef:
        return FleetRef("llm", "".join(character for character in self.name if character != "/") or "odd")

    @property
    def target(self) -> Target:
        return Target(
            fleet=self.ref,
            source="default",
            identity=(("namespace", "llm"), ("fleet", self.name)),
            replica_label="pod",
            scrape_interval=timedelta(seconds=SCRAPE),
            needs=self.needs,
            peak_bandwidth=self.peak_bandwidth,
        )

    @property
    def replicas(self) -> tuple[LiveReplica, ...]:
        names = self.live if self.live is not None else tuple(pod.name for pod in self.pods)
        return tuple(LiveReplica(name, timedelta(minutes=9)) for name in names)

    def tracks(self) -> Iterator[Track]:
        for pod in self.pods:
            labels = {"namespace": "llm", "fleet": self.name, "pod": pod.name}
            yield from _up(pod, labels)
            for engine in pod.engines:
                yield from _engine(pod, {**labels, **ENGINE, "engine": engine})


def _up(pod: Pod, labels: Mapping[str, str]) -> Iterable[Track]:
    if pod.up is not None:
        yield Track("up", labels, [(at, pod.up) for at in every(SCRAPE, since=SINCE, until=NOW)])


def about(value: float) -> float:
    """A number to compare a field with that was computed in another order."""
    return cast("float", pytest.approx(value))


def _engine(pod: Pod, labels: Mapping[str, str]) -> Iterable[Track]:
    times = every(SCRAPE, since=SINCE, until=pod.until)
    gauges = {"num_requests_running": pod.running, "num_requests_waiting": pod.waiting, "kv_cache_usage_perc": pod.kv}
    for name, value in gauges.items():
        if value is not None:
            yield Track(f"vllm:{name}", labels, [(at, value) for at in times])
    for reason, rate in (("stop", pod.finished), ("error", 0.0)):
        yield _counter("vllm:request_success_total", {**labels, "finished_reason": reason}, rate=rate, times=times, pod=pod)
    steps = 0.0 if labels["engine"] in pod.stuck else pod.steps
    yield _counter("vllm:iteration_tokens_total_count", labels, rate=steps, times=times, pod=pod)
    for name, rate in pod.extra.items():
        yield _counter(name, labels, rate=rate, times=times, pod=pod)
    if pod.ttft is not None:
        yield from histogram(HISTOGRAM_NAME, labels, _snapshots(pod, times), pod.edges)


def _counter(name: str, labels: Mapping[str, str], *, rate: float, times: Sequence[float], pod: Pod) -> Track:
    return Track(name, labels, [(at, rate * (at - _born(pod, at))) for at in times])


def _born(pod: Pod, at: float) -> float:
    return pod.restarts_at if pod.restarts_at is not None and at >= pod.restarts_at else SINCE


def _snapshots(pod: Pod, times: Sequence[float]) -> list[Snapshot]:
    source = random.Random(pod.name)
    values: list[float] = []
    snapshots = []
    for at in times:
        wanted = int(4 * pod.finished * (at - _born(pod, at)))
        values = values[:wanted] if wanted < len(values) else values
        values.extend(pod.ttft(source) if pod.ttft is not None else 0.0 for _ in range(wanted - len(values)))
        snapshots.append(Snapshot(at, tuple(values)))
    return snapshots
