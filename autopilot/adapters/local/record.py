"""What the local backend must not forget: one JSON file per fleet, whole or not at all, and a lock on all of them."""

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from autopilot.adapters.local.processes import Mark, Process
from autopilot.domain.workloads import FleetRef, Replica, ReplicaState, Workload
from autopilot.fleet.edges import Edges
from autopilot.ports import StateInUse, StateLost

LOADS_KEPT = 20  # start-up times kept per template: its p99 is then the longest of the last twenty


class Phase(StrEnum):
    """Where the supervisor stands with a replica."""

    STARTING = "starting"  # from before the fork on
    WARMING = "warming"
    JOINING = "joining"  # warm; the router has not taken it in yet
    SERVING = "serving"  # in the router's list, unless cordoned
    UNHEALTHY = "unhealthy"  # out of the router's list; may come back
    DOOMED = "doomed"  # unhealthy for good or dead: being killed, then replaced
    FAILED = "failed"  # never served, or died young: seen until it is retried or given up
    LEAVING = "leaving"  # asked to go: nobody counts it any more


_STATES = {
    Phase.STARTING: ReplicaState.STARTING,
    Phase.WARMING: ReplicaState.WARMING,
    Phase.JOINING: ReplicaState.WARMING,
    Phase.SERVING: ReplicaState.SERVING,
    Phase.UNHEALTHY: ReplicaState.UNHEALTHY,
    Phase.DOOMED: ReplicaState.UNHEALTHY,
    Phase.FAILED: ReplicaState.FAILED,
}
SCRAPED = frozenset({Phase.JOINING, Phase.SERVING, Phase.UNHEALTHY})  # never a warming one: its requests are not users'


@dataclass(frozen=True, slots=True)
class ReplicaRecord:
    """One replica. `process` is None from the intent until the fork is recorded, and again once nothing of it runs."""

    name: str
    template: str
    mark: Mark
    port: int
    asked: datetime
    phase: Phase = Phase.STARTING
    process: Process | None = None
    gpus: tuple[int, ...] = ()
    cordoned: bool = False
    termed: bool = False
    load_seconds: float | None = None
    drain_seconds: float = 0.0
    message: str = ""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def in_traffic(self) -> bool:
        """Whether the router should know it."""
        return self.phase in {Phase.JOINING, Phase.SERVING} and not self.cordoned


@dataclass(frozen=True, slots=True)
class RouterRecord:
    """The router of a fleet: its port stays the same for ever, its process comes and goes."""

    port: int
    mark: Mark
    process: Process | None = None
    launches: int = 0

    @property
    def url(self) -> str:
        """Where users send their requests."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class Loads:
    """How long replicas of a template took until they served, newest last."""

    template: str
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FleetRecord:
    """A fleet: what is asked for, at which version, and everything that was started for it.

    `down` until something is first asked for, and again after the command: then it has no router either. `streak`
    counts the failures since a replica last served for a good while. `edges` are what the template has beside the
    document: they change only while nothing runs, or an edited policy would change a template.
    """

    namespace: str
    name: str
    schema: Literal[1] = 1
    desired: int = 0
    version: int = 1
    down: bool = True
    sequence: int = 0
    labels: tuple[tuple[str, str], ...] = ()
    replicas: tuple[ReplicaRecord, ...] = ()
    router: RouterRecord | None = None
    loads: tuple[Loads, ...] = ()
    streak: int = 0
    edges: Edges = ()

    @property
    def ref(self) -> FleetRef:
        """Its name."""
        return FleetRef(self.namespace, self.name)

    @property
    def counted(self) -> tuple[ReplicaRecord, ...]:
        """The replicas that fill a place of the desired count."""
        return tuple(replica for replica in self.replicas if replica.phase is not Phase.LEAVING)

    def replica(self, name: str) -> ReplicaRecord | None:
        """The replica of this name, leaving ones included."""
        return next((replica for replica in self.replicas if replica.name == name), None)

    def loads_of(self, template: str) -> tuple[float, ...]:
        """The measured start-up times of a template."""
        return next((loads.seconds for loads in self.loads if loads.template == template), ())

    def with_replica(self, changed: ReplicaRecord) -> "FleetRecord":
        """With this replica in the place of the one of its name."""
        return replace(self, replicas=tuple(changed if each.name == changed.name else each for each in self.replicas))

    def without(self, name: str) -> "FleetRecord":
        """Without this replica."""
        return replace(self, replicas=tuple(each for each in self.replicas if each.name != name))

    def with_load(self, template: str, seconds: float) -> "FleetRecord":
        """With one more measured start-up time."""
        kept = (*self.loads_of(template), seconds)[-LOADS_KEPT:]
        others = tuple(loads for loads in self.loads if loads.template != template)
        return replace(self, loads=(*others, Loads(template, kept)))

    def as_workload(self, template: str, *, now: datetime) -> Workload:
        """What the core sees of it."""
        seen = tuple(_as_replica(replica, now=now) for replica in sorted(self.counted, key=lambda each: each.name))
        return Workload(desired=self.desired, version=str(self.version), template=template, replicas=seen)


def _as_replica(record: ReplicaRecord, *, now: datetime) -> Replica:
    out = record.cordoned and record.phase in {Phase.JOINING, Phase.SERVING}
    return Replica(
        name=record.name,
        state=ReplicaState.CORDONED if out else _STATES[record.phase],
        template=record.template,
        age=max(now - record.asked, timedelta(0)),  # a wall clock set back makes nobody younger than nothing
        load_seconds=record.load_seconds,
        message=record.message,
    )


_SCHEMA = TypeAdapter(FleetRecord)


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a fleet's record and logs lie."""

    state_dir: Path
    ref: FleetRef

    @property
    def path(self) -> Path:
        """The fleet's own folder, without links in its path: /proc shows the logs that processes hold without them."""
        return self.state_dir.resolve() / "fleets" / self.ref.namespace / self.ref.name

    def log(self, name: str) -> Path:
        """The log of one launch."""
        return self.logs / f"{name}.log"

    @property
    def logs(self) -> Path:
        """Where the logs of its launches lie."""
        return self.path / "logs"

    def load(self) -> FleetRecord | None:
        """The record; None for a fleet that never was. Raises StateLost: an unreadable record is not an empty one."""
        try:
            return _SCHEMA.validate_json((self.path / "record.json").read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            message = f"{self.path / 'record.json'}: cannot be read ({error}); put it right or move it away, its engines may still run"
            raise StateLost(message) from error

    def save(self, record: FleetRecord) -> None:
        """Write the record durably, all or nothing. Raises StateLost."""
        try:
            write_atomically(self.path / "record.json", _SCHEMA.dump_json(record, indent=1))
        except OSError as error:
            message = f"{self.path / 'record.json'}: cannot be written ({error}); nothing was changed"
            raise StateLost(message) from error


def recorded(state_dir: Path) -> list[FleetRef]:
    """Every fleet that has a record."""
    paths = sorted((state_dir / "fleets").glob("*/*/record.json"))
    return [FleetRef(path.parent.parent.name, path.parent.name) for path in paths]


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file so that every reader sees the old or the new one, power cuts included. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def lock(state_dir: Path) -> Callable[[], None]:
    """Hold the folder until the returned door is called or this process ends. Raises StateInUse, StateLost."""
    path = state_dir / "lock"
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="ascii")
    except OSError as error:
        message = f"{path}: cannot be opened ({error})"
        raise StateLost(message) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        message = f"{path}: process {holder or 'unknown'} runs the fleets of this folder; stop it first, or use another folder"
        raise StateInUse(message) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file.close
