"""Evaluations written down in a line: `y` yes, `n` no, `?` unknown; states: `.` inactive, `p` pending, `F` firing."""

from datetime import timedelta
from functools import partial

from autopilot.domain.alerts import Alert, AlertRule, AlertState, Severity, advance
from autopilot.domain.conditions import Comparison, Leaf, Truth
from autopilot.domain.logical_time import ZERO

TRUTHS = {"y": Truth.YES, "n": Truth.NO, "?": Truth.UNKNOWN}
MARKS = {AlertState.INACTIVE: ".", AlertState.PENDING: "p", AlertState.FIRING: "F"}
INTERVAL = timedelta(seconds=30)
QUEUED = Leaf("waiting", Comparison.ABOVE, 1.0)

rule = partial(AlertRule, "queued", Severity.TICKET, QUEUED)


def lived(evaluations: str, *, under: AlertRule, interval: timedelta = INTERVAL) -> list[Alert]:
    """The alert after each evaluation, one per interval, the first at zero."""
    alert, history = Alert("queued"), []
    for number, truth in enumerate(evaluations):
        alert = advance(alert, under, TRUTHS[truth], now=ZERO + number * interval)
        history.append(alert)
    return history


def states(history: list[Alert]) -> str:
    """The states of a history, one mark each."""
    return "".join(MARKS[alert.state] for alert in history)
