"""One step of a ladder, tick by tick: waiting, started, landed, ended."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from autopilot.actions import NOT_SUPPORTED, Notify, Scale
from autopilot.actions.scale import floor_of
from autopilot.control.guards import objection
from autopilot.control.judgement import Look, gauge_symptoms, judge
from autopilot.control.landing import PASSING, coming, disturbed, late, never_starts, unscraped
from autopilot.control.stand import Stand, Symptom
from autopilot.control.verification import compare, symptom_of, verdict_at_deadline
from autopilot.domain.conditions import Condition, Truth, leaves
from autopilot.domain.decisions import Hold
from autopilot.domain.logical_time import ZERO
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Attempt, Gauged, Phase, Verdict
from autopilot.domain.verbs import TALKING
from autopilot.policy.values import Step, Verify

# A hold of these kinds ends the step at once; any other is waited for, at most one `within`.
ENDS_THE_STEP = frozenset({Reason.MODE_DISABLED, Reason.MODE_OBSERVE, Reason.FROZEN, Reason.STORM, Reason.NOT_SUPPORTED, Reason.AT_BOUND})
APPROVAL_WITHIN = timedelta(minutes=30)  # design.md, Modes
NO_VERIFY = Verify(within=timedelta(minutes=5))  # only for steps that are not verified: talking ones


def ended(attempt: Attempt, stand: Stand, verdict: Verdict, *, reason: Reason | None = None, detail: str = "") -> Attempt:
    """The attempt, over."""
    text = detail or attempt.detail
    return replace(attempt, phase=Phase.ENDED, verdict=verdict, reason=reason, ended_at=stand.now, detail=text)


def advance_attempt(attempt: Attempt, step: Step, stand: Stand) -> Attempt:
    """Take one tick in. Talking steps are told by the ladder itself and do not come here."""
    phases: dict[Phase, Callable[[Attempt, Step, Stand], Attempt]] = {
        Phase.WAITING: _waiting,
        Phase.STARTED: _started,
        Phase.LANDED: _landed,
    }
    return phases[attempt.phase](attempt, step, stand) if attempt.phase in phases else attempt


# --- waiting -----------------------------------------------------------------------------------


def _waiting(attempt: Attempt, step: Step, stand: Stand) -> Attempt:
    if not stand.condition_met:
        return replace(attempt, reason=Reason.BLIND if stand.alert.blind else Reason.AS_WANTED)
    hold = why_not_yet(step, stand)
    if hold is None:
        return _start(attempt, step, stand)
    waited = attempt.waited + stand.passed
    if hold.reason in ENDS_THE_STEP or waited > _patience(hold.reason, step):
        return ended(attempt, stand, Verdict.NOT_TAKEN, reason=hold.reason, detail=hold.limit)
    target = _asked(step, stand) if hold.reason is Reason.MODE_ADVISE else attempt.target
    return replace(attempt, reason=hold.reason, waited=waited, detail=hold.limit, target=target)


def why_not_yet(step: Step, stand: Stand) -> Hold | None:
    """What speaks against starting this step on this tick."""
    verb = step.do.verb
    resting = _resting(step, stand)
    if resting is not None:
        return resting  # first of all: what landed a moment ago must show its effect before anybody climbs on
    if isinstance(step.do, NOT_SUPPORTED) or step.cause is not None:
        return Hold(verb, Reason.NOT_SUPPORTED, f"{verb} is not built yet")
    objected = objection(stand.case, verb)
    if objected is not None:
        return objected
    if isinstance(step.do, Scale) and (asked := _asked(step, stand)) is not None and asked <= (stand.serving or 0):
        return Hold(verb, Reason.AT_BOUND, f"{stand.serving} serve, the most allowed is {stand.bounds.maximum}")
    return None


def _resting(step: Step, stand: Stand) -> Hold | None:
    """Object while the last landing, or the last bar on capacity, is too young. Talking never waits."""
    if step.do.verb in TALKING:
        return None
    policy = stand.case.policy
    cooldown = policy.limits.cooldown if policy is not None else ZERO
    since = _since_landing(stand)
    if since is not None and since < cooldown:
        return Hold(step.do.verb, Reason.COOLING_DOWN, f"{since} of {cooldown} since the last landing")
    bar = stand.case.memory.level.bar
    if isinstance(step.do, Scale) and bar is not None and stand.now < bar.until:
        return Hold(step.do.verb, Reason.NO_CAPACITY, f"the last replicas asked for never started: {bar.message}")
    return None


def _since_landing(stand: Stand) -> timedelta | None:
    """How long ago a step landed, or any replica came into service, whoever had asked for it."""
    workload, landed = stand.case.workload, stand.case.memory.landed_at
    serving = workload.serving if workload is not None else ()
    ages = [replica.age - timedelta(seconds=replica.load_seconds) for replica in serving if replica.load_seconds is not None]
    return min([*ages, *([stand.now - landed] if landed is not None else [])], default=None)


def _patience(reason: Reason, step: Step) -> timedelta:
    if reason in (Reason.MODE_ADVISE, Reason.COOLING_DOWN):
        return timedelta.max  # advice is shown for as long as the alert fires, never climbed; a cooldown only delays
    if reason is Reason.AWAITING_APPROVAL:
        return APPROVAL_WITHIN
    return (step.verify or NO_VERIFY).within


def _asked(step: Step, stand: Stand) -> int | None:
    """The floor that a scale step asks for, inside the bounds; None while the fleet cannot be seen."""
    if not isinstance(step.do, Scale) or stand.serving is None:
        return None
    wanted = floor_of(step.do, ready=stand.serving, in_flight=stand.load.in_flight, good=stand.load.good)
    return min(wanted, stand.bounds.maximum)


def _start(attempt: Attempt, step: Step, stand: Stand) -> Attempt:
    workload = stand.case.workload
    return replace(
        attempt,
        phase=Phase.STARTED,
        reason=Reason.AWAITING_LANDING,
        began=stand.now,
        waited=ZERO,
        blind=ZERO,
        detail="",
        target=_asked(step, stand),
        ready=stand.serving,
        template=workload.template if workload is not None else "",
        before=Gauged(arrivals=stand.load.arrivals),
    )


# --- started -----------------------------------------------------------------------------------


def _started(attempt: Attempt, step: Step, stand: Stand) -> Attempt:
    serving = stand.serving
    if serving is None or attempt.target is None:
        return replace(attempt, reason=Reason.UNOBSERVED)
    target = max(attempt.target, _grown(step, stand))
    held = attempt.reason is not None and attempt.reason not in PASSING and not coming(stand)
    over = _over(attempt, stand, landed=serving >= target, held=held)
    if over is not None:
        return over
    if serving >= target:
        return _land(replace(attempt, target=target), step, stand)
    known = stand.alert.truth is not Truth.UNKNOWN
    # What is asked for later has its whole time to start.
    waited = ZERO if target > attempt.target and not held else attempt.waited + (stand.passed if known else ZERO)
    moved = replace(attempt, target=target, waited=waited)
    return _held(moved, step, stand) if held else replace(moved, reason=Reason.AWAITING_LANDING, detail="")


def _over(attempt: Attempt, stand: Stand, *, landed: bool, held: bool) -> Attempt | None:
    """The attempt, ended by something that leaves nothing to wait for; None while there is."""
    if stand.refused:
        return ended(attempt, stand, Verdict.ERROR, reason=Reason.DENIED, detail=stand.refused)
    disturbance = disturbed(attempt, stand, at_least=attempt.ready or 0)
    if disturbance:
        return ended(attempt, stand, Verdict.VOID, detail=disturbance)
    failure = never_starts(attempt, stand) or ("" if held else late(attempt, stand))
    return ended(attempt, stand, Verdict.ERROR, reason=Reason.NO_CAPACITY, detail=failure) if failure and not landed else None


def _held(attempt: Attempt, step: Step, stand: Stand) -> Attempt:
    """Nothing more may be asked for: after at most one `within`, what has come by then is what there is to judge."""
    reason = attempt.reason or Reason.AWAITING_LANDING
    if reason not in ENDS_THE_STEP and attempt.waited <= _patience(reason, step):
        return replace(attempt, reason=Reason.AWAITING_LANDING, detail="")  # if it is still held, this tick will say so
    if (stand.serving or 0) > (attempt.ready or 0):
        return _land(replace(attempt, target=stand.serving), step, stand)
    return ended(attempt, stand, Verdict.NOT_TAKEN, reason=reason, detail=attempt.detail)


def _grown(step: Step, stand: Stand) -> int:
    """The need of a shortfall step now; it only follows upwards until the step lands."""
    if not isinstance(step.do, Scale) or step.do.by != "shortfall" or not stand.condition_met:
        return 0
    load = stand.load
    if load.in_flight is None or load.good is None:
        return 0
    return min(floor_of(step.do, ready=0, in_flight=load.in_flight, good=load.good), stand.bounds.maximum)


def _land(attempt: Attempt, step: Step, stand: Stand) -> Attempt:
    """The moment from which its effect can show. For a scale step, *before* is the window that ends here."""
    before = symptom_now(step, stand).gauged
    kept = replace(before, arrivals=attempt.before.arrivals if attempt.before is not None else None)
    return replace(
        attempt, phase=Phase.LANDED, landed_at=stand.now, waited=ZERO, blind=ZERO, quiet=None, before=kept, reason=Reason.VERIFYING
    )


# --- landed ------------------------------------------------------------------------------------


def symptom_now(step: Step, stand: Stand) -> Symptom:
    """The symptom of the alert, or the step's own `verify.when`, as it is on this tick."""
    readings = stand.case.seen.readings
    symptom: Condition | None = (step.verify.when if step.verify is not None else None) or symptom_of(stand.rule.condition)
    if symptom is None:
        return Symptom(Truth.UNKNOWN, Gauged(arrivals=stand.load.arrivals), ZERO)
    names = tuple(replica.name for replica in stand.case.workload.serving) if stand.case.workload else ()
    slos = stand.case.policy.slos if stand.case.policy is not None else ()
    look = Look(readings=readings, firing=True, calm=(), now=stand.now, replicas=names, slos=slos)
    longest = max((leaf.over or ZERO for leaf in leaves(symptom)), default=ZERO)
    gauged = replace(gauge_symptoms(symptom, readings), arrivals=stand.load.arrivals)
    return Symptom(judge(symptom, look).truth, gauged, longest)


