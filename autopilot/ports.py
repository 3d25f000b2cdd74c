"""The doors between the core and the world: what an adapter offers, and the errors it may raise.

Adapters raise only these errors; each says in one line what was tried on what, what came back, and what to do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, SetReplicas, Tell, Uncordon
from autopilot.domain.samples import Answer, Build, Track
from autopilot.domain.workloads import FleetRef, Observation


class PortError(Exception):
    """Something at the rim did not work."""


class QueryFailed(PortError):
    """A source did not give a usable answer to a query."""


class QueryLate(QueryFailed):
    """A source did not answer within the deadline."""


class Conflict(PortError):
    """The workload is not at the version the change was planned at: look and decide again."""


class Refused(PortError):
    """The change will not be accepted however often it is tried: denied, invalid, gone."""


class Failed(PortError):
    """The change was not made this time; nothing was changed."""


class Unsure(PortError):
    """Nobody answered: the change may have been made. Look before trying again."""


class StateLost(PortError):
    """The state store cannot be read or written."""


class StateInUse(PortError):
    """Another process holds the state store. The message names it."""


class Overloaded(PortError):
    """Too much waits already: the same is welcome a little later."""


class DeliveryFailed(PortError):
    """A receiver did not take a notification."""


class Clock(Protocol):
    """The only reader of clocks."""

    def wall(self) -> datetime:
        """Now, in UTC, aware."""
        ...

    def running(self) -> timedelta:
        """Monotonic time since this process started."""
        ...


class Source(Protocol):
    """A Prometheus server."""

    def instant(self, query: str, *, at: float, deadline_seconds: float) -> Answer:
        """The instant vector of `query` at Unix time `at`.

        Ends within `deadline_seconds` (+0.2 s), retries included.
        Raises QueryLate or QueryFailed; never returns an answer that is not an instant vector or a scalar
        (a scalar comes back as one sample without labels).
        """
        ...

    def ready(self) -> bool:
        """Whether it answers queries now. Never raises."""
        ...


class SourceFacts(Protocol):
    """What a Prometheus server tells about itself and its labels; for people who set things up, never asked by the loop.

    Every call ends within `deadline_seconds` (+0.2 s) and raises QueryLate or QueryFailed.
    """

    def build(self, *, deadline_seconds: float) -> Build:
        """Its product and version."""
        ...

    def now(self, *, deadline_seconds: float) -> float:
        """Its own clock, in Unix seconds, while it answered."""
        ...

    def label_names(self, matching: str, *, since: float, deadline_seconds: float) -> tuple[str, ...]:
        """The labels of the series that a selector matches and that have samples after Unix time `since`."""
        ...

    def label_values(self, label: str, matching: str, *, since: float, deadline_seconds: float) -> tuple[str, ...]:
        """The values of one label on those series."""
        ...


class Past(Protocol):
    """What a Prometheus server remembers."""

    def between(self, query: str, *, start: float, end: float, step_seconds: float, deadline_seconds: float) -> tuple[Track, ...]:
        """The query at every step from `start` to `end`, Unix seconds, both included.

        Ends within `deadline_seconds` (+0.2 s). Raises QueryLate or QueryFailed.
        """
        ...


class Backend(Protocol):
    """Where the replicas of a fleet live."""

    def observe(self, fleet: FleetRef) -> Observation:
        """What is there, from the backend's own cache: returns at once, never raises.

        It shows every change that was accepted before the call: one of ours that is not seen yet would pass
        for another hand's.
        """
        ...

    def set_replicas(self, fleet: FleetRef, effect: SetReplicas) -> None:
        """Compare-and-set of the replica count. Raises Conflict, Refused, Failed or Unsure."""
        ...

    def cordon(self, fleet: FleetRef, effect: Cordon) -> None:
        """Take replicas out of traffic; idempotent. Raises Refused, Failed or Unsure."""
        ...

    def uncordon(self, fleet: FleetRef, effect: Uncordon) -> None:
        """Give replicas back to traffic; idempotent. Raises Refused, Failed or Unsure."""
        ...


class Store(Protocol):
    """Where Memory outlives the process. One writer at a time."""

    def load(self) -> Mapping[FleetRef, Memory]:
        """Every fleet's last saved Memory. Raises StateLost when it cannot be read."""
        ...

    def save(self, memories: Mapping[FleetRef, Memory], *, running: timedelta) -> None:
        """Save these fleets' memories and the logical time, all or nothing, durably. Raises StateLost."""
        ...

    def running(self) -> timedelta:
        """The logical time saved last; zero for a new store."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One audit record as it is kept: `body` is JSON."""

    fleet: FleetRef
    at: timedelta
    wall: datetime
    body: str
    remediation: str = ""
    notable: bool = True


class Journal(Protocol):
    """The history of decisions."""

    def append(self, lines: Sequence[Line]) -> None:
        """Keep these records. A failure is counted and logged, never raised: history must not stop the loop."""
        ...

    def remember_policy(self, hash_: str, text: str) -> None:
        """Keep the documents that records refer to, once per hash. A failure is counted and logged, never raised."""
        ...

    def policy(self, hash_: str) -> str | None:
        """What was kept under a hash. Raises StateLost."""
        ...

    def read(self, fleet: FleetRef | None = None, *, last: int = 100) -> Sequence[Line]:
        """The newest records, oldest first. Raises StateLost."""
        ...


class Notifier(Protocol):
    """Tells people; queues, never blocks."""

    def tell(self, message: Tell) -> None:
        """Queue a message for its receivers. Never raises, never waits."""
        ...
