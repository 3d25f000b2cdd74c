"""The fleets' records while the backend runs: changed one at a time, on disk before anyone acts on a change."""

import random
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from autopilot.adapters.local.record import FleetRecord, Folder, ReplicaRecord
from autopilot.domain.workloads import FleetRef
from autopilot.ports import Failed

Change = Callable[[FleetRecord], FleetRecord]


@dataclass(slots=True)
class Ledger:
    """Every fleet's newest record. Reading takes no lock: records are frozen."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    _records: dict[FleetRef, FleetRecord] = field(default_factory=dict)
    _folders: dict[FleetRef, Folder] = field(default_factory=dict)

    def enter(self, record: FleetRecord, folder: Folder) -> None:
        """Know a fleet from now on, as it is on disk."""
        with self.lock:
            self._folders[record.ref] = folder
            self._records[record.ref] = record

    def __getitem__(self, fleet: FleetRef) -> FleetRecord:
        """The newest record."""
        return self._records[fleet]

    @property
    def records(self) -> Sequence[FleetRecord]:
        """The newest record of every fleet."""
        return tuple(self._records.values())

    def change(self, fleet: FleetRef, change: Change) -> FleetRecord:
        """Save what `change` makes of the newest record, then let it be seen. Raises StateLost and what `change` raises."""
        with self.lock:
            before = self._records[fleet]
            after = change(before)
            if after != before:
                self._folders[fleet].save(after)
                self._records[fleet] = after
            return after

    def change_replica(self, fleet: FleetRef, seen: ReplicaRecord, changed: ReplicaRecord) -> None:
        """Put `changed` in the place of `seen`, unless somebody asked for something else meanwhile. Raises StateLost."""
        self.change(fleet, lambda record: record.with_replica(changed) if record.replica(seen.name) == seen else record)


def free_gpus(records: Iterable[FleetRecord], gpus: Sequence[int]) -> tuple[int, ...]:
    """The GPUs that no replica holds, those on their way out included: their memory is free only when they are gone."""
    held = {gpu for record in records for replica in record.replicas for gpu in replica.gpus}
    return tuple(gpu for gpu in gpus if gpu not in held)


def free_port(records: Iterable[FleetRecord], ports: range) -> int:
    """A loopback port that nobody listens on and no record names. Raises Failed when there is none."""
    named = {replica.port for record in records for replica in record.replicas}
    named |= {record.router.port for record in records if record.router is not None}
    start = random.randrange(len(ports))  # noqa: S311 - so that two daemons do not go for the same one
    rotated: tuple[int, ...] = (*ports[start:], *ports[:start])
    for port in rotated:
        if port not in named and _bindable(port):
            return port
    message = f"no port of {ports.start} to {ports.stop - 1} is free on 127.0.0.1; free some or configure others"
    raise Failed(message)


def _bindable(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
