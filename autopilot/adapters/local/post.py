"""What everyone who looks after one fleet works with, and the rest after failures that keeps crashes from looping."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.adapters.http import HttpClient
from autopilot.adapters.local.engines import Engine
from autopilot.adapters.local.fleets import LocalFleet, LocalOptions
from autopilot.adapters.local.ledger import Ledger
from autopilot.adapters.local.record import FleetRecord, Folder, Phase, ReplicaRecord
from autopilot.ports import Clock


@dataclass(slots=True)
class Post:
    """One fleet's place in the backend. `fleet` is replaced when its document is.

    `ruled` is false once its document is gone: it serves on and what began is finished, nothing is started or killed.
    """

    fleet: LocalFleet
    options: LocalOptions
    folder: Folder
    ledger: Ledger
    clock: Clock
    http: HttpClient
    ruled: bool = True

    @property
    def record(self) -> FleetRecord:
        """The newest record of the fleet."""
        return self.ledger[self.fleet.ref]

    def engine(self, replica: ReplicaRecord) -> Engine:
        """The replica's server."""
        return Engine(replica.url, self.http)

    def change(self, change: Callable[[FleetRecord], FleetRecord]) -> FleetRecord:
        """Change the fleet's record. Raises StateLost."""
        return self.ledger.change(self.fleet.ref, change)

    def put(self, seen: ReplicaRecord, changed: ReplicaRecord) -> None:
        """Change one replica, unless somebody asked for something else meanwhile. Raises StateLost."""
        self.ledger.change_replica(self.fleet.ref, seen, changed)


class Setbacks:
    """How long nothing that failed is tried again: 30 s, doubling to 10 min, until a replica has served for a good while."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._retry_at: timedelta | None = None
        self._serving_since: dict[str, timedelta] = {}

    def served(self, replica: ReplicaRecord, *, now: timedelta) -> None:
        """Note a replica in traffic. One that has been for a good while ends the run of failures."""
        since = self._serving_since.setdefault(replica.name, now)
        if now - since >= self._steady and self._post.record.streak:
            self._post.change(lambda record: replace(record, streak=0))

    def died(self, replica: ReplicaRecord, message: str, *, now: timedelta) -> None:
        """A replica that had served is dead or lost: replaced at once, unless it is one of several that died young."""
        young = now - self._serving_since.pop(replica.name, now) < self._steady
        if young and self._post.record.streak:
            self.failed(replica, message, now=now)
            return
        if young:
            self._post.change(lambda record: replace(record, streak=1))
        self._post.put(replica, replace(replica, phase=Phase.DOOMED, message=message))

    def failed(self, replica: ReplicaRecord, message: str, *, now: timedelta) -> None:
        """A replica did not come up: its place stays empty until the rest is over. Several at once are one failure."""
        if self._retry_at is None or now >= self._retry_at:
            self._post.change(lambda record: replace(record, streak=record.streak + 1))
            self._retry_at = now + self._rest()
        self._post.put(replica, replace(replica, phase=Phase.FAILED, message=message))

    def over(self, *, now: timedelta) -> bool:
        """Whether what failed may be tried again. After a restart of the daemon the rest begins anew."""
        if self._retry_at is None:
            self._retry_at = now + self._rest()
        return now >= self._retry_at

    @property
    def _steady(self) -> timedelta:
        return timedelta(seconds=self._post.options.times.steady)

    def _rest(self) -> timedelta:
        times = self._post.options.times
        doubled = times.retry_first * 2.0 ** min(max(self._post.record.streak - 1, 0), 16)
        return timedelta(seconds=min(doubled, times.retry_most))
