"""Taking capacity away: out of traffic, drained, removed, or called back. One removal per fleet at a time."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, TypeAlias

from autopilot.control.seen import Case, Settled
from autopilot.domain.memory import Memory, Removal
from autopilot.domain.operations import SetReplicas, Uncordon
from autopilot.domain.reasons import Reason
from autopilot.domain.signals import Measured
from autopilot.domain.workloads import PENDING_STATES, ReplicaState, Workload

NEVER_IN_TRAFFIC = PENDING_STATES | {ReplicaState.FAILED}
SETTLE_SCRAPES = 2  # a request accepted just before the cordon shows up within two scrapes


@dataclass(frozen=True, slots=True)
class Continue:
    """Nothing to do but wait."""

    reason: Reason
    limit: str = ""
    kind: Literal["continue"] = "continue"


@dataclass(frozen=True, slots=True)
class CallBack:
    """Give the victims back to traffic."""

    effect: Uncordon
    why: str


@dataclass(frozen=True, slots=True)
class Remove:
    """The victims are drained: let them go."""

    effect: SetReplicas
    why: str


Progress: TypeAlias = Continue | CallBack | Remove


def after_outcomes(memory: Memory, settled: tuple[Settled, ...]) -> Memory:
    """Take in what came of the removal's own operations: it ends when its victims are gone, or back in traffic."""
    for one in settled:
        removal = memory.removal
        if removal is None or not one.happened:
            continue
        match one.intent.operation.effect:
            case SetReplicas(victims=victims) if victims and set(victims) <= set(removal.victims):
                memory = replace(memory, removal=None)
            case Uncordon():
                memory = replace(memory, removal=None)
            case _:
                pass
    return memory


@dataclass(frozen=True, slots=True)
class Outlook:
    """What speaks for or against going on: how many are `wanted`, whether all is `calm` (no symptom, not blind)."""

    wanted: int
    calm: bool
    drain_within: timedelta


def progress(removal: Removal, case: Case, outlook: Outlook) -> Progress:
    """What to do next with a removal that is open."""
    if removal.returning or case.seen.restarted:
        return CallBack(Uncordon(removal.victims), "a removal that was cut puts its victims back")
    workload = case.workload
    if workload is None:
        return Continue(Reason.UNOBSERVED)
    here = tuple(name for name in removal.victims if workload.named(name) is not None)
    left = workload.desired - len(here)
    if not here or outlook.wanted > left:
        return CallBack(Uncordon(removal.victims), f"{outlook.wanted} are wanted, {left} would be left")
    return _drain(removal, here, case, outlook)


def _drain(removal: Removal, here: tuple[str, ...], case: Case, outlook: Outlook) -> Progress:
    workload = case.workload
    age = case.seen.now - removal.began
    seconds = f"{age.total_seconds():.0f} s"
    seen_by_prometheus = age >= SETTLE_SCRAPES * case.seen.scrape_interval
    if workload is not None and outlook.calm and seen_by_prometheus and all(_empty(name, case, workload) for name in here):
        left = workload.desired - len(here)
        return Remove(SetReplicas(left, workload.desired, workload.version, here), f"drained in {seconds}")
    if age > outlook.drain_within:
        return CallBack(Uncordon(removal.victims), f"not drained after {seconds}")
    return Continue(Reason.OPERATION_RUNNING, f"{', '.join(here)} draining for {seconds}")


def _empty(name: str, case: Case, workload: Workload) -> bool:
    """Out of traffic, and measured to hold no request; or never in it. Unknown is not empty."""
    replica = workload.named(name)
    if replica is None or replica.state in NEVER_IN_TRAFFIC:
        return True
    readings = case.seen.readings
    counts = [readings.of(signal, replica=name) for signal in ("running", "waiting")]
    measured_empty = all(isinstance(count, Measured) and not count.partial and count.value == 0 for count in counts)
    return replica.state is ReplicaState.CORDONED and measured_empty
