"""A fleet's state in plain figures, for the API, the command line and live views."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, assert_never

from autopilot.control.audit import Record
from autopilot.control.load import number
from autopilot.control.slo_status import SloStatus, slos_of
from autopilot.domain.alerts import Alert
from autopilot.domain.decisions import Act, Decision
from autopilot.domain.memory import Memory
from autopilot.domain.quantiles import full_size, interpolate
from autopilot.domain.remediations import Remediation
from autopilot.domain.reports import Claim
from autopilot.domain.signals import Distribution, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.workloads import Workload
from autopilot.policy.values import Policy

SHOWN = (0.5, 0.95, 0.99, 0.999)  # mission A1: never the mean alone
MINUTE = timedelta(minutes=1)
REPORTED = 20  # claims shown of one fleet: a sender gone mad must not fill the screen


@dataclass(frozen=True, slots=True)
class Quantile:
    """TTFT at one quantile over the last minute, in seconds. `state` says how far `value` can be trusted.

    `at_least`: the quantile lies in the top bucket or above, so the value is a lower bound.
    """

    quantile: float
    value: float | None
    state: Literal["measured", "sparse", "idle", "unknown"]
    count: float | None = None
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """One replica; counts are None where nobody tells."""

    name: str
    state: str
    age_seconds: float
    running: float | None
    waiting: float | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class AlertStatus:
    """One alert: `active_seconds` of `for_seconds`. `inert`: nothing that it asks for was ever seen."""

    name: str
    severity: str
    state: str
    blind: bool
    active_seconds: float
    for_seconds: float
    inert: bool = False


@dataclass(frozen=True, slots=True)
class FleetStatus:
    """One fleet as of its last tick."""

    fleet: str
    policy: str
    observed: bool
    desired: int | None
    wanted: int | None
    serving: int | None
    replicas: tuple[ReplicaStatus, ...]
    ttft: tuple[Quantile, ...]
    in_flight: float | None
    request_rate: float | None
    alerts: tuple[AlertStatus, ...]
    remediation: Remediation | None
    decisions: tuple[str, ...]
    good: float | None
    bad: float | None
    stable_seconds: float
    gaps: tuple[str, ...]
    reported: tuple[Claim, ...] = ()
    slos: tuple[SloStatus, ...] = ()

    def with_inert(self, alerts: Collection[str]) -> "FleetStatus":
        """With these alerts marked as asking for what was never there."""
        if not alerts:
            return self
        return replace(self, alerts=tuple(replace(one, inert=one.name in alerts) for one in self.alerts))


def summarize(record: Record, policy: Policy | None) -> FleetStatus:
    """The status after a tick."""
    seen, memory = record.seen, record.after
    workload = seen.workload if isinstance(seen.workload, Workload) else None
    proven = memory.level.of(workload.template if workload is not None else "")
    return FleetStatus(
        fleet=str(record.fleet),
        policy=str(policy.ref) if policy is not None else "",
        observed=workload is not None,
        desired=workload.desired if workload is not None else None,
        wanted=record.wanted,
        serving=len(workload.serving) if workload is not None else None,
        replicas=_replicas(workload, seen.readings),
        ttft=tuple(quantile_of(seen.readings.of("ttft", over=MINUTE), quantile) for quantile in SHOWN),
        in_flight=number(seen.readings.of("in_flight")),
        request_rate=number(seen.readings.of("request_rate", over=MINUTE)),
        alerts=_alerts(memory, policy),
        remediation=memory.remediation,
        decisions=tuple(describe(decision) for decision in record.decisions),
        good=proven.good,
        bad=proven.bad,
        stable_seconds=memory.level.stable.total_seconds(),
        gaps=_gaps(seen.readings),
        reported=seen.reported[:REPORTED],
        slos=slos_of(policy, seen.readings),
    )


def quantile_of(reading: Reading, quantile: float) -> Quantile:
    """One quantile for people's eyes, with how many samples stand behind it."""
    match reading:
        case Distribution() as histogram if histogram.count > 0:
            value = interpolate(histogram, quantile)
            top = histogram.edges[-2] if len(histogram.edges) > 1 else value
            state: Literal["measured", "sparse"] = "measured" if histogram.count >= full_size(quantile) else "sparse"
            return Quantile(quantile, value, state, histogram.count, at_least=value >= top)
        case Idle() | Distribution():
            return Quantile(quantile, None, "idle")
        case Measured() | Unknown():
            return Quantile(quantile, None, "unknown")
        case _ as never:
            assert_never(never)


def describe(decision: Decision) -> str:
    """One decision in a line."""
    if isinstance(decision, Act):
        return f"{decision.operation.verb}: {decision.operation.effect.kind}: {decision.why}"
    return f"{decision.verb}: hold ({decision.reason}){': ' + decision.limit if decision.limit else ''}"


def _replicas(workload: Workload | None, readings: Readings) -> tuple[ReplicaStatus, ...]:
    return tuple(
        ReplicaStatus(
            name=replica.name,
            state=replica.state,
            age_seconds=replica.age.total_seconds(),
            running=number(readings.of("running", replica=replica.name)),
            waiting=number(readings.of("waiting", replica=replica.name)),
            message=replica.message,
        )
        for replica in (workload.replicas if workload is not None else ())
    )


def _alerts(memory: Memory, policy: Policy | None) -> tuple[AlertStatus, ...]:
    rules = {rule.name: rule for rule in policy.alerts} if policy is not None else {}
    return tuple(_alert(alert, rules[alert.name].severity, rules[alert.name].hold) for alert in memory.alerts if alert.name in rules)


def _alert(alert: Alert, severity: str, hold: timedelta) -> AlertStatus:
    return AlertStatus(alert.name, severity, alert.state, alert.blind, alert.active.total_seconds(), hold.total_seconds())


def _gaps(readings: Readings) -> tuple[str, ...]:
    """What is not known about the fleet, and why: once per signal and reason."""
    found = {
        f"{entry.signal}: {entry.reading.gap}{' - ' + entry.reading.detail if entry.reading.detail else ''}": None
        for entry in readings.entries
        if entry.replica is None and isinstance(entry.reading, Unknown)
    }
    return tuple(found)
