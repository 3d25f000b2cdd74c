"""The remedy ladder: an alert that persists climbs steps, each verified, until it helps or people take over.

At most one ladder that changes something is open per fleet; ladders that only talk run beside it.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.actions import Notify
from autopilot.control.attempts import advance_attempt, ended, talks
from autopilot.control.guards import objection
from autopilot.control.stand import Stand
from autopilot.domain.alerts import AlertState, Severity
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Attempt, Phase, Remediation, Verdict
from autopilot.domain.verbs import TALKING, Verb
from autopilot.policy.values import Remedy, Step

HINDRANCES = frozenset({Reason.PAUSED, Reason.OWNED_ELSEWHERE, Reason.UNOBSERVED})
VOIDS_KEPT = 3  # of the attempts that something else disturbed: enough to tell the story, and Memory stays small
AFTER_EXHAUSTED = timedelta(hours=1)  # an exhausted ladder is not climbed again before that (design.md §5)


@dataclass(frozen=True, slots=True)
class Telling:
    """A message that a ladder wants sent."""

    remediation: str
    receivers: tuple[str, ...]
    key: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Climbed:
    """A remediation after one tick, and what it wants told."""

    remediation: Remediation
    tellings: tuple[Telling, ...] = ()


def only_talks(remedy: Remedy) -> bool:
    """Whether no step of the ladder changes anything: it then never holds the slot."""
    return all(step.do.verb in TALKING for step in remedy.steps)


def may_open(stand: Stand, finished: tuple[Remediation, ...]) -> bool:
    """Whether a ladder may open now: the alert fires, is yes on this tick, and its last ladder has rested.

    One cooldown after one that helped, an hour after one that was exhausted. A ticket's ladder also waits a
    cooldown after another alert's ladder helped: what helped one may just be about to help the other.
    """
    if stand.alert.state is not AlertState.FIRING or not stand.condition_met:
        return False
    policy = stand.case.policy
    cooldown = policy.limits.cooldown if policy is not None else AFTER_EXHAUSTED
    ticket = stand.rule.severity is Severity.TICKET and not only_talks(stand.remedy)
    if ticket and any(one.verdict is Verdict.HELPED and _since_closed(one, stand) < cooldown for one in finished):
        return False
    last = next((one for one in reversed(finished) if one.alert == stand.alert.name), None)
    if last is None or last.closed_at is None or last.closed_at < stand.alert.since:
        return True
    return _since_closed(last, stand) >= (AFTER_EXHAUSTED if last.exhausted and not _free_again(last, stand) else cooldown)


def _free_again(remediation: Remediation, stand: Stand) -> bool:
    """Whether a step was not taken only because it was hindered, and nothing hinders it any more.

    Whoever resumes, or lets go of the count, must not wait for the rest of an hour in which nothing was tried.
    """
    hindered = [one for one in remediation.attempts if one.verdict is Verdict.NOT_TAKEN and one.reason in HINDRANCES]
    return bool(hindered) and all(objection(stand.case, one.verb) is None for one in hindered)


def _since_closed(remediation: Remediation, stand: Stand) -> timedelta:
    return stand.now - remediation.closed_at if remediation.closed_at is not None else timedelta.max


def climb(remediation: Remediation, stand: Stand) -> Climbed:
    """Take one tick in: close it, carry its attempt on, or go to the next step.

    A step that ends at once is followed by the next on the same tick; a ladder ends, so the loop does.
    """
    tellings: list[Telling] = []
    while remediation.open:
        if stand.alert.state is AlertState.INACTIVE:
            remediation = close_resolved(remediation, stand)
            break
        before = remediation
        remediation = _take(remediation, stand, tellings)
        under_way = before.current is not None and remediation.current is not None
        if remediation == before or under_way:
            break
    return Climbed(remediation, tuple(tellings))


def close_resolved(remediation: Remediation, stand: Stand) -> Remediation:
    """Close it because its alert resolved: helped if a step had landed, else nothing was taken."""
    landed = remediation.landed_at is not None
    verdict = Verdict.HELPED if landed else Verdict.NOT_TAKEN
    current = remediation.current
    attempts = remediation.attempts
    if current is not None:
        own = Verdict.HELPED if current.phase is Phase.LANDED else Verdict.NOT_TAKEN
        attempts = (*attempts[:-1], ended(current, stand, own, detail="the alert resolved"))
    return replace(remediation, attempts=attempts, verdict=verdict, closed_at=stand.now, floor=None)


def drop(remediation: Remediation, *, now: LogicalTime, why: str) -> Remediation:
    """Close it because it lost its slot or its place in the policy. Changes under way stay."""
    current = remediation.current
    attempts = remediation.attempts
    if current is not None:
        void = replace(current, phase=Phase.ENDED, verdict=Verdict.VOID, reason=None, ended_at=now, detail=why)
        attempts = (*attempts[:-1], void)
    return replace(remediation, attempts=attempts, verdict=Verdict.VOID, closed_at=now, floor=None)


def _take(remediation: Remediation, stand: Stand, tellings: list[Telling]) -> Remediation:
    current = remediation.current
    if current is None:
        return _next(remediation, stand, tellings)
    steps = stand.remedy.steps
    step = steps[current.step] if current.step < len(steps) else None
    if step is None or step.do.verb is not current.verb:
        edited = ended(current, stand, Verdict.VOID, detail="the ladder was edited")
        return replace(remediation, attempts=(*remediation.attempts[:-1], edited))
    if talks(step):
        return _tell(remediation, current, stand, tellings)
    moved = advance_attempt(current, step, stand)
    remediation = replace(remediation, attempts=(*remediation.attempts[:-1], moved), floor=_floor(remediation, moved))
    if moved.verdict is Verdict.HELPED:
        return replace(remediation, verdict=Verdict.HELPED, closed_at=stand.now, floor=None)
    return remediation


def _floor(remediation: Remediation, attempt: Attempt) -> int | None:
    """The floor follows the step up to its landing, and is given up when what was asked for never comes."""
    if attempt.verdict is Verdict.ERROR:
        return None
    shown = attempt.phase in (Phase.STARTED, Phase.LANDED) or attempt.reason is Reason.MODE_ADVISE
    return max(attempt.target, remediation.floor or 0) if shown and attempt.target is not None else remediation.floor


def _next(remediation: Remediation, stand: Stand, tellings: list[Telling]) -> Remediation:
    """Open the attempt that follows from how the last one ended, or end the ladder."""
    last = remediation.attempts[-1] if remediation.attempts else None
    if last is not None and last.verdict is Verdict.INCONCLUSIVE:
        return _exhaust(remediation, stand, tellings)  # people look, not the next remedy, and above all while nobody sees
    if not stand.condition_met:
        return remediation  # nothing starts on a tick whose condition is not yes
    index, number = _following(last, stand.remedy.steps)
    if index >= len(stand.remedy.steps):
        return _exhaust(remediation, stand, tellings)
    step = stand.remedy.steps[index]
    attempt = Attempt(step=index, number=number, verb=step.do.verb, began=stand.now)
    return replace(remediation, attempts=(*_without_old_voids(remediation.attempts), attempt))


def _without_old_voids(attempts: tuple[Attempt, ...]) -> tuple[Attempt, ...]:
    voids = [one for one in attempts if one.verdict is Verdict.VOID]
    return tuple(one for one in attempts if one.verdict is not Verdict.VOID or one in voids[-VOIDS_KEPT:])


def _following(last: Attempt | None, steps: tuple[Step, ...]) -> tuple[int, int]:
    """The step and the number of the attempt after this one."""
    if last is None:
        return 0, 1
    if last.verdict is Verdict.VOID:
        return last.step, last.number  # look again: it does not count
    again = last.verdict is Verdict.INSUFFICIENT and last.step < len(steps) and last.number < steps[last.step].repeat
    return (last.step, last.number + 1) if again else (last.step + 1, 1)


def _exhaust(remediation: Remediation, stand: Stand, tellings: list[Telling]) -> Remediation:
    """After the last step people are told once, not twice where the last step told them."""
    verdict = next((one.verdict for one in reversed(remediation.attempts) if one.verb not in TALKING), Verdict.NOT_TAKEN)
    done = replace(remediation, exhausted=True, verdict=verdict, closed_at=stand.now, floor=None)
    told = any(one.verb is Verb.NOTIFY and one.step == len(stand.remedy.steps) - 1 for one in remediation.attempts)
    policy = stand.case.policy
    if not told and policy is not None:
        tellings.append(_telling(done, stand, policy.receivers or _receivers(stand.remedy), key="handed-over"))
    return done


def _receivers(remedy: Remedy) -> tuple[str, ...]:
    """Everybody whom a step of the ladder tells."""
    return tuple(dict.fromkeys(name for step in remedy.steps if isinstance(step.do, Notify) for name in step.do.receivers))


def _tell(remediation: Remediation, attempt: Attempt, stand: Stand, tellings: list[Telling]) -> Remediation:
    step = stand.remedy.steps[attempt.step]
    hold = objection(stand.case, attempt.verb)
    if hold is not None:
        untold = ended(attempt, stand, Verdict.NOT_TAKEN, reason=hold.reason, detail=hold.limit)
        return replace(remediation, attempts=(*remediation.attempts[:-1], untold))
    receivers = step.do.receivers if isinstance(step.do, Notify) else ()
    tellings.append(_telling(remediation, stand, receivers, key=f"told/{attempt.step}"))
    told = replace(attempt, phase=Phase.ENDED, ended_at=stand.now, detail="told " + ", ".join(receivers))
    return replace(remediation, attempts=(*remediation.attempts[:-1], told))


def _telling(remediation: Remediation, stand: Stand, receivers: tuple[str, ...], *, key: str) -> Telling:
    fleet = stand.case.fleet.ref
    story = "; ".join(_sentence(attempt) for attempt in remediation.attempts if attempt.verb not in TALKING)
    return Telling(
        remediation=remediation.id,
        receivers=receivers,
        key=f"{remediation.id}/{key}",
        title=f"{fleet}: {remediation.alert} is firing ({remediation.severity})",
        text=f"what was done: {story or 'nothing yet'}. Look with: autopilot explain {fleet}",
    )


def _sentence(attempt: Attempt) -> str:
    to = f" to {attempt.target}" if attempt.target is not None else ""
    why = attempt.detail or (attempt.reason.value if attempt.reason is not None and attempt.verdict is Verdict.NOT_TAKEN else "")
    return f"{attempt.verb}{to} (try {attempt.number}): {attempt.verdict}{' - ' + why if why else ''}"
