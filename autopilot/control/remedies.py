"""All remediations of one fleet on one tick: who holds the slot, who may open, who talks beside."""

from dataclasses import dataclass, replace

from autopilot.control.ladder import Climbed, Telling, climb, drop, may_open, only_talks
from autopilot.control.stand import Stand
from autopilot.domain.alerts import Severity
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.memory import Memory
from autopilot.domain.remediations import Attempt, Phase, Remediation, Score, Verdict
from autopilot.domain.verbs import TALKING

KEPT = 10  # closed remediations kept for people; the journal has them all
MOST = 40  # and this many where a policy has many alerts: Memory stays small


@dataclass(frozen=True, slots=True)
class Remedied:
    """Memory with every remediation advanced, and the messages they want sent."""

    memory: Memory
    tellings: tuple[Telling, ...]


def advance_remediations(memory: Memory, stands: tuple[Stand, ...], *, now: LogicalTime) -> Remedied:
    """Carry every open remediation on by one tick, then open what may open, pages first.

    `stands` are this tick's views, one for each remedy of the policy, in its order.
    """
    by_alert = {stand.alert.name: stand for stand in stands}
    memory = _forget_removed(memory, by_alert, now=now)
    tellings: list[Telling] = []
    if memory.remediation is not None:
        memory = _carry(memory, memory.remediation, by_alert[memory.remediation.alert], tellings)
    for talk in memory.talks:
        memory = _carry(memory, talk, by_alert[talk.alert], tellings)
    for stand in sorted(stands, key=_urgency):
        memory = _open(memory, stand, tellings)
    return Remedied(memory, tuple(tellings))


def _urgency(stand: Stand) -> bool:
    return stand.rule.severity is not Severity.PAGE


def _forget_removed(memory: Memory, by_alert: dict[str, Stand], *, now: LogicalTime) -> Memory:
    """A remediation whose alert or remedy the policy no longer has starts nothing more. What it changed stays."""
    gone = [one for one in (memory.remediation, *memory.talks) if one is not None and one.alert not in by_alert]
    closed = tuple(drop(one, now=now, why="the policy has no remedy for it any more") for one in gone)
    slot = memory.remediation if memory.remediation is not None and memory.remediation.alert in by_alert else None
    talks = tuple(talk for talk in memory.talks if talk.alert in by_alert)
    return replace(memory, remediation=slot, talks=talks, finished=_remembered((*memory.finished, *closed)))


def _carry(memory: Memory, remediation: Remediation, stand: Stand, tellings: list[Telling]) -> Memory:
    climbed = climb(remediation, replace(stand, case=replace(stand.case, memory=memory)))
    tellings.extend(climbed.tellings)
    return _kept(_scored(memory, remediation, climbed), remediation, climbed.remediation)


def _kept(memory: Memory, was: Remediation, now: Remediation) -> Memory:
    """Put a remediation back where it belongs: the slot, beside it, or among the finished."""
    talking = any(talk.id == was.id for talk in memory.talks)
    others = tuple(talk for talk in memory.talks if talk.id != was.id)
    if not now.open:
        slot = memory.remediation if talking else None
        return replace(memory, remediation=slot, talks=others, finished=_remembered((*memory.finished, now)))
    return replace(memory, talks=(*others, now)) if talking else replace(memory, remediation=now)


def _remembered(finished: tuple[Remediation, ...]) -> tuple[Remediation, ...]:
    """The newest, and the last one of every alert: its rest must not be forgotten because others came and went."""
    last = {one.alert: one.id for one in finished}
    newest = {one.id for one in finished[-KEPT:]}
    return tuple(one for one in finished if one.id in newest or last[one.alert] == one.id)[-MOST:]


def _scored(memory: Memory, was: Remediation, climbed: Climbed) -> Memory:
    """Count what ended on this tick, and note the last landing for the cooldown."""
    already = {(one.step, one.number, one.began) for one in was.attempts if one.phase is Phase.ENDED}
    fresh = [one for one in climbed.remediation.attempts if one.phase is Phase.ENDED and (one.step, one.number, one.began) not in already]
    for attempt in fresh:
        memory = replace(memory, scores=_count(memory.scores, attempt))
    landings = [at for at in (memory.landed_at, climbed.remediation.landed_at) if at is not None]
    return replace(memory, landed_at=max(landings, default=None))


def _count(scores: tuple[Score, ...], attempt: Attempt) -> tuple[Score, ...]:
    if attempt.verb in TALKING or attempt.verdict in (Verdict.NOT_TAKEN, Verdict.VOID):
        return scores
    old = next((score for score in scores if score.verb is attempt.verb), Score(attempt.verb))
    new = replace(
        old,
        tried=old.tried + 1,
        helped=old.helped + (attempt.verdict is Verdict.HELPED),
        harmed=old.harmed + (attempt.verdict is Verdict.HARMFUL),
    )
    return (*(score for score in scores if score.verb is not attempt.verb), new)


def _open(memory: Memory, stand: Stand, tellings: list[Telling]) -> Memory:
    """Open the ladder of one alert if it may, and take its first tick at once."""
    alert = stand.alert.name
    already = any(one.alert == alert for one in (memory.remediation, *memory.talks) if one is not None)
    if already or not may_open(stand, memory.finished):
        return memory
    talking = only_talks(stand.remedy)
    holder = memory.remediation
    if not talking and holder is not None:
        if stand.rule.severity is not Severity.PAGE or holder.severity is Severity.PAGE:
            return memory
        memory = _kept(memory, holder, drop(holder, now=stand.now, why="a page took over"))
    sequence = memory.sequence + 1
    fresh = Remediation(f"{stand.case.fleet.ref}#{sequence}", alert, stand.rule.severity, stand.now)
    memory = replace(memory, sequence=sequence)
    memory = replace(memory, talks=(*memory.talks, fresh)) if talking else replace(memory, remediation=fresh)
    return _carry(memory, fresh, stand, tellings)
