"""What is left of the error budgets of a fleet and how fast they burn, in plain figures."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, assert_never

from autopilot.control.burning import counted
from autopilot.control.needs import slo_windows
from autopilot.domain.signals import Idle, Readings, Unknown
from autopilot.domain.slos import Slo, Tally, budget_left, burn_rates
from autopilot.policy.values import Policy


@dataclass(frozen=True, slots=True)
class SloRate:
    """How fast a budget burned over one window: at least `low`, at most `high` times what it allows; None where nobody can tell.

    `requests` is how many were counted, good and bad. `partial`: somebody did not tell, so that more may be bad.
    """

    over_seconds: float
    state: Literal["measured", "idle", "unknown"]
    low: float | None = None
    high: float | None = None
    requests: float | None = None
    partial: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SloStatus:
    """One SLO. The share of its budget that is left over the whole window lies between `left_low` and `left_high`, below 0 it is overdrawn.

    `threshold` is in the signal's own unit, `rates` from the shortest window to the longest.
    """

    name: str
    signal: str
    threshold: float
    objective: float
    window_seconds: float
    left_low: float | None
    left_high: float | None
    rates: tuple[SloRate, ...]


def slos_of(policy: Policy | None, readings: Readings) -> tuple[SloStatus, ...]:
    """Every SLO of a policy as one look shows it."""
    return tuple(_statuses(policy, readings)) if policy is not None else ()


def _statuses(policy: Policy, readings: Readings) -> Iterator[SloStatus]:
    for slo, overs in slo_windows(policy):
        whole = counted(slo, readings, over=slo.window)
        left = budget_left(whole, slo.objective) if isinstance(whole, Tally) else None
        # Where somebody did not tell everything, all that is certain is how much is gone at least.
        low = left.low if left is not None and isinstance(whole, Tally) and not whole.partial else None
        high = left.high if left is not None else None
        rates = tuple(_rate(slo, readings, over) for over in overs)
        yield SloStatus(slo.name, slo.signal, slo.threshold, slo.objective, slo.window.total_seconds(), low, high, rates)


def _rate(slo: Slo, readings: Readings, over: timedelta) -> SloRate:
    seconds = over.total_seconds()
    match counted(slo, readings, over=over):
        case Idle():
            return SloRate(seconds, "idle")
        case Unknown(gap=gap, detail=detail):
            return SloRate(seconds, "unknown", detail=f"{gap}{': ' + detail if detail else ''}")
        case Tally() as found:
            rates = burn_rates(found, slo.objective)
            if rates is None:
                return SloRate(seconds, "unknown", requests=0.0, detail="no request was counted")
            high = None if found.partial else rates.high
            return SloRate(seconds, "measured", rates.low, high, found.total, found.partial)
        case _ as never:
            assert_never(never)
