"""Effects as values: what a worker carries out, step by step, each a compare-and-set, and what came of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import FleetRef


@dataclass(frozen=True, slots=True)
class SetReplicas:
    """Ask for `count` replicas instead of `before`, if the workload is still at `version`.

    When the count falls, `victims` names the replicas to go: as many as it falls by.
    """

    count: int
    before: int
    version: str
    victims: tuple[str, ...] = ()
    kind: Literal["set_replicas"] = "set_replicas"


@dataclass(frozen=True, slots=True)
class Cordon:
    """Take replicas out of traffic. Already out is done."""

    replicas: tuple[str, ...]
    kind: Literal["cordon"] = "cordon"


@dataclass(frozen=True, slots=True)
class Uncordon:
    """Give replicas back to traffic. Already in is done."""

    replicas: tuple[str, ...]
    kind: Literal["uncordon"] = "uncordon"


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell people. `key` is what deliveries are deduplicated by."""

    receivers: tuple[str, ...]
    key: str
    title: str
    text: str
    kind: Literal["tell"] = "tell"


Effect: TypeAlias = SetReplicas | Cordon | Uncordon | Tell


@dataclass(frozen=True, slots=True)
class Operation:
    """One effect on one fleet, under the id of the intent that was saved before it."""

    id: str
    fleet: FleetRef
    verb: Verb
    effect: Effect


@dataclass(frozen=True, slots=True)
class Intent:
    """An operation that was decided and may or may not have happened. `remediation` is "" for the scaling level's own."""

    operation: Operation
    at: LogicalTime
    remediation: str = ""


class OutcomeKind(StrEnum):
    """What came of an operation."""

    DONE = "done"
    CONFLICT = "conflict"  # the workload was at another version: look and decide again
    REFUSED = "refused"  # permanent: denied, invalid, gone
    FAILED = "failed"  # this try failed, nothing was changed
    UNSURE = "unsure"  # no answer: it may have happened; look before trying again


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an operation, as a worker reports it to a later tick. `detail` is for people."""

    operation: str
    kind: OutcomeKind
    detail: str = ""
