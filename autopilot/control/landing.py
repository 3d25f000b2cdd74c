"""Whether what a step asked for is coming: landed, disturbed, held back, or never."""

from dataclasses import replace

from autopilot.control.seen import Case
from autopilot.control.stand import Stand
from autopilot.domain.decisions import Decision, Hold
from autopilot.domain.memory import Memory
from autopilot.domain.operations import SetReplicas
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Attempt, Phase
from autopilot.domain.signals import Measured
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import PENDING_STATES, ReplicaState

# Holds on adding replicas that pass by themselves, or say that there is nothing to add.
PASSING = frozenset({Reason.PENDING_COVERS, Reason.OPERATION_RUNNING, Reason.UNOBSERVED, Reason.STATE_UNSAVED, Reason.AWAITING_LANDING})


def disturbed(attempt: Attempt, stand: Stand, *, at_least: int) -> str:
    """What happened in between that makes the attempt void; empty when nothing did."""
    workload = stand.case.workload
    if workload is None:
        return ""
    if attempt.template and workload.template != attempt.template:
        return "the pod template changed: a rollout"
    if stand.foreign:
        return "another writer changed the replica count"
    lost = at_least - len(workload.serving)
    return f"{lost} serving replicas were lost" if lost > 0 else ""


def never_starts(attempt: Attempt, stand: Stand) -> str:
    """Why what was asked for will not come; empty while it still may."""
    workload = stand.case.workload
    if workload is None or _hopeful(stand):
        return ""
    failed = workload.in_state(ReplicaState.FAILED)
    if failed and _all_there(stand.case):
        return failed[-1].message or f"{failed[-1].name} failed to start"
    bar = stand.case.memory.level.bar
    if bar is not None and bar.until - bar.rest >= attempt.began:
        return bar.message or f"not ready within {stand.start_within}"
    return ""


def late(attempt: Attempt, stand: Stand) -> str:
    """Why it is too late for what was asked for; empty while it is not."""
    workload = stand.case.workload
    if workload is None or attempt.waited <= stand.start_within:
        return ""
    said = next((replica.message for replica in workload.in_state(*PENDING_STATES) if replica.message), "")
    return f"not ready within {stand.start_within}{': ' + said if said else ''}"


def coming(stand: Stand) -> bool:
    """Whether replicas are pending, or a change of the count is on its way."""
    return _hopeful(stand) or _writing(stand.case)


def unscraped(stand: Stand) -> str:
    """The replicas in traffic that nobody scrapes: what was measured without them proves nothing. Empty when all are."""
    serving = stand.case.workload.serving if stand.case.workload is not None else ()
    readings = stand.case.seen.readings
    return ", ".join(one.name for one in serving if readings.of("up", replica=one.name) != Measured(1.0))


def note_hold(memory: Memory, decisions: tuple[Decision, ...]) -> Memory:
    """What kept a started step's replicas from being asked for is the step's reason, until the next tick looks again."""
    remediation = memory.remediation
    current = remediation.current if remediation is not None else None
    if remediation is None or current is None or current.phase is not Phase.STARTED:
        return memory
    holds = (one for one in decisions if isinstance(one, Hold) and one.verb is Verb.SCALE_OUT and one.reason not in PASSING)
    hold = next(holds, None)
    if hold is None:
        return memory
    held = replace(current, reason=hold.reason, detail=hold.limit)
    return replace(memory, remediation=replace(remediation, attempts=(*remediation.attempts[:-1], held)))


def _hopeful(stand: Stand) -> bool:
    """Whether a replica is pending that nobody has given up."""
    workload, given_up = stand.case.workload, stand.case.memory.level.given_up
    return workload is not None and any(replica.name not in given_up for replica in workload.in_state(*PENDING_STATES))


def _all_there(case: Case) -> bool:
    """Whether everything that was asked for has been made: an older failure says nothing about what is not there yet."""
    workload = case.workload
    return workload is not None and not _writing(case) and len(workload.replicas) >= workload.desired


def _writing(case: Case) -> bool:
    return any(isinstance(intent.operation.effect, SetReplicas) for intent in case.memory.intents)
