"""Guards: what speaks against an act. Each is one function that names what it objects to."""

from collections.abc import Callable
from dataclasses import dataclass

from autopilot.control.backoff import resting
from autopilot.control.burning import held_by
from autopilot.control.ownership import owned_elsewhere as foreign_hand
from autopilot.control.refusals import BACKEND, refusal
from autopilot.control.seen import Case
from autopilot.domain.decisions import Hold
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import DISRUPTIVE, TALKING, Mode, Modes, Verb

NO_CONSENT = {
    Mode.DISABLED: Reason.MODE_DISABLED,
    Mode.OBSERVE: Reason.MODE_OBSERVE,
    Mode.ADVISE: Reason.MODE_ADVISE,
    Mode.APPROVE: Reason.AWAITING_APPROVAL,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A verb that somebody wants to use on a fleet now."""

    case: Case
    verb: Verb


def no_policy(asked: Asked) -> Hold | None:
    """Object to any act on a fleet that no policy covers."""
    return Hold(asked.verb, Reason.NO_POLICY) if asked.case.policy is None else None


def paused(asked: Asked) -> Hold | None:
    """Object while people have paused the verb, here or by annotation."""
    workload = asked.case.workload
    if workload is not None and workload.paused_by and asked.verb not in TALKING:
        return Hold(asked.verb, Reason.PAUSED, workload.paused_by)
    now = asked.case.seen.now
    for pause in asked.case.memory.pauses:
        # A pause of everything still lets people be told.
        held = asked.verb in pause.verbs if pause.verbs else asked.verb not in TALKING
        if now < pause.until and held and pause.by != BACKEND:
            return Hold(asked.verb, Reason.PAUSED, f"by {pause.by}: {pause.reason}")
    return None


def mode(asked: Asked) -> Hold | None:
    """Object when the policy does not let the verb act on its own."""
    modes = asked.case.policy.modes if asked.case.policy is not None else Modes()
    reason = NO_CONSENT.get(modes.of(asked.verb))
    return None if reason is None else Hold(asked.verb, reason)


def owned_elsewhere(asked: Asked) -> Hold | None:
    """Object to working against another writer."""
    objection = foreign_hand(asked.case.memory, asked.verb)
    if objection is not None:
        return Hold(asked.verb, Reason.OWNED_ELSEWHERE, objection)
    writer = asked.case.fleet.pool.replicas_writer
    scales = asked.verb in (Verb.SCALE_OUT, Verb.SCALE_IN)
    return Hold(asked.verb, Reason.OWNED_ELSEWHERE, f"replicas are {writer}'s") if scales and writer != "autopilot" else None


def frozen(asked: Asked) -> Hold | None:
    """Object to what is disruptive while a freeze window is open."""
    policy = asked.case.policy
    if policy is None or asked.verb not in DISRUPTIVE:
        return None
    window = next((name for name in policy.limits.freeze if name in asked.case.seen.windows), None)
    return None if window is None else Hold(asked.verb, Reason.FROZEN, window)


def storm(asked: Asked) -> Hold | None:
    """Object to what is disruptive while so many fleets fire that the cause must be shared."""
    return Hold(asked.verb, Reason.STORM) if asked.verb in DISRUPTIVE and asked.case.seen.storm else None


def budget_burning(asked: Asked) -> Hold | None:
    """Object to taking capacity away while an error budget burns. A ladder climbs on: it is what may end the burning."""
    return _burning(asked) if asked.verb is Verb.SCALE_IN else None


def _burning(asked: Asked) -> Hold | None:
    policy = asked.case.policy
    objected = held_by(policy.slos, asked.case.seen.readings) if policy is not None else None
    return None if objected is None else Hold(asked.verb, *objected)


def memory_lost(asked: Asked) -> Hold | None:
    """Object to what is disruptive for one cooldown after the memory was lost."""
    until = asked.case.memory.hold_until
    young = until is not None and asked.case.seen.now < until
    return Hold(asked.verb, Reason.STARTING_UP, "the memory was lost") if young and asked.verb in DISRUPTIVE else None


def denied(asked: Asked) -> Hold | None:
    """Object to asking again for what the backend has just refused for good."""
    memory, now = asked.case.memory, asked.case.seen.now
    said = refusal(memory, asked.verb, now=now)
    return None if said is None else Hold(asked.verb, Reason.DENIED, said)


def failing(asked: Asked) -> Hold | None:
    """Object to trying again too soon what failed."""
    said = resting(asked.case.memory, asked.verb, now=asked.case.seen.now)
    return None if said is None else Hold(asked.verb, Reason.BACKEND_ERROR, said)


def unobserved(asked: Asked) -> Hold | None:
    """Object to changing what cannot be seen."""
    talks = asked.verb in TALKING
    return Hold(asked.verb, Reason.UNOBSERVED) if asked.case.workload is None and not talks else None


Guard = Callable[[Asked], Hold | None]
# People first, then other hands, then the world: the first that objects is the reason shown.
GUARDS: tuple[Guard, ...] = (
    no_policy,
    paused,
    mode,
    owned_elsewhere,
    frozen,
    storm,
    budget_burning,
    memory_lost,
    denied,
    failing,
    unobserved,
)


def objection(case: Case, verb: Verb) -> Hold | None:
    """The first guard's objection to using a verb on this fleet now, None if all agree."""
    asked = Asked(case, verb)
    return next((hold for guard in GUARDS if (hold := guard(asked)) is not None), None)


def objection_to_scheduled(case: Case, verb: Verb) -> Hold | None:
    """As `objection`, for what a calendar asks for: nothing of that is urgent while an error budget burns."""
    return objection(case, verb) or (_burning(Asked(case, verb)) if verb in DISRUPTIVE else None)
