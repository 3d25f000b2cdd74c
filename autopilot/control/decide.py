"""From what a tick wants to what it does: every wish passes the guards, and what does not pass has a reason."""

from dataclasses import dataclass, replace

from autopilot.control.guards import Asked, denied, failing, objection
from autopilot.control.ladder import Telling
from autopilot.control.level import Grow, Level, Shrink, Stay
from autopilot.control.removal import CallBack, Continue, Outlook, Over, Remove, progress
from autopilot.control.seen import Case
from autopilot.domain.decisions import Act, Decision, Hold
from autopilot.domain.memory import Memory, Removal
from autopilot.domain.operations import Cordon, Effect, Intent, Operation, SetReplicas, Tell
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import Verb


@dataclass(frozen=True, slots=True)
class Wish:
    """An effect that the tick wants, before the guards have spoken."""

    verb: Verb
    effect: Effect
    why: str
    remediation: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """What a tick decided for a fleet, with the intents of its acts already in memory."""

    memory: Memory
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class Wants:
    """What the tick wants: the level's result, the outlook for an open removal, the ladders' messages.

    Where the level could not be computed, `held` says why; people are told all the same.
    """

    level: Level | None
    outlook: Outlook | None
    tellings: tuple[Telling, ...] = ()
    held: Hold | None = None


def decide(case: Case, wants: Wants, *, granted: int | None) -> Decided:
    """Turn what is wanted into acts and holds.

    `granted` is how many more replicas the GPU budgets allow, None for no limit.
    """
    memory = case.memory
    wishes: list[Wish | Hold] = [wants.held] if wants.held is not None else []
    if memory.removal is not None:
        memory, wish = _carry_on(memory, memory.removal, case, wants.outlook)
        wishes.append(wish)
    if wants.level is not None:
        if not _writing(case, wishes):
            wishes.extend(_retract(case, wants.level))
        busy = _writing(case, wishes)
        memory, scaled = _scale(replace(case, memory=memory), wants.level, granted, busy=busy)
        wishes.append(scaled)
    wishes.extend(_told(telling, case) for telling in wants.tellings)
    return _number(memory, case, wishes)


def _carry_on(memory: Memory, removal: Removal, case: Case, outlook: Outlook | None) -> tuple[Memory, Wish | Hold]:
    if any(_is_about(intent, removal) for intent in memory.intents):
        return memory, Hold(Verb.SCALE_IN, Reason.OPERATION_RUNNING, "waiting for the last step of the removal")
    match progress(removal, case, outlook):
        case Continue(reason=reason, limit=limit):
            return memory, Hold(Verb.SCALE_IN, reason, limit)
        case CallBack(effect=effect, why=why):
            # Giving capacity back is guarded by nobody; only what was refused a moment ago is not asked again yet.
            called = replace(memory, removal=replace(removal, returning=True))
            again = denied(Asked(case, Verb.TRAFFIC)) or failing(Asked(case, Verb.TRAFFIC))
            return called, replace(again, verb=Verb.SCALE_IN) if again is not None else Wish(Verb.SCALE_IN, effect, why)
        case Remove(effect=effect, why=why):
            return memory, Wish(Verb.SCALE_IN, effect, why)
        case Over():
            return replace(memory, removal=None), Hold(Verb.SCALE_IN, Reason.AS_WANTED, "the replicas that were to go are gone")


def _is_about(intent: Intent, removal: Removal) -> bool:
    effect = intent.operation.effect
    names = effect.victims if isinstance(effect, SetReplicas) else getattr(effect, "replicas", ())
    return bool(set(names) & set(removal.victims))


def _retract(case: Case, level: Level) -> list[Wish | Hold]:
    """Take back replicas that never became ready: they carry nothing, so nothing speaks for keeping them."""
    workload = case.workload
    if not level.retract or workload is None:
        return []
    hold = objection(case, Verb.SCALE_OUT) or denied(Asked(case, Verb.SCALE_IN)) or failing(Asked(case, Verb.SCALE_IN))
    if hold is not None:
        return [hold]
    count = workload.desired - len(level.retract)
    effect = SetReplicas(count, workload.desired, workload.version, level.retract)
    return [Wish(Verb.SCALE_OUT, effect, f"retracted, never ready: {level.retract_why}", _ladder(case))]


