"""What has been observed of a run so far: the moments and counts that its promises are judged by."""

from __future__ import annotations

from dataclasses import dataclass, replace

from demo.sight import Attempt, Fleet, Sight, Told

SCALE = "scaleOut"  # the verb of a scale step, as the autopilot names it


@dataclass(frozen=True)
class Facts:
    """Moments are wall times, None until they came. Those from `pending_at` on count only once the load has risen.

    `at` is the moment of the last look. `present` is how many replicas are there now, `most` the most that were asked for at once, `least` the fewest that
    were asked for since a step landed. `drained` says that a replica was seen out of traffic before it went.
    """

    at: float = 0.0
    served_at: float | None = None
    proven: bool = False
    blind: bool = True
    rose_at: float | None = None
    pending_at: float | None = None
    firing_at: float | None = None
    decided_at: float | None = None
    accepted_at: float | None = None
    landed_at: float | None = None
    judged_at: float | None = None
    closed_at: float | None = None
    told_at: float | None = None
    fell_at: float | None = None
    shrinking_at: float | None = None
    shrunk_at: float | None = None
    start_seconds: float | None = None
    ready_seconds: float | None = None
    present: int = 0
    most: int = 0
    least: int | None = None
    drained: bool = False
    told: int = 0
    failed: int = 0
    attempts: tuple[Attempt, ...] = ()

    @property
    def verdict(self) -> str | None:
        """The verdict on the last scale step that landed and was judged."""
        return next((one.verdict for one in reversed(self.attempts) if one.verb == SCALE and one.phase == "ended"), None)


def take_in(facts: Facts, sight: Sight) -> Facts:
    """The facts after one more look."""
    facts = replace(facts, at=sight.at, told=sight.told, failed=sight.tally.failed)
    if sight.told and facts.told_at is None:
        facts = replace(facts, told_at=sight.at)
    facts = _steps(facts, sight)
    for line in sight.story:
        facts = _line(facts, line)
    return _fleet(facts, sight.fleet) if sight.fleet is not None else facts


def _steps(facts: Facts, sight: Sight) -> Facts:
    """Keep every attempt in the order in which it began, as it stands now."""
    known = {(one.remediation, one.verb, one.number): one for one in (*facts.attempts, *sight.attempts)}
    facts = replace(facts, attempts=tuple(known.values()))
    judged = facts.judged_at is None and facts.landed_at is not None and facts.verdict is not None
    return replace(facts, judged_at=sight.at) if judged else facts


def _line(facts: Facts, line: Told) -> Facts:
    """Take the moment of an event, the first of its kind since the load rose."""
    if facts.rose_at is None or line.wall < facts.rose_at:
        return facts
    match line.event:
        case "alert_pending":
            return replace(facts, pending_at=facts.pending_at or line.wall)
        case "alert_firing":
            return replace(facts, firing_at=facts.firing_at or line.wall)
        case _:
            return _change(facts, line)


def _change(facts: Facts, line: Told) -> Facts:
    match line.event:
        case "change_decided":
            return replace(facts, decided_at=facts.decided_at or line.wall)
        case "step_landed":
            return replace(facts, landed_at=facts.landed_at or line.wall)
        case "remediation_closed":
            return replace(facts, closed_at=facts.closed_at or line.wall)
        case _:
            return facts


def _fleet(facts: Facts, fleet: Fleet) -> Facts:
    desired = fleet.desired or 0
    facts = replace(
        facts,
        present=len(fleet.replicas),
        proven=facts.proven or fleet.good is not None,
        blind=not fleet.alerts or any(alert.blind for alert in fleet.alerts),
        served_at=facts.served_at or (fleet.at if fleet.serving else None),
        drained=facts.drained or any(one.state == "cordoned" for one in fleet.replicas),
    )
    if facts.served_at is not None and facts.start_seconds is None and fleet.replicas:
        facts = replace(facts, start_seconds=fleet.replicas[0].age_seconds)
    return _fall(_growth(facts, fleet, desired), fleet, desired)


def _growth(facts: Facts, fleet: Fleet, desired: int) -> Facts:
    if facts.rose_at is None:
        return facts
    fresh = [one for one in fleet.replicas if one.asked_at >= facts.rose_at]
    if facts.accepted_at is None and fresh:
        facts = replace(facts, accepted_at=min(one.asked_at for one in fresh))
    if facts.ready_seconds is None and any(one.state == "serving" for one in fresh):
        facts = replace(facts, ready_seconds=max(one.age_seconds for one in fresh if one.state == "serving"))
    least = facts.least
    if facts.landed_at is not None:
        least = desired if least is None else min(least, desired)
    return replace(facts, most=max(facts.most, desired), least=least)


def _fall(facts: Facts, fleet: Fleet, desired: int) -> Facts:
    if facts.fell_at is None:
        return facts
    leaving = any(one.state == "cordoned" for one in fleet.replicas) or desired < facts.most
    if facts.shrinking_at is None and leaving:
        facts = replace(facts, shrinking_at=fleet.at)
    gone = facts.shrinking_at is not None and desired < facts.most and len(fleet.replicas) == desired
    return replace(facts, shrunk_at=fleet.at) if gone and facts.shrunk_at is None else facts
