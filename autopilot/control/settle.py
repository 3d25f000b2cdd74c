"""Settling intents: by the worker's report, else by looking (law 6).

Before: the change is not there, drop it and decide afresh. After: it is there, record it. Neither: void.
"""

from datetime import timedelta
from typing import assert_never

from autopilot.control.seen import Seen, Settled
from autopilot.domain.operations import Cordon, Intent, Outcome, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.domain.workloads import ReplicaState, Workload

TOLD_AGAIN = timedelta(minutes=1)  # a receiver that cannot be told is no reason to try at every tick


def settle(intents: tuple[Intent, ...], seen: Seen) -> tuple[tuple[Intent, ...], tuple[Settled, ...]]:
    """Split intents into those still open and those settled now."""
    still: list[Intent] = []
    done: list[Settled] = []
    for intent in intents:
        result = _settled(intent, seen)
        if result is None:
            still.append(intent)
        else:
            done.append(result)
    return tuple(still), tuple(done)


def _settled(intent: Intent, seen: Seen) -> Settled | None:
    identity = intent.operation.id
    outcome = next((one for one in seen.outcomes if one.operation == identity), None)
    if outcome is not None:
        return _by_report(intent, outcome, seen)
    return None if identity in seen.executing else _by_looking(intent, seen)


def _by_report(intent: Intent, outcome: Outcome, seen: Seen) -> Settled | None:
    match outcome.kind:
        case OutcomeKind.DONE:
            return Settled(intent, happened=True)
        case _ if isinstance(intent.operation.effect, Tell):
            return None  # told again later, under the same key
        case OutcomeKind.CONFLICT | OutcomeKind.FAILED:
            return Settled(intent, happened=False, detail=outcome.detail)
        case OutcomeKind.REFUSED:
            return Settled(intent, happened=False, permanent=True, detail=outcome.detail)
        case OutcomeKind.UNSURE:
            return _by_looking(intent, seen)


def _by_looking(intent: Intent, seen: Seen) -> Settled | None:
    """Nobody can say: compare what is there with what was meant. None while nothing can be seen."""
    effect = intent.operation.effect
    if isinstance(effect, Tell):
        return _untold(intent, seen)
    if not isinstance(seen.workload, Workload):
        return None
    return _in_place(intent, effect, seen.workload)


def _in_place(intent: Intent, effect: SetReplicas | Cordon | Uncordon, workload: Workload) -> Settled:
    match effect:
        case SetReplicas():
            return _replicas_by_looking(intent, effect, workload)
        case Cordon(replicas=names):
            return Settled(intent, happened=all(_is_out(workload, name) for name in names))
        case Uncordon(replicas=names):
            return Settled(intent, happened=not any(_is_out(workload, name) for name in names))
        case _ as never:
            assert_never(never)


def _untold(intent: Intent, seen: Seen) -> Settled | None:
    """Not happened means that people are told again, under the same key: a page that comes twice is better than none.

    It cannot be seen whether they were told. After a crash at once, else once a minute.
    """
    due = seen.restarted or seen.now - intent.at >= TOLD_AGAIN
    return Settled(intent, happened=False) if due else None


def _replicas_by_looking(intent: Intent, effect: SetReplicas, workload: Workload) -> Settled:
    untouched = workload.version == effect.version
    if workload.desired == effect.count and not untouched:
        return Settled(intent, happened=True)
    if workload.desired == effect.before:
        return Settled(intent, happened=False)
    return Settled(intent, happened=False, void=True)


def _is_out(workload: Workload, name: str) -> bool:
    replica = workload.named(name)
    return replica is None or replica.state is ReplicaState.CORDONED
