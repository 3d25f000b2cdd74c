"""Settling intents: by the worker's report, else by looking (law 6).

Before: the change is not there, drop it and decide afresh. After: it is there, record it. Neither: void.
"""

from typing import assert_never

from autopilot.control.seen import Seen, Settled
from autopilot.domain.operations import Cordon, Intent, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.domain.workloads import ReplicaState, Workload


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
    if outcome is None:
        return None if identity in seen.executing else _by_looking(intent, seen)
    match outcome.kind:
        case OutcomeKind.DONE:
            return Settled(intent, happened=True)
        case OutcomeKind.CONFLICT | OutcomeKind.FAILED:
            return Settled(intent, happened=False, detail=outcome.detail)
        case OutcomeKind.REFUSED:
            return Settled(intent, happened=False, permanent=True, detail=outcome.detail)
        case OutcomeKind.UNSURE:
            return _by_looking(intent, seen)
        case _:
            assert_never(outcome.kind)


def _by_looking(intent: Intent, seen: Seen) -> Settled | None:
    """Nobody can say: compare what is there with what was meant. None while nothing can be seen."""
    workload = seen.workload
    if not isinstance(workload, Workload):
        return None
    match intent.operation.effect:
        case SetReplicas() as effect:
            return _replicas_by_looking(intent, effect, workload)
        case Cordon(replicas=names):
            out = all(_is_out(workload, name) for name in names)
            return Settled(intent, happened=out)
        case Uncordon(replicas=names):
            return Settled(intent, happened=not any(_is_out(workload, name) for name in names))
        case Tell():
            # It cannot be seen whether people were told: not happened means that they are told again,
            # under the same key. A page that comes twice is better than one that never comes.
            return Settled(intent, happened=False)
        case _ as never:
            assert_never(never)


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
