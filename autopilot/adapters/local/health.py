"""Whether an engine that has served still does: pure, from what it answered and when its engine last took a step.

/health alone proves nothing: it says 200 while the engine hangs, and is late on a healthy engine at its
limit. Sources: vllm issues 36451 (85 minutes in rotation, dead) and gonka 1421 (eight false restarts a day).
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum


class Health(StrEnum):
    """What came of GET /health."""

    OK = "ok"
    BAD = "bad"  # answered, not with 200: the engine is dead
    REFUSED = "refused"  # nothing listens
    LATE = "late"  # no answer in time: overloaded, or frozen


@dataclass(frozen=True, slots=True)
class Beat:
    """The engine's own account: steps taken since it started, and whether it has requests."""

    steps: float
    busy: bool


@dataclass(frozen=True, slots=True)
class Vitals:
    """One look at an engine; `beat` is None when /metrics gave none."""

    health: Health
    beat: Beat | None = None


@dataclass(frozen=True, slots=True)
class History:
    """What is remembered of an engine between two looks; times are of the monotonic clock."""

    progress: timedelta  # when it last took a step, had nothing to do, or proved itself by a probe
    steps: float | None = None
    unwell: timedelta | None = None  # since when it has been BAD or REFUSED without a break


class Verdict(StrEnum):
    """What to do about it."""

    WELL = "well"
    UNWELL = "unwell"  # out of traffic; may come back
    PROBE = "probe"  # looks stalled: ask for one token before judging
    LOST = "lost"  # unwell for too long: replace


def look(history: History, vitals: Vitals, *, now: timedelta) -> History:
    """Take one look in."""
    failing = vitals.health in {Health.BAD, Health.REFUSED}
    began = now if history.unwell is None else history.unwell
    unwell = began if failing else None
    if vitals.beat is None:
        # Late and silent may be a stall; well but silent is an engine without statistics: no ground to judge it.
        progress = now if vitals.health is Health.OK else history.progress
        return replace(history, progress=progress, unwell=unwell)
    moved = not vitals.beat.busy or vitals.beat.steps != history.steps
    return History(progress=now if moved else history.progress, steps=vitals.beat.steps, unwell=unwell)


def judge(history: History, *, now: timedelta, stall: timedelta) -> Verdict:
    """The verdict on an engine that was looked at just now."""
    if history.unwell is not None:
        return Verdict.LOST if now - history.unwell >= stall else Verdict.UNWELL
    return Verdict.PROBE if now - history.progress >= stall else Verdict.WELL


def proven(history: History, *, now: timedelta) -> History:
    """After a probe was answered: the clock of the stall begins anew."""
    return replace(history, progress=now)
