"""What the doctor asks through: ports, and what it is to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.queries import Query, Target
from autopilot.domain.memory import Memory
from autopilot.domain.samples import Answer
from autopilot.domain.workloads import FleetRef, Observation
from autopilot.policy.values import Fleet, Policy
from autopilot.ports import Clock, Source, SourceFacts


class Asking(Protocol):
    """Many queries to one source at once, under one deadline."""

    def __call__(self, queries: Sequence[Query], *, at: float) -> Mapping[Query, Answer | Exception]:
        """The answer or the failure of each."""
        ...


class Machine(Protocol):
    """This machine's files and ports. An empty text is good news, any other says what is wrong."""

    def unreadable(self, path: Path) -> str:
        """Why a file or folder cannot be read."""
        ...

    def exposed(self, path: Path) -> str:
        """Why a file of secrets is not secret; one that is not there is no business of this question."""
        ...

    def unwritable(self, path: Path) -> str:
        """Why nothing can be written into a folder, or into the nearest one above it that exists."""
        ...

    def holder(self, state: Path) -> str:
        """Who holds a state file now; empty when nobody does."""
        ...

    def unreadable_state(self, state: Path) -> str:
        """Why a state file cannot be read. One that does not exist yet is good."""
        ...

    def listener(self, host: str, port: int) -> str:
        """What listens on a port; empty when nothing does."""
        ...

    def unreachable(self, url: str) -> str:
        """Why no connection to an address can be made. Nothing is sent."""
        ...


class Rivals(Protocol):
    """Others that write the replica count of a fleet. Where a backend can name them, it does so here."""

    def of(self, fleet: Fleet) -> tuple[str, ...]:
        """Who else writes, beside the declared writers."""
        ...


@dataclass(frozen=True, slots=True)
class Server:
    """A source as it is configured, and the doors to it."""

    name: str
    source: Source
    facts: SourceFacts
    asking: Asking
    scrape_interval: timedelta
    allowance_seconds: float = 10.0  # for one question: an engineer waits, a tick does not


@dataclass(frozen=True, slots=True)
class Subject:
    """A fleet to look at, with everything that the daemon would have beside it.

    `versions` are those that its engines tell, by replica.
    """

    fleet: Fleet
    policy: Policy | None
    target: Target
    server: Server
    workload: Observation
    memory: Memory
    interval: timedelta
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def ref(self) -> FleetRef:
        """The fleet's name."""
        return self.fleet.ref

    @property
    def about(self) -> str:
        """The fleet as a finding names it."""
        return str(self.fleet.ref)


@dataclass(frozen=True, slots=True)
class Question:
    """One source at one moment: asks, and counts on answers coming in time."""

    server: Server
    clock: Clock
    at: float

    def rows(self, promql: str) -> Answer:
        """The instant vector. Raises QueryLate or QueryFailed."""
        return self.server.source.instant(promql, at=self.at, deadline_seconds=self.server.allowance_seconds)

    def names(self, matching: str) -> tuple[str, ...]:
        """Label names of the last hour. Raises as `rows`."""
        return self.server.facts.label_names(matching, since=self.at - _LATELY, deadline_seconds=self.server.allowance_seconds)

    def values(self, label: str, matching: str = "") -> tuple[str, ...]:
        """Label values of the last hour. Raises as `rows`."""
        return self.server.facts.label_values(label, matching, since=self.at - _LATELY, deadline_seconds=self.server.allowance_seconds)


_LATELY = 3600.0  # seconds: what was there in the last hour is there


def live_of(names: Sequence[str]) -> tuple[LiveReplica, ...]:
    """Replicas that are taken to be there for long: what they do not show is a gap."""
    return tuple(LiveReplica(name, timedelta(days=1)) for name in names)
