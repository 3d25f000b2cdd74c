"""What the backend refused for good is not tried again at every tick: at most once a minute, and people are told once.

A refusal is kept as a pause of the backend's own, so that `resume` lifts it like any other.
"""

from dataclasses import replace
from datetime import timedelta

from autopilot.control.seen import Settled
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.memory import Memory, Pause
from autopilot.domain.operations import Cordon, Effect, SetReplicas, Tell, Uncordon
from autopilot.domain.verbs import Verb

REST = timedelta(minutes=1)  # acceptance.md, R-11: no more than one try a minute
BACKEND = "the backend"


def take_refusals(memory: Memory, settled: tuple[Settled, ...], *, now: LogicalTime) -> Memory:
    """Rest what was refused, and forget the refusals of what was made since. Pauses that are over are forgotten too."""
    pauses = tuple(pause for pause in memory.pauses if pause.by == BACKEND or now < pause.until)
    for one in settled:
        verb = rested_verb(one.intent.operation.effect)
        if verb is None or not (one.happened or one.permanent):
            continue
        pauses = tuple(pause for pause in pauses if not _is_about(pause, verb))
        if one.permanent:
            pauses = (*pauses, Pause(now + REST, one.detail, BACKEND, (verb,)))
    return replace(memory, pauses=pauses)


def newly_refused(memory: Memory, settled: tuple[Settled, ...]) -> tuple[Settled, ...]:
    """The refusals that people do not know of yet: the first of each kind since one like it was made."""
    verbs = {verb for pause in memory.pauses if pause.by == BACKEND for verb in pause.verbs}
    return tuple(one for one in settled if one.permanent and rested_verb(one.intent.operation.effect) not in verbs | {None})


def refusal(memory: Memory, verb: Verb, *, now: LogicalTime) -> str | None:
    """What the backend said when it refused a change of this kind less than a minute ago."""
    return next((pause.reason for pause in memory.pauses if _is_about(pause, verb) and now < pause.until), None)


def rested_verb(effect: Effect) -> Verb | None:
    """Under which verb a refused effect rests: adding, taking away and giving back are refused each on its own."""
    match effect:
        case SetReplicas(count=count, before=before):
            return Verb.SCALE_OUT if count > before else Verb.SCALE_IN
        case Cordon():
            return Verb.SCALE_IN
        case Uncordon():
            return Verb.TRAFFIC
        case Tell():
            return None


def _is_about(pause: Pause, verb: Verb) -> bool:
    return pause.by == BACKEND and verb in pause.verbs
