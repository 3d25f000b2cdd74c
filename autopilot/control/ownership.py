"""Who else writes the replica count (law 3): found by value, then given way to. Never a tug of war."""

from dataclasses import replace
from datetime import timedelta

from autopilot.control.seen import Settled
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.memory import ForeignWrite, Memory
from autopilot.domain.operations import SetReplicas
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import Workload

GIVE_WAY = timedelta(minutes=10)  # design.md, law 3
MANY = 2  # more foreign writes than this within GIVE_WAY make a contest


def notice(memory: Memory, workload: Workload, settled: tuple[Settled, ...], *, now: LogicalTime) -> Memory:
    """Compare the count that is there with the last one known; a difference that is not ours is foreign.

    The count met at adoption is none. While an intent on the count is open nothing is concluded.
    """
    ours = [one.intent.operation.effect for one in settled if one.happened]
    accepted = next((effect.count for effect in reversed(ours) if isinstance(effect, SetReplicas)), memory.accepted)
    undecided = any(isinstance(intent.operation.effect, SetReplicas) for intent in memory.intents)
    recent = tuple(write for write in memory.foreign if now - write.at <= GIVE_WAY)
    if accepted is None or undecided or workload.desired == accepted:
        met = accepted if accepted is not None or undecided else workload.desired
        zeroed = memory.zeroed_elsewhere and workload.desired == 0
        return replace(memory, accepted=met, foreign=recent, zeroed_elsewhere=zeroed)
    write = ForeignWrite(at=now, before=accepted, after=workload.desired)
    writes = (*recent, write)
    contested = memory.contested or len(writes) > MANY
    return replace(
        memory,
        accepted=workload.desired,
        foreign=writes,
        contested=contested,
        zeroed_elsewhere=workload.desired == 0,
    )


def owned_elsewhere(memory: Memory, verb: Verb) -> str | None:
    """Object to the opposite of what another hand did in the last 10 min, and to any scaling once contested."""
    if verb not in (Verb.SCALE_OUT, Verb.SCALE_IN):
        return None
    if memory.contested:
        return "the replica count is contested: resume to take it back"
    wrong_way = [write for write in memory.foreign if (write.after < write.before) == (verb is Verb.SCALE_OUT)]
    if not wrong_way:
        return None
    last = wrong_way[-1]
    return f"another writer set {last.before} to {last.after} less than 10 min ago"
