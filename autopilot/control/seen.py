"""What one tick saw of one fleet: everything that decisions may depend on, and nothing else."""

from dataclasses import dataclass
from datetime import timedelta

from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Intent, Outcome
from autopilot.domain.reports import Claim
from autopilot.domain.signals import Readings
from autopilot.domain.workloads import Observation, Workload
from autopilot.policy.values import Fleet, Policy


@dataclass(frozen=True, slots=True)
class Seen:
    """One look. `executing` names the operations that workers hold now; `restarted` is true on the first tick of a process.

    `outcomes` came in since the last tick; `windows` are the names of the calendar windows open now; `storm`
    says that so many fleets fire at once that the cause must be shared; `reported` is what webhooks claim of the fleet.
    """

    now: LogicalTime
    interval: timedelta
    scrape_interval: timedelta
    readings: Readings
    workload: Observation
    outcomes: tuple[Outcome, ...] = ()
    executing: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    restarted: bool = False
    storm: bool = False
    reported: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A fleet, its policy if one matches, what is remembered and what is seen."""

    fleet: Fleet
    policy: Policy | None
    memory: Memory
    seen: Seen

    @property
    def workload(self) -> Workload | None:
        """The observed workload, None when the backend could not be asked."""
        return self.seen.workload if isinstance(self.seen.workload, Workload) else None


@dataclass(frozen=True, slots=True)
class Settled:
    """An intent whose outcome is known now, and how it came out."""

    intent: Intent
    happened: bool
    void: bool = False
    permanent: bool = False
    detail: str = ""
