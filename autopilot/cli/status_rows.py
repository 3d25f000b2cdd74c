"""One fleet's status as rows for people: what is not known says so, and never reads as zero."""

from collections.abc import Sequence

from rich.text import Text

from autopilot.cli.output import LOUD, WARN, Row, figure, requests, said, spell
from autopilot.control.slo_status import SloRate, SloStatus
from autopilot.control.status import AlertStatus, FleetStatus, Quantile, ReplicaStatus
from autopilot.domain.remediations import Attempt, Phase, Remediation
from autopilot.domain.reports import Claim
from autopilot.domain.workloads import ReplicaState
from autopilot.web.explained import troubles_of

_FIRING, _PENDING = "firing", "pending"


def fleet_rows(fleet: FleetStatus, running_seconds: float) -> list[Row]:
    """Every row there is something to say in. `running_seconds` is the daemon's logical time."""
    rows: list[Row] = [
        ("replicas", _replicas(fleet)),
        ("TTFT 1 min", "   ".join(quantile_in_words(one) for one in fleet.ttft) or "unknown"),
        ("in flight", _load(fleet)),
    ]
    rows += [("", said(trouble, WARN)) for trouble in _troubles(fleet.replicas)]
    rows += [("SLO", slo_in_words(slo)) for slo in fleet.slos]
    rows += [("alert", _alert(alert)) for alert in fleet.alerts]
    rows += [("reported", said(claim_in_words(claim), style=WARN)) for claim in fleet.reported]
    if fleet.remediation is not None:
        rows.append(("remediation", said(_remediation(fleet.remediation, running_seconds), style=WARN)))
    rows += [("decided", decision) for decision in fleet.decisions]
    rows += [("unknown", said(gap, style=WARN)) for gap in fleet.gaps]
    return rows


def claim_in_words(claim: Claim) -> str:
    """`GpuLost since 2026-12-01T10:00:00+00:00, by http://alertmanager:9093`."""
    return f"{claim.name} since {claim.since.isoformat(timespec='seconds')}, by {claim.by or 'a webhook'}"


def slo_in_words(slo: SloStatus) -> Text:
    """`limit: 63 % of the budget of 28d left; burns 0.2 over 5m, 1.4 to 3 over 1h, unknown over 6h`."""
    left = _between(slo.left_low, slo.left_high, scale=100.0)
    budget = f"{left} % of the budget of {spell(slo.window_seconds)} left" if left else f"budget of {spell(slo.window_seconds)} unknown"
    rates = ", ".join(f"{_rate(rate)} over {spell(rate.over_seconds)}" for rate in slo.rates)
    overdrawn = slo.left_high is not None and slo.left_high < 0
    return said(f"{slo.name}: {budget}; burns {rates}", style=LOUD if overdrawn else WARN if left is None else "")


def _rate(rate: SloRate) -> str:
    return _between(rate.low, rate.high) or rate.state


def _between(low: float | None, high: float | None, *, scale: float = 1.0) -> str | None:
    """A number, or the two that it lies between; None where neither is known."""
    match low, high:
        case None, None:
            return None
        case None, float() as most:
            return f"at most {figure(most * scale)}"
        case float() as least, None:
            return f"at least {figure(least * scale)}"
        case _:
            texts = [figure(value * scale) for value in (low, high) if value is not None]
            return " to ".join(dict.fromkeys(texts))


def quantile_in_words(one: Quantile) -> str:
    """`p99 0.41 s`, `p99 at least 10 s`, `p99.9 0.5 s (sparse n=12)`, `p50 idle`, `p50 unknown`."""
    name = quantile_name(one.quantile)
    if one.value is None:
        return f"{name} {one.state if one.state in ('idle', 'unknown') else 'unknown'}"
    bound = "at least " if one.at_least else ""
    few = f" (sparse n={requests(one.count)})" if one.state == "sparse" else ""
    return f"{name} {bound}{figure(one.value, 'seconds')}{few}"


def quantile_name(quantile: float) -> str:
    """`p99.9`."""
    return f"p{100 * quantile:.6g}"


def attempt_name(attempt: Attempt) -> str:
    """As the story calls it."""
    target = f" to {attempt.target}" if attempt.target is not None else ""
    return f"step {attempt.step + 1} ({attempt.verb}{target}, try {attempt.number})"


def _replicas(fleet: FleetStatus) -> Text:
    wanted = "unknown" if fleet.wanted is None else str(fleet.wanted)
    if not fleet.observed:
        return said(f"not observed: the backend cannot be asked; {wanted} wanted when last known", style=LOUD)
    text = f"{fleet.serving} serving, {fleet.desired} desired, {wanted} wanted"
    return said(text, style="" if fleet.serving == fleet.desired == fleet.wanted else WARN)


def _load(fleet: FleetStatus) -> str:
    known = "unknown" if fleet.in_flight is None else f"{figure(fleet.in_flight)} requests"
    rate = "rate unknown" if fleet.request_rate is None else f"{figure(fleet.request_rate, 'per_second')} finished"
    proven = f"one replica carries {figure(fleet.good)}" if fleet.good is not None else "not proven yet what one replica carries"
    return f"{known}, {rate}; {proven}"


def _troubles(replicas: Sequence[ReplicaStatus]) -> tuple[str, ...]:
    return troubles_of([(one.name, one.state, one.message) for one in replicas if one.state != ReplicaState.SERVING])


def _alert(alert: AlertStatus) -> Text:
    progress = f" {spell(alert.active_seconds)} of {spell(alert.for_seconds)}" if alert.state == _PENDING else ""
    lasting = f", true for {spell(alert.active_seconds)}" if alert.state == _FIRING else ""
    blind = ", BLIND: no data, the state is kept" if alert.blind else ""
    if alert.inert:
        return said(f"{alert.name} ({alert.severity}): INERT, what it asks for was never seen: ask autopilot doctor", style=LOUD)
    style = LOUD if alert.state == _FIRING else WARN if alert.state == _PENDING or alert.blind else ""
    return said(f"{alert.name} ({alert.severity}): {alert.state}{progress}{lasting}{blind}", style=style)


def _remediation(one: Remediation, running_seconds: float) -> str:
    opened = spell(running_seconds - one.opened_at.total_seconds())
    begun = f"{one.id} for {one.alert}, open for {opened}"
    if one.exhausted:
        return f"{begun}: HANDED OVER TO PEOPLE, last verdict {one.verdict}"
    attempt = one.attempts[-1] if one.attempts else None
    return begun if attempt is None else f"{begun}: {_attempt(attempt)}"


def _attempt(attempt: Attempt) -> str:
    reason = f" ({attempt.reason})" if attempt.reason is not None else ""
    match attempt.phase:
        case Phase.WAITING:
            return f"{attempt_name(attempt)} waits{reason}"
        case Phase.STARTED:
            return f"{attempt_name(attempt)} started, not landed yet{reason}"
        case Phase.LANDED:
            return f"{attempt_name(attempt)} landed, its effect is being verified{reason}"
        case Phase.ENDED:
            return f"{attempt_name(attempt)} ended: {attempt.verdict}{reason}"
