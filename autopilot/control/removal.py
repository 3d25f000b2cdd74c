"""Taking capacity away: out of traffic, drained, removed, or called back. One removal per fleet at a time."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, TypeAlias

from autopilot.control.guards import objection
from autopilot.control.seen import Case, Settled
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.memory import Memory, Removal
from autopilot.domain.operations import Cordon, SetReplicas, Uncordon
from autopilot.domain.reasons import Reason
from autopilot.domain.signals import Measured
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import PENDING_STATES, Replica, ReplicaState, Workload

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


@dataclass(frozen=True, slots=True)
class Over:
    """None of the victims is there any more: nothing is left to remove, or to call back."""


Progress: TypeAlias = Continue | CallBack | Remove | Over


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


def resume_removal(case: Case, settled: tuple[Settled, ...]) -> Memory:
    """The memory with a removal that is only to put its victims back, where it cannot go on as planned.

    A new process does not carry on with what another began; a cordon that did not come out may have been made for
    some; and what is out of traffic without anybody knowing why (the memory was lost) was taken out by us.
    """
    memory = case.memory
    if memory.removal is None:
        return _adopted(case) if not settled else memory
    failed = any(isinstance(one.intent.operation.effect, Cordon) and not one.happened for one in settled)
    return replace(memory, removal=replace(memory.removal, returning=True)) if failed or case.seen.restarted else memory


def _adopted(case: Case) -> Memory:
    memory, workload = case.memory, case.workload
    out = workload.in_state(ReplicaState.CORDONED) if workload is not None else ()
    if workload is None or not out or len(workload.replicas) > workload.desired or memory.intents:
        return memory
    if objection(replace(case, memory=memory), Verb.SCALE_IN) is not None:
        return memory  # who may not take replicas out of traffic did not take these
    return replace(memory, removal=_returning(out, now=case.seen.now))


def _returning(out: tuple[Replica, ...], *, now: LogicalTime) -> Removal:
    return Removal(tuple(replica.name for replica in out), began=now, returning=True)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What speaks for or against going on: how many are `wanted`, whether all is `calm` (no symptom, no open ladder, not blind).

    `drain_within` is None where the policy lets nothing go any more.
    """

    wanted: int
    calm: bool
    drain_within: timedelta | None


def progress(removal: Removal, case: Case, outlook: Outlook | None) -> Progress:
    """What to do next with a removal that is open. No outlook: the policy has no scaling any more."""
    workload = case.workload
    if workload is None:
        return Continue(Reason.UNOBSERVED)
    here = tuple(name for name in removal.victims if workload.named(name) is not None)
    if not here:
        return Over()
    within = outlook.drain_within if outlook is not None else None
    if removal.returning or outlook is None or within is None:
        why = "a removal that was cut puts its victims back" if removal.returning else "the policy lets nothing go any more"
        return CallBack(Uncordon(here), why)
    objected = _objection(case, wanted=outlook.wanted, left=workload.desired - len(here))
    return CallBack(Uncordon(here), objected) if objected else _drain(removal, here, case, calm=outlook.calm, within=within)


def _objection(case: Case, *, wanted: int, left: int) -> str:
    """What speaks for having the victims back; empty when nothing does.

    Replicas that may not be removed now must not wait out of traffic until they may.
    """
    hold = objection(case, Verb.SCALE_IN)
    if hold is not None:
        return f"held: {hold.reason}{': ' + hold.limit if hold.limit else ''}"
    return f"{wanted} are wanted, {left} would be left" if wanted > left else ""


def _drain(removal: Removal, here: tuple[str, ...], case: Case, *, calm: bool, within: timedelta) -> Progress:
    workload = case.workload
    age = case.seen.now - removal.began
    seconds = f"{age.total_seconds():.0f} s"
    seen_by_prometheus = age >= SETTLE_SCRAPES * case.seen.scrape_interval
    if workload is not None and calm and seen_by_prometheus and all(_empty(name, case, workload) for name in here):
        left = workload.desired - len(here)
        return Remove(SetReplicas(left, workload.desired, workload.version, here), f"drained in {seconds}")
    if age > within:
        return CallBack(Uncordon(here), f"not drained after {seconds}")
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
