"""The story of a fleet in sentences: what changed from one tick to the next, for logs, `explain` and live views."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from autopilot.control.audit import Record
from autopilot.domain.alerts import Alert, AlertState
from autopilot.domain.decisions import Act
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.domain.remediations import Attempt, Phase, Remediation
from autopilot.domain.verbs import TALKING


class Event(StrEnum):
    """What kind of thing happened."""

    ALERT_PENDING = "alert_pending"
    ALERT_FIRING = "alert_firing"
    ALERT_RESOLVED = "alert_resolved"
    WENT_BLIND = "went_blind"
    SEES_AGAIN = "sees_again"
    REMEDIATION_OPENED = "remediation_opened"
    STEP_STARTED = "step_started"
    STEP_LANDED = "step_landed"
    STEP_ENDED = "step_ended"
    REMEDIATION_CLOSED = "remediation_closed"
    CHANGE_DECIDED = "change_decided"
    CHANGE_FAILED = "change_failed"
    PEOPLE_TOLD = "people_told"
    FOREIGN_WRITE = "foreign_write"


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One thing that happened to a fleet. `at` is logical time."""

    at: LogicalTime
    event: Event
    text: str
    remediation: str = ""


def story_of(record: Record) -> tuple[StoryLine, ...]:
    """What happened on one tick, in the order in which it follows from each other."""
    return (
        *_alerts(record),
        *_foreign(record),
        *_remediations(record),
        *_outcomes(record),
        *_acts(record),
    )


def _alerts(record: Record) -> Iterator[StoryLine]:
    before = {alert.name: alert for alert in record.before.alerts}
    for alert in record.after.alerts:
        old = before.get(alert.name, Alert(alert.name))
        if alert.state is not old.state:
            yield StoryLine(record.seen.now, _alert_event(alert), f"alert {alert.name} is {alert.state}")
        if alert.blind is not old.blind and alert.name in before:
            event = Event.WENT_BLIND if alert.blind else Event.SEES_AGAIN
            kept = f"; it stays {alert.state}" if alert.blind else ""
            yield StoryLine(record.seen.now, event, f"alert {alert.name} {'cannot see' if alert.blind else 'sees again'}{kept}")


def _alert_event(alert: Alert) -> Event:
    return {
        AlertState.PENDING: Event.ALERT_PENDING,
        AlertState.FIRING: Event.ALERT_FIRING,
        AlertState.INACTIVE: Event.ALERT_RESOLVED,
    }[alert.state]


def _foreign(record: Record) -> Iterator[StoryLine]:
    for write in record.after.foreign:
        if write not in record.before.foreign:
            text = f"another writer set the replicas from {write.before} to {write.after}"
            yield StoryLine(record.seen.now, Event.FOREIGN_WRITE, text)


def _remediations(record: Record) -> Iterator[StoryLine]:
    before = {one.id: one for one in _all(record.before)}
    for one in _all(record.after):
        old = before.get(one.id)
        if old is None:
            yield StoryLine(record.seen.now, Event.REMEDIATION_OPENED, f"remediation opened for {one.alert}", one.id)
        yield from _attempts(record, one, old)
        if one.closed_at is not None and (old is None or old.closed_at is None):
            ended = "handed over to people, last verdict " if one.exhausted else ""
            yield StoryLine(record.seen.now, Event.REMEDIATION_CLOSED, f"remediation closed: {ended}{one.verdict}", one.id)


def _all(memory: Memory) -> tuple[Remediation, ...]:
    return tuple(one for one in (*memory.finished, memory.remediation, *memory.talks) if one is not None)


def _attempts(record: Record, now: Remediation, old: Remediation | None) -> Iterator[StoryLine]:
    before = old.attempts if old is not None else ()
    for attempt in now.attempts:
        if _moment(attempt) == record.seen.now and attempt not in before:
            line = _attempt(record, attempt, now.id)
            if line is not None:
                yield line


def _moment(attempt: Attempt) -> LogicalTime | None:
    """When it came into its phase."""
    moments = {Phase.STARTED: attempt.began, Phase.LANDED: attempt.landed_at, Phase.ENDED: attempt.ended_at}
    return moments.get(attempt.phase)


def _attempt(record: Record, attempt: Attempt, remediation: str) -> StoryLine | None:
    name = f"step {attempt.step + 1} ({attempt.verb}{f' to {attempt.target}' if attempt.target is not None else ''}, try {attempt.number})"
    at = record.seen.now
    why = f": {attempt.detail}" if attempt.detail else ""
    match attempt.phase:
        case Phase.STARTED:
            return StoryLine(at, Event.STEP_STARTED, f"{name} started", remediation)
        case Phase.LANDED:
            return StoryLine(at, Event.STEP_LANDED, f"{name} landed, its effect is being verified", remediation)
        case Phase.ENDED if attempt.verb in TALKING and attempt.ended_at is not None and not attempt.reason:
            return None  # the telling is a line of its own
        case Phase.ENDED:
            reason = f" ({attempt.reason})" if attempt.reason is not None else ""
            return StoryLine(at, Event.STEP_ENDED, f"{name}: {attempt.verdict}{reason}{why}", remediation)
        case Phase.WAITING:
            return None


def _outcomes(record: Record) -> Iterator[StoryLine]:
    ladder = {intent.operation.id: intent.remediation for intent in record.before.intents}
    for outcome in record.seen.outcomes:
        if outcome.kind is not OutcomeKind.DONE:
            text = f"a change came back as {outcome.kind}: {outcome.detail}"
            yield StoryLine(record.seen.now, Event.CHANGE_FAILED, text, ladder.get(outcome.operation, ""))


def _acts(record: Record) -> Iterator[StoryLine]:
    for decision in record.decisions:
        if isinstance(decision, Act):
            told = isinstance(decision.operation.effect, Tell)
            event = Event.PEOPLE_TOLD if told else Event.CHANGE_DECIDED
            yield StoryLine(record.seen.now, event, _sentence(decision), decision.remediation)


def _sentence(act: Act) -> str:
    match act.operation.effect:
        case SetReplicas(count=count, before=before):
            return f"replicas {before} -> {count}: {act.why}"
        case Cordon(replicas=names):
            return f"out of traffic, to be drained: {', '.join(names)}: {act.why}"
        case Uncordon(replicas=names):
            return f"back in traffic: {', '.join(names)}: {act.why}"
        case Tell(receivers=receivers, title=title, text=text):
            return f"told {', '.join(receivers) or 'the log'}: {title}. {text}"
