"""The alert state machine: Prometheus's `for` and `keep_firing_for`, with unknown as a third answer.

On gapless data it is Prometheus's own machine. Where data is missing it differs on purpose: an
unknown evaluation keeps the state, raises the `blind` flag and stops the clocks.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum

from autopilot.domain.conditions import Condition, Truth
from autopilot.domain.logical_time import ZERO, LogicalTime


class Severity(StrEnum):
    """A page wakes people; a ticket does not. A page supersedes a ticket."""

    TICKET = "ticket"
    PAGE = "page"


class AlertState(StrEnum):
    """As in Prometheus."""

    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"


@dataclass(frozen=True, slots=True)
class AlertRule:
    """What is to be true, for how long, before it fires, and how long it lingers afterwards."""

    name: str
    severity: Severity
    condition: Condition
    hold: timedelta = ZERO
    keep_firing_for: timedelta = ZERO


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert of one fleet.

    `active` is how long the condition has been yes, counted only between two evaluations that were both
    known; `lingered` how long a firing alert's condition has been no. `since` is when the state began;
    `calm` holds, leaf by leaf, since when its windows were calm but too small to say no; `undecided` that
    the last evaluation was unknown although no data was missing (too few samples, or a threshold between
    two edges).
    """

    name: str
    state: AlertState = AlertState.INACTIVE
    truth: Truth = Truth.UNKNOWN
    since: LogicalTime = ZERO
    evaluated: LogicalTime = ZERO
    active: timedelta = ZERO
    lingered: timedelta | None = None
    calm: tuple[tuple[int, LogicalTime], ...] = ()
    undecided: bool = False

    @property
    def blind(self) -> bool:
        """The last evaluation was unknown for want of data: the state is kept, its clocks stand."""
        return self.truth is Truth.UNKNOWN and not self.undecided

    @property
    def firing(self) -> bool:
        """Whether it fires."""
        return self.state is AlertState.FIRING


def advance(alert: Alert, rule: AlertRule, truth: Truth, *, now: LogicalTime) -> Alert:
    """Take one evaluation in. `now` must not lie before the last one.

    An unknown one counts as blind until `undecided` is set from its `Judgement`, which also holds `calm`.
    """
    gapless = truth is not Truth.UNKNOWN and alert.truth is not Truth.UNKNOWN
    passed = now - alert.evaluated if gapless else ZERO
    seen = replace(alert, truth=truth, evaluated=now, undecided=False)
    match truth:
        case Truth.UNKNOWN:
            return seen
        case Truth.YES:
            return _yes(seen, rule, passed=passed, now=now)
        case Truth.NO:
            return _no(seen, rule, passed=passed, now=now)


def _yes(alert: Alert, rule: AlertRule, *, passed: timedelta, now: LogicalTime) -> Alert:
    was_active = alert.state is not AlertState.INACTIVE
    active = alert.active + passed if was_active else ZERO
    state = AlertState.FIRING if active >= rule.hold else AlertState.PENDING
    since = alert.since if state is alert.state else now
    return replace(alert, state=state, since=since, active=active, lingered=None)


def _no(alert: Alert, rule: AlertRule, *, passed: timedelta, now: LogicalTime) -> Alert:
    inactive = replace(alert, state=AlertState.INACTIVE, since=now, active=ZERO, lingered=None)
    match alert.state:
        case AlertState.INACTIVE:
            return alert
        case AlertState.PENDING:
            return inactive
        case AlertState.FIRING:
            lingered = ZERO if alert.lingered is None else alert.lingered + passed
            if rule.keep_firing_for > ZERO and lingered < rule.keep_firing_for:
                return replace(alert, active=alert.active + passed, lingered=lingered)
            return inactive
