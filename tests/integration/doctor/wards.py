"""Fleets for the doctor: one that is well, and one for each way of being ill, all in one server's history around now."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.openmetrics import TTFT_EDGES, Track, every

SCRAPE = 15.0
BEFORE, AFTER = 1500.0, 900.0  # seconds of history before now, and what is left for the tests to run in
TTFT = "vllm:time_to_first_token_seconds"
API = "autopilot.dev/v1alpha1"
WHERE = {"namespace": "llm", "cluster": "east"}


@dataclass(frozen=True)
class Ward:
    """One fleet: the labels that its series carry beside `pod`, and what its documents say.

    `twice` gives every sample once more, with the labels of the other half of a pair of servers.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    identity: Mapping[str, str] = field(default_factory=dict)
    cache: str = "kv_cache_usage_perc"
    twice: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    scrape: float = SCRAPE
    rate: float = 5.0  # requests a second and pod
    above: str = "500ms"
    also: tuple[Mapping[str, Any], ...] = ()
    pods: int = 2

    @property
    def carried(self) -> dict[str, str]:
        return {**WHERE, "fleet": self.name, **self.labels}

    @property
    def known_by(self) -> dict[str, str]:
        """The identity; an empty value takes a label out of it."""
        return {label: value for label, value in {**WHERE, "fleet": self.name, **self.identity}.items() if value}

    def tracks(self, now: float) -> Iterator[Track]:
        times = every(self.scrape, since=now - BEFORE, until=now + AFTER)
        for pod in range(self.pods):
            labels = {**self.carried, "pod": f"{self.name}-{pod}"}
            for pair in self._pairs():
                yield from self._pod({**labels, **pair}, times)

    def _pairs(self) -> list[dict[str, str]]:
        if not self.twice:
            return [{}]
        ((label, values),) = self.twice.items()
        return [{label: value} for value in values]

    def _pod(self, labels: Mapping[str, str], times: list[float]) -> Iterator[Track]:
        engine = {**labels, "engine": "0", "model_name": "tiny"}
        yield Track("up", labels, [(at, 1.0) for at in times])
        for name, value in (("num_requests_running", 3.0), ("num_requests_waiting", 0.0), (self.cache, 0.4)):
            yield Track(f"vllm:{name}", engine, [(at, value) for at in times])
        finished = [(at, self.rate * (at - times[0])) for at in times]
        yield Track("vllm:request_success_total", {**engine, "finished_reason": "stop"}, finished)
        for name in ("vllm:iteration_tokens_total_count", "vllm:prompt_tokens_total", "vllm:generation_tokens_total", f"{TTFT}_count"):
            yield Track(name, engine, finished)
        yield Track(f"{TTFT}_sum", engine, [(at, 0.2 * count) for at, count in finished])
        for edge in (*TTFT_EDGES, float("inf")):
            le = "+Inf" if edge == float("inf") else str(edge)
            yield Track(f"{TTFT}_bucket", {**engine, "le": le}, [(at, count if edge >= 0.2 else 0.0) for at, count in finished])

    def documents(self) -> str:
        named = {"name": self.name, "namespace": "llm"}
        pool = {"name": "h100", "workload": {"ref": {"kind": "Deployment", "name": self.name}}, "replicas": {"min": 1, "max": 8}}
        metrics = {"identity": self.known_by, "replica": "pod"}
        fleet = {"backend": "kubernetes", "metrics": metrics, "traffic": {"service": self.name}, "pools": [pool]}
        slow = {"signal": "ttft", "quantile": "99%", "above": self.above, "over": "1m"}
        alerts = [{"name": "slow", "severity": "page", "when": slow, "for": "1m"}, *self.also]
        ladder = [{"do": {"scale": {"by": "shortfall"}}, "verify": {"within": "2m"}}]
        policy = {"fleets": {"names": [self.name]}, "alerts": alerts, "remedies": [{"alert": "slow", "steps": ladder}]}
        policy["scaling"] = {"bounds": [{"min": 1, "max": 8}]}
        wrapped = (
            {"apiVersion": API, "kind": kind, "metadata": named, "spec": spec} for kind, spec in (("Fleet", fleet), ("Policy", policy))
        )
        return "\n---\n".join(json.dumps(one, indent=1) for one in wrapped)


def full_cache(signal: str = "kv_usage") -> Mapping[str, Any]:
    return {"name": "full", "severity": "ticket", "when": {"signal": signal, "above": 0.9}, "for": "1m"}


GOOD = Ward("good", also=(full_cache(),))
WELL = (GOOD,)
ILL = (
    Ward("label-case", labels={"model": "chat-70b"}, identity={"model": "Chat-70B"}),
    Ward("label-suffix", labels={"model": "chat-70b-rank-0"}, identity={"model": "chat-70b"}),
    Ward("misspelt", cache="kv_cache_usage_percent", also=(full_cache(),)),
    Ward("ha-pair", twice={"prometheus_replica": ("a", "b")}),
    Ward("no-cluster", labels={"cluster": "west"}, identity={"cluster": ""}),
    Ward("between-edges", above="300ms"),
    Ward("slow-scrapes", scrape=60.0),
)


def in_history(now: float) -> Iterator[Track]:
    """The series of everybody, in two clusters."""
    for ward in (*WELL, *ILL):
        yield from ward.tracks(now)
    yield from PAST.tracks(now)


HOUR = 3600.0


@dataclass(frozen=True)
class Past(Ward):
    """A fleet with a past: slow from three hours ago for 20 minutes, and not scraped from two hours ago for 10 minutes."""

    slow: tuple[float, float] = (3 * HOUR, 3 * HOUR - 1200)  # seconds before now
    gone: tuple[float, float] = (2 * HOUR, 2 * HOUR - 600)

    def tracks(self, now: float) -> Iterator[Track]:
        times = every(self.scrape, since=now - 4 * HOUR, until=now + AFTER)
        labels = {**self.carried, "pod": f"{self.name}-0"}
        gone = tuple(now - at for at in self.gone)
        for track in self._pod(labels, times):
            points = self._slowed(track, now) if track.name == f"{TTFT}_bucket" else track.points
            yield Track(track.name, track.labels, [point for point in points if not gone[0] <= point[0] < gone[1]])

    def _slowed(self, track: Track, now: float) -> list[tuple[float, float]]:
        """In the slow stretch requests fall into the buckets from 2.5 s on only."""
        if float(track.labels["le"]) >= 2.5 or float(track.labels["le"]) < 0.2:
            return list(track.points)
        since, until = (now - at for at in self.slow)
        return [(at, value - self.rate * max(0.0, min(at, until) - since)) for at, value in track.points]


PAST = Past("past", also=(full_cache(),))


def written(folder: Path, url: str, ward: Ward, **own: Any) -> Path:
    """The daemon's file and the documents of one fleet; the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "policies").mkdir(exist_ok=True)
    (folder / "policies" / f"{ward.name}.yaml").write_text(ward.documents())
    config = {
        "sources": {"default": {"url": url, "scrapeInterval": "15s"}},
        "policies": [str(folder / "policies")],
        "state": str(folder / "state" / "state.sqlite"),
        "http": {"port": 0},
        "receivers": {"people": {"file": str(folder / "told.jsonl")}},
        **own,
    }
    path = folder / "autopilot.yaml"
    path.write_text(json.dumps(config, indent=1))
    return path