def _writing(case: Case, wishes: list[Wish | Hold]) -> bool:
    """Whether a change of the count is on its way, or decided on this tick: the next needs its version."""
    under_way = [intent.operation.effect for intent in case.memory.intents]
    decided = [wish.effect for wish in wishes if isinstance(wish, Wish)]
    return any(isinstance(effect, SetReplicas) for effect in (*under_way, *decided))


def _ladder(case: Case) -> str:
    return case.memory.remediation.id if case.memory.remediation is not None else ""


def _scale(case: Case, level: Level, granted: int | None, *, busy: bool) -> tuple[Memory, Wish | Hold]:
    memory, workload = case.memory, case.workload
    match level.move:
        case Stay(verb=verb, reason=reason, limit=limit):
            return memory, Hold(verb, reason, limit)
        case _ if workload is None:
            return memory, Hold(Verb.SCALE_OUT, Reason.UNOBSERVED)
        case _ if busy:
            return memory, Hold(Verb.SCALE_OUT, Reason.OPERATION_RUNNING, "a change of the replica count is on its way")
        case Grow(to=to, why=why):
            return memory, _grow(case, to, why, granted)
        case Shrink(victims=victims, why=why):
            return _shrink(case, victims, why)


def _grow(case: Case, to: int, why: str, granted: int | None) -> Wish | Hold:
    workload = case.workload
    hold = objection(case, Verb.SCALE_OUT)
    if hold is not None or workload is None:
        return hold or Hold(Verb.SCALE_OUT, Reason.UNOBSERVED)
    if to <= workload.desired:
        return Hold(Verb.SCALE_OUT, Reason.PENDING_COVERS, "the replicas that are called back cover it")
    allowed = to if granted is None else min(to, workload.desired + granted)
    if allowed <= workload.desired:
        return Hold(Verb.SCALE_OUT, Reason.NO_GPUS, f"{to} are wanted, the budget allows no more than {workload.desired}")
    return Wish(Verb.SCALE_OUT, SetReplicas(allowed, workload.desired, workload.version), why, _ladder(case))


def _shrink(case: Case, victims: tuple[str, ...], why: str) -> tuple[Memory, Wish | Hold]:
    memory = case.memory
    hold = objection(case, Verb.SCALE_IN)
    if hold is not None:
        return memory, hold
    if memory.removal is not None:
        return memory, Hold(Verb.SCALE_IN, Reason.OPERATION_RUNNING, "one removal at a time")
    workload = case.workload
    if workload is not None and not workload.can_cordon:
        # Traffic cannot be cut first: these have nothing running, and what comes meanwhile is the pod's own drain's.
        count = workload.desired - len(victims)
        return memory, Wish(Verb.SCALE_IN, SetReplicas(count, workload.desired, workload.version, victims), why)
    removal = Removal(victims=victims, began=case.seen.now)
    return replace(memory, removal=removal), Wish(Verb.SCALE_IN, Cordon(victims), why)


def _told(telling: Telling, case: Case) -> Wish | Hold:
    hold = objection(case, Verb.NOTIFY) if case.policy is not None else None
    if hold is not None:
        return hold
    message = Tell(telling.receivers, telling.key, telling.title, telling.text)
    return Wish(Verb.NOTIFY, message, telling.title, telling.remediation)


def _number(memory: Memory, case: Case, wishes: list[Wish | Hold]) -> Decided:
    """Give every act its operation and put its intent into memory."""
    decisions: list[Decision] = []
    intents = list(memory.intents)
    sequence = memory.sequence
    for wish in wishes:
        if isinstance(wish, Hold):
            decisions.append(wish)
            continue
        sequence += 1
        operation = Operation(f"{case.fleet.ref}/{sequence}", case.fleet.ref, wish.verb, wish.effect)
        intents.append(Intent(operation, case.seen.now, wish.remediation))
        decisions.append(Act(operation, wish.why, wish.remediation))
    return Decided(replace(memory, intents=tuple(intents), sequence=sequence), tuple(decisions))
