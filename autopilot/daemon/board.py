"""The board: the last tick's state of every fleet, for whoever reads it from another thread."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from autopilot.control.audit import Record
from autopilot.control.status import FleetStatus, summarize
from autopilot.daemon.inert import Inert
from autopilot.daemon.looking import Sight
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """The daemon after its last completed tick. `at` is wall time, `running_seconds` logical time.

    `inert` says which policies do nothing, and why.
    """

    at: datetime | None = None
    running_seconds: float = 0.0
    ticks: int = 0
    queries: int = 0
    failures: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    inert: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that is shown."""

    daemon: DaemonStatus
    fleets: tuple[FleetStatus, ...]


@dataclass(frozen=True)
class Tick:
    """What came of one tick."""

    records: Sequence[Record]
    sight: Sight
    inert: Inert = field(default_factory=Inert)


class Board:
    """Posted by the tick, read by the web server. A reader sees one whole tick or another, never a mixture."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._status = Status(DaemonStatus(), ())
        self._posted_at: LogicalTime | None = None

    def post(self, book: Book, tick: Tick, *, wall: datetime, now: LogicalTime) -> None:
        """Put up the result of a completed tick."""
        sight, inert = tick.sight, tick.inert
        summaries = (summarize(record, book.policy_of(record.fleet)) for record in tick.records)
        fleets = tuple(summary.with_inert(inert.alerts.get(FleetRef.parse(summary.fleet), ())) for summary in summaries)
        daemon = DaemonStatus(
            at=wall,
            running_seconds=now.total_seconds(),
            ticks=self._status.daemon.ticks + 1,
            queries=sight.queries,
            failures=tuple(f"{source}: {gap}: {detail}" for source, gap, detail in sight.failures),
            problems=book.problems,
            warnings=(*book.warnings, *sight.warnings),
            inert=inert.lines,
        )
        with self._lock:
            self._status = Status(daemon, fleets)
            self._posted_at = now

    def read(self) -> Status:
        """The last completed tick."""
        with self._lock:
            return self._status

    def age(self, *, now: LogicalTime) -> LogicalTime | None:
        """How old the last completed tick is; None before the first."""
        with self._lock:
            return None if self._posted_at is None else max(ZERO, now - self._posted_at)


def by_name(status: Status) -> Mapping[str, FleetStatus]:
    """The fleets of a status by their names."""
    return {fleet.fleet: fleet for fleet in status.fleets}
