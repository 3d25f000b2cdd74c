"""The remedy ladder: an alert that persists climbs steps, each verified, until it helps or people take over.

At most one ladder that changes something is open per fleet; ladders that only talk run beside it.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.control.attempts import advance_attempt, ended, talks
from autopilot.control.stand import Stand
from autopilot.domain.alerts import AlertState, Severity
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Attempt, Phase, Remediation, Verdict
from autopilot.domain.verbs import TALKING
from autopilot.policy.values import Remedy, Step

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
    return _since_closed(last, stand) >= (AFTER_EXHAUSTED if last.exhausted else cooldown)


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


def supersede(remediation: Remediation, stand: Stand) -> Remediation:
    """Close a ticket's ladder because a page needs the slot. Changes under way stay."""
    current = remediation.current
    attempts = remediation.attempts
    if current is not None:
        attempts = (*attempts[:-1], ended(current, stand, Verdict.VOID, detail="a page took over"))
    return replace(remediation, attempts=attempts, verdict=Verdict.VOID, closed_at=stand.now, floor=None)


def _take(remediation: Remediation, stand: Stand, tellings: list[Telling]) -> Remediation:
    current = remediation.current
    if current is None:
        return _next(remediation, stand, tellings)
    step = stand.remedy.steps[current.step]
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
    if not stand.condition_met:
        return remediation  # nothing starts on a tick whose condition is not yes
    last = remediation.attempts[-1] if remediation.attempts else None
    index, number = _following(last, stand.remedy.steps)
    if last is not None and last.verdict is Verdict.INCONCLUSIVE:
        index = len(stand.remedy.steps)  # people look, not the next remedy
    if index >= len(stand.remedy.steps):
        return _exhaust(remediation, stand, tellings)
    step = stand.remedy.steps[index]
    attempt = Attempt(step=index, number=number, verb=step.do.verb, began=stand.now)
    return replace(remediation, attempts=(*remediation.attempts, attempt))


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
    told = any(one.verb in TALKING and one.step == len(stand.remedy.steps) - 1 for one in remediation.attempts)
    policy = stand.case.policy
    if not told and policy is not None:
        tellings.append(_telling(done, stand, policy.receivers))
    return done


def _tell(remediation: Remediation, attempt: Attempt, stand: Stand, tellings: list[Telling]) -> Remediation:
    step = stand.remedy.steps[attempt.step]
    receivers = step.do.receivers if talks(step) and hasattr(step.do, "receivers") else ()
    tellings.append(_telling(remediation, stand, receivers))
    told = replace(attempt, phase=Phase.ENDED, ended_at=stand.now, detail="told " + ", ".join(receivers))
    return replace(remediation, attempts=(*remediation.attempts[:-1], told))


def _telling(remediation: Remediation, stand: Stand, receivers: tuple[str, ...]) -> Telling:
    fleet = stand.case.fleet.ref
    story = "; ".join(_sentence(attempt) for attempt in remediation.attempts if attempt.verb not in TALKING)
    return Telling(
        remediation=remediation.id,
        receivers=receivers,
        key=f"{remediation.id}/told",
        title=f"{fleet}: {remediation.alert} is firing ({remediation.severity})",
        text=f"what was done: {story or 'nothing yet'}. Look with: autopilot explain {fleet}",
    )


def _sentence(attempt: Attempt) -> str:
    to = f" to {attempt.target}" if attempt.target is not None else ""
    why = attempt.detail or (attempt.reason.value if attempt.reason is not None and attempt.verdict is Verdict.NOT_TAKEN else "")
    return f"{attempt.verb}{to} (try {attempt.number}): {attempt.verdict}{' - ' + why if why else ''}"
