"""What the demo sees at one moment: the autopilot's answer, Prometheus's buckets and the client's own clock, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import ceil, inf
from typing import Any

QUANTILES = (0.5, 0.9, 0.99, 0.999)


@dataclass(frozen=True)
class Latency:
    """TTFT in seconds at some quantiles (None where nothing tells), and how many requests stand behind them."""

    count: int = 0
    at: tuple[tuple[float, float], ...] = ()

    def of(self, quantile: float) -> float | None:
        """The value at a quantile."""
        return dict(self.at).get(quantile)


@dataclass(frozen=True)
class Replica:
    """One replica as the autopilot sees it. `asked_at` is wall time: when it was asked for."""

    name: str
    state: str
    age_seconds: float
    asked_at: float
    running: float | None = None
    waiting: float | None = None


@dataclass(frozen=True)
class Alert:
    """One alert: `active_seconds` of `for_seconds` have passed."""

    name: str
    state: str
    blind: bool
    active_seconds: float
    for_seconds: float


@dataclass(frozen=True)
class Attempt:
    """One step of a ladder that was taken, or not."""

    remediation: str
    verb: str
    number: int
    phase: str
    verdict: str
    reason: str | None
    target: int | None


@dataclass(frozen=True)
class Told:
    """One line of the story; `wall` is seconds since the epoch."""

    number: int
    wall: float
    event: str
    text: str


@dataclass(frozen=True)
class Fleet:
    """The fleet as of the autopilot's last tick at wall time `at`. `minute` is its own TTFT of the last minute."""

    at: float
    desired: int | None
    wanted: int | None
    serving: int
    replicas: tuple[Replica, ...]
    in_flight: float | None
    request_rate: float | None
    alerts: tuple[Alert, ...]
    attempts: tuple[Attempt, ...]
    good: float | None
    minute: Latency


@dataclass(frozen=True)
class Tally:
    """Requests that have ended so far, and how many of them badly."""

    answered: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Sight:
    """One look. `server` is the alert's window from Prometheus, `client` the same window at the client; `told` counts messages to people."""

    at: float
    fleet: Fleet | None = None
    server: Latency = Latency()
    client: Latency = Latency()
    tally: Tally = Tally()
    story: tuple[Told, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    told: int = 0


def fleet_of(answer: Mapping[str, Any]) -> Fleet | None:
    """Read the one fleet out of /api/v1/status; None before the first tick."""
    fleets, at = answer["fleets"], answer["daemon"]["at"]
    if not fleets or at is None:
        return None
    seen, wall = fleets[0], datetime.fromisoformat(at).timestamp()
    remediation = seen["remediation"]
    return Fleet(
        at=wall,
        desired=seen["desired"],
        wanted=seen["wanted"],
        serving=seen["serving"] or 0,
        replicas=tuple(_replica(one, wall) for one in seen["replicas"]),
        in_flight=seen["in_flight"],
        request_rate=seen["request_rate"],
        alerts=tuple(Alert(one["name"], one["state"], one["blind"], one["active_seconds"], one["for_seconds"]) for one in seen["alerts"]),
        attempts=attempts_of(remediation) if remediation is not None else (),
        good=seen["good"],
        minute=_minute(seen["ttft"]),
    )


def attempts_of(remediation: Mapping[str, Any]) -> tuple[Attempt, ...]:
    """Read the steps of one remediation."""
    return tuple(
        Attempt(remediation["id"], one["verb"], one["number"], one["phase"], one["verdict"], one["reason"], one["target"])
        for one in remediation["attempts"]
    )


def told_of(answer: Mapping[str, Any]) -> tuple[Told, ...]:
    """Read the lines out of /api/v1/story."""
    return tuple(
        Told(one["number"], datetime.fromisoformat(one["wall"]).timestamp(), one["event"], " ".join(one["text"].split()))
        for one in answer["lines"]
    )


def latency_of_buckets(answer: Mapping[str, Any]) -> Latency:
    """Quantiles from Prometheus's answer to `sum by (le) (increase(…_bucket[…]))`, interpolated as Prometheus does."""
    rows = sorted((float(row["metric"]["le"]), float(row["value"][1])) for row in answer["data"]["result"])
    total = rows[-1][1] if rows else 0.0
    if not total > 0.0:
        return Latency()
    return Latency(round(total), tuple((quantile, _interpolated(rows, quantile * total)) for quantile in QUANTILES))


def latency_of_times(times: Sequence[float]) -> Latency:
    """Quantiles of measured times: the smallest one that so many are not above."""
    ordered = sorted(times)
    if not ordered:
        return Latency()
    return Latency(len(ordered), tuple((quantile, ordered[ceil(round(quantile * len(ordered), 9)) - 1]) for quantile in QUANTILES))


def _interpolated(rows: Sequence[tuple[float, float]], rank: float) -> float:
    for (low, below), (high, reached) in pairwise([(0.0, 0.0), *rows]):
        if reached >= rank:
            return low if high == inf or reached == below else low + (high - low) * (rank - below) / (reached - below)
    return rows[-1][0]


def _replica(one: Mapping[str, Any], wall: float) -> Replica:
    return Replica(one["name"], one["state"], one["age_seconds"], wall - one["age_seconds"], one["running"], one["waiting"])


def _minute(rows: Sequence[Mapping[str, Any]]) -> Latency:
    known = tuple((row["quantile"], row["value"]) for row in rows if row["value"] is not None)
    count = max((row["count"] or 0.0 for row in rows), default=0.0)
    return Latency(round(count), known)
