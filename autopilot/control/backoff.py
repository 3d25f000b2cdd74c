"""A change that failed is decided afresh at once, and then after rests that double, up to a minute (R-8, R-9).

The jitter comes from the operation's id: fleets that fail together do not come back together, and a replay rests alike.
"""

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

from autopilot.control.refusals import rested_verb
from autopilot.control.seen import Settled
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.memory import Failing, Memory
from autopilot.domain.verbs import Verb

FIRST = timedelta(seconds=2)  # after the second failure in a row: the first may be another hand's write in between
LONGEST = timedelta(minutes=1)  # acceptance.md, R-8


def take_failures(memory: Memory, settled: tuple[Settled, ...], *, now: LogicalTime) -> Memory:
    """Count what was not made, and forget the count of what was; what another hand made void is no failure of the backend."""
    failing = {one.verb: one for one in memory.failing}
    for one in settled:
        verb = rested_verb(one.intent.operation.effect)
        if verb is None or one.void:
            continue
        before = failing.pop(verb, None)
        if not one.happened and not one.permanent:
            tries = before.tries + 1 if before is not None else 1
            failing[verb] = Failing(verb, tries, now + rest(tries, one.intent.operation.id), one.detail)
    return replace(memory, failing=tuple(failing.values()))


def rest(tries: int, identity: str) -> timedelta:
    """The rest after so many failures in a row: anything up to the doubled time, as the id of the operation has it."""
    part = int.from_bytes(sha256(identity.encode()).digest()[:8], "big") / 2**64
    return part * min(FIRST * 2 ** min(tries - 2, 16), LONGEST) if tries > 1 else ZERO


def resting(memory: Memory, verb: Verb, *, now: LogicalTime) -> str | None:
    """What speaks against trying a change of this kind again already."""
    one = next((one for one in memory.failing if one.verb is verb and now < one.until), None)
    if one is None:
        return None
    left = (one.until - now).total_seconds()
    return (
        f"tried {one.tries} times, again in {left:.0f} s: {one.detail}" if one.detail else f"tried {one.tries} times, again in {left:.0f} s"
    )
