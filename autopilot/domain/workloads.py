"""A fleet as it was observed: what was asked for, and what is there."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, order=True)
class FleetRef:
    """The name of a fleet; written `namespace/name`."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """As people and logs write it."""
        return f"{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> "FleetRef":
        """Read `namespace/name`. Raises ValueError for anything else."""
        namespace, slash, name = text.partition("/")
        if not slash or not namespace or not name or "/" in name:
            message = f'"{text}" is not a fleet, write it as namespace/name'
            raise ValueError(message)
        return cls(namespace, name)


class ReplicaState(StrEnum):
    """Where a replica stands in its life."""

    STARTING = "starting"  # asked for; its model loads, or it waits for a place
    WARMING = "warming"  # loaded, being warmed up, not in traffic
    SERVING = "serving"  # ready, warm, in traffic
    CORDONED = "cordoned"  # out of traffic by us: draining
    UNHEALTHY = "unhealthy"  # was serving, answers no more
    FAILED = "failed"  # will not come up by itself


PENDING_STATES = frozenset({ReplicaState.STARTING, ReplicaState.WARMING})


@dataclass(frozen=True, slots=True)
class Replica:
    """One replica. `message` is the reason the backend gives for its state (a scheduler's, or the last log lines).

    `load_seconds` is how long it took from being asked for until it served, None until then.
    """

    name: str
    state: ReplicaState
    template: str = ""
    age: timedelta = timedelta(0)
    load_seconds: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """What the backend knows of one fleet's pool.

    `desired` is what was asked for (`spec.replicas`); `version` the token that a change must carry to be
    accepted; `template` the hash under which learned values are kept; `can_cordon` whether a replica can be
    taken out of traffic before it is removed.
    """

    desired: int
    version: str
    template: str
    replicas: tuple[Replica, ...] = ()
    can_cordon: bool = True
    paused_by: str = ""
    kind: Literal["workload"] = "workload"

    def __post_init__(self) -> None:
        """Refuse a negative count."""
        if self.desired < 0:
            message = f"a workload cannot ask for {self.desired} replicas"
            raise ValueError(message)

    def named(self, name: str) -> Replica | None:
        """The replica of this name, if it is there."""
        return next((replica for replica in self.replicas if replica.name == name), None)

    def in_state(self, *states: ReplicaState) -> tuple[Replica, ...]:
        """The replicas in any of these states."""
        return tuple(replica for replica in self.replicas if replica.state in states)

    @property
    def serving(self) -> tuple[Replica, ...]:
        """Ready, warm and in traffic."""
        return self.in_state(ReplicaState.SERVING)


@dataclass(frozen=True, slots=True)
class Unobserved:
    """The backend could not be asked. `detail` is for people."""

    detail: str = ""
    kind: Literal["unobserved"] = field(default="unobserved")


Observation: TypeAlias = Workload | Unobserved
