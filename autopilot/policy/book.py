"""The documents in force: which fleet follows which policy. A document that does not load keeps its last good version."""

from dataclasses import dataclass, field

from autopilot.domain.budgets import GpuBudget
from autopilot.domain.workloads import FleetRef
from autopilot.policy.values import Fleet, Policy


@dataclass(frozen=True, slots=True)
class Entry:
    """One fleet and the policy that covers it; None: it is only observed."""

    fleet: Fleet
    policy: Policy | None

    @property
    def hash(self) -> str:
        """Names what is in force for the fleet."""
        return f"{self.fleet.hash}-{self.policy.hash if self.policy is not None else 'none'}"


@dataclass(frozen=True)
class Book:
    """Everything in force. `problems` are those of the newest files, as they are shown to people.

    `strays` are good policies that rule no fleet.
    """

    entries: tuple[Entry, ...] = ()
    budgets: tuple[GpuBudget, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    strays: tuple[FleetRef, ...] = ()
    by_fleet: dict[FleetRef, Entry] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Index the entries."""
        object.__setattr__(self, "by_fleet", {entry.fleet.ref: entry for entry in self.entries})

    def hash_of(self, fleet: FleetRef) -> str:
        """The hash of the documents in force for a fleet."""
        return self.by_fleet[fleet].hash

    def policy_of(self, fleet: FleetRef) -> Policy | None:
        """The policy in force for a fleet."""
        return self.by_fleet[fleet].policy
