"""Where a ladder stands on this tick: what its attempts are judged by."""

from dataclasses import dataclass
from datetime import timedelta

from autopilot.control.seen import Case
from autopilot.domain.alerts import Alert, AlertRule
from autopilot.domain.conditions import Truth
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.remediations import Gauged
from autopilot.domain.scaling import Bounds
from autopilot.policy.values import Remedy


@dataclass(frozen=True, slots=True)
class Carried:
    """What the fleet carries now: requests in flight, the proven load of a replica, arrivals per second. None is unknown."""

    in_flight: float | None
    good: float | None
    arrivals: float | None


@dataclass(frozen=True, slots=True)
class Stand:
    """One remediation's view of the tick.

    `foreign` says that another hand changed the count on this tick; `refused` what was said to a request for more
    replicas that came back on this tick as refused for good.
    """

    case: Case
    alert: Alert
    rule: AlertRule
    remedy: Remedy
    bounds: Bounds
    load: Carried
    start_within: timedelta
    foreign: bool = False
    refused: str = ""

    @property
    def now(self) -> LogicalTime:
        """Logical time."""
        return self.case.seen.now

    @property
    def passed(self) -> timedelta:
        """How long it has been since the last tick."""
        return self.case.seen.now - self.case.memory.now if self.case.memory.now else ZERO

    @property
    def condition_met(self) -> bool:
        """Nothing opens or starts on a tick whose condition is not yes."""
        return self.alert.truth is Truth.YES

    @property
    def serving(self) -> int | None:
        """How many replicas carry traffic, None while the backend cannot be asked."""
        workload = self.case.workload
        return None if workload is None else len(workload.serving)


@dataclass(frozen=True, slots=True)
class Symptom:
    """The symptom after a landing: its truth, and the measures that windows are compared by."""

    truth: Truth
    gauged: Gauged
    longest_over: timedelta