def _landed(attempt: Attempt, step: Step, stand: Stand) -> Attempt:
    if stand.serving is None:
        return replace(attempt, reason=Reason.UNOBSERVED)
    disturbance = disturbed(attempt, stand, at_least=attempt.target or 0)
    if disturbance:
        return ended(attempt, stand, Verdict.VOID, detail=disturbance)
    verify = step.verify or NO_VERIFY
    symptom = symptom_now(step, stand)
    attempt = replace(attempt, after=symptom.gauged, reason=Reason.VERIFYING)
    if symptom.truth is Truth.UNKNOWN:
        return _unseen(attempt, verify, stand)
    waited = attempt.waited + stand.passed
    quiet = _quiet(attempt, symptom, stand)
    if quiet is not None and quiet >= (verify.held_for or 2 * stand.case.seen.interval):
        return ended(replace(attempt, quiet=quiet), stand, Verdict.HELPED)
    if waited >= symptom.longest_over + verify.within and quiet is None:
        return _judged(attempt, symptom, stand)
    return replace(attempt, waited=waited, quiet=quiet)


def _judged(attempt: Attempt, symptom: Symptom, stand: Stand) -> Attempt:
    """Time is up and the symptom is still there."""
    unseen = unscraped(stand)
    if unseen:
        return ended(attempt, stand, Verdict.INCONCLUSIVE, reason=Reason.BLIND, detail=f"not scraped: {unseen}")
    comparison = compare(attempt.before or Gauged(), symptom.gauged)
    return ended(attempt, stand, verdict_at_deadline(attempt.verb, comparison))


def _quiet(attempt: Attempt, symptom: Symptom, stand: Stand) -> timedelta | None:
    if symptom.truth is not Truth.NO:
        return None
    return ZERO if attempt.quiet is None else attempt.quiet + stand.passed


def _unseen(attempt: Attempt, verify: Verify, stand: Stand) -> Attempt:
    """The effect cannot be seen: the clock of `within` stands, for one more `within`, then people look."""
    blind = attempt.blind + stand.passed
    if blind < verify.within:
        return replace(attempt, blind=blind, quiet=None)
    if not attempt.extended:
        return replace(attempt, blind=ZERO, extended=True, quiet=None)
    return ended(attempt, stand, Verdict.INCONCLUSIVE, reason=Reason.BLIND, detail="the effect could not be seen")


def talks(step: Step) -> bool:
    """Whether the step only tells people."""
    return isinstance(step.do, Notify)
