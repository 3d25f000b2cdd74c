"""The scale-in law: slowly, to what the last while has needed, and only while everything is known."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.control.load import LevelView, blind, whole
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import LevelState, Need, ScaleInLaw
from autopilot.domain.workloads import PENDING_STATES, Replica, ReplicaState

UNKNOWN_RESETS = 3  # unknown ticks running; a single one only stops the clock
LAST_REPLICA = 1  # without any replica nothing is measured, and nothing could ask for one again


@dataclass(frozen=True, slots=True)
class Letting:
    """A tick that asks whether capacity may go: `needed` is the least to keep, None while that is unknown."""

    state: LevelState
    view: LevelView
    law: ScaleInLaw
    needed: int | None

    @property
    def excess(self) -> int:
        """How many replicas more than needed there are, cut to `by`; never the last one of them."""
        present = self.view.workload.desired
        least = max(self.needed if self.needed is not None else present, LAST_REPLICA)
        most = self.law.by if self.law.by is not None else present
        return max(0, min(present - least, most))


@dataclass(frozen=True, slots=True)
class Kept:
    """Nothing is let go, and why. `limit` names the value and what it ran against."""

    reason: Reason
    limit: str = ""


def advance_clock(state: LevelState, view: LevelView, *, keep: int | None) -> LevelState:
    """Take in what this tick would have kept; None when something that scale-in needs is unknown.

    The clock counts only between two ticks that were both known. An unknown one stops it, three running reset it.
    """
    if keep is None:
        return _stop(state)
    passed = view.now - state.calm_at if state.calm_at is not None else ZERO
    return replace(state, calm_at=view.now, unknown_run=0, stable=state.stable + passed, needs=_needs(state, view, keep))


def unobserved(state: LevelState) -> LevelState:
    """Take in a tick on which the backend could not be asked: every clock of the level stands, and the time until the next counts for nothing."""
    return replace(_stop(state), seen_at=None)


def after_restart(state: LevelState) -> LevelState:
    """A new process starts with the whole of `stableFor` before it; what it has learned it keeps."""
    return replace(state, stable=ZERO, calm_at=None, seen_at=None, unknown_run=0, needs=())


def highest_need(state: LevelState) -> int | None:
    """The most that any tick of the last while would have kept."""
    return state.needs[0].replicas if state.needs else None


def let_go(letting: Letting) -> tuple[str, ...] | Kept:
    """The victims of this tick, or why there are none."""
    kept = next((kept for objects in OBJECTIONS if (kept := objects(letting)) is not None), None)
    if kept is not None:
        return kept
    victims = _victims(letting)
    return victims or Kept(Reason.NO_DRAIN, "every replica has requests running, or does not tell, and none can be taken out of traffic")


def _stop(state: LevelState) -> LevelState:
    run = state.unknown_run + 1
    stopped = replace(state, calm_at=None, unknown_run=run)
    return replace(stopped, stable=ZERO, needs=()) if run >= UNKNOWN_RESETS else stopped


def _needs(state: LevelState, view: LevelView, keep: int) -> tuple[Need, ...]:
    """A falling sequence: what is older and lower than a new need can never be the highest again."""
    law = view.law.scale_in
    horizon = view.now - law.stable_for if law is not None else view.now
    higher = tuple(need for need in state.needs if need.replicas > keep and need.at >= horizon)
    return (*higher, Need(view.now, keep))


def _at_the_minimum(letting: Letting) -> Kept | None:
    present, least = letting.view.workload.desired, max(letting.view.bounds.minimum, LAST_REPLICA)
    return Kept(Reason.AS_WANTED, f"{present} replicas, at least {least}") if present <= least else None


def _blind(letting: Letting) -> Kept | None:
    return Kept(Reason.BLIND, "nobody tells what is in flight") if blind(letting.view) else None


def _something_unknown(letting: Letting) -> Kept | None:
    run = letting.state.unknown_run
    return Kept(Reason.BLIND, f"something was unknown on the last {run} ticks") if run else None


def _symptom_blind(letting: Letting) -> Kept | None:
    return Kept(Reason.BLIND, "an alert on what users feel cannot see") if letting.view.symptom_blind else None


def _symptom(letting: Letting) -> Kept | None:
    return Kept(Reason.SYMPTOM) if letting.view.symptom_yes else None


def _remediation_open(letting: Letting) -> Kept | None:
    return Kept(Reason.REMEDIATION_OPEN) if letting.view.remediation_open else None


def _good_unknown(letting: Letting) -> Kept | None:
    template = letting.view.workload.template
    return Kept(Reason.GOOD_UNKNOWN, f"template {template}") if letting.state.of(template).good is None else None


def _not_stable(letting: Letting) -> Kept | None:
    stable, asked = letting.state.stable, letting.law.stable_for
    return Kept(Reason.NOT_STABLE, f"known for {_text(stable)} of {_text(asked)}") if stable < asked else None


def _needed_all(letting: Letting) -> Kept | None:
    if letting.excess > 0:
        return None
    return Kept(Reason.AS_WANTED, f"{letting.needed} needed of {letting.view.workload.desired}")


def _too_soon(letting: Letting) -> Kept | None:
    last: LogicalTime | None = letting.state.shrunk_at
    if last is None or letting.view.now - last >= letting.law.every:
        return None
    return Kept(Reason.EVERY, f"{_text(letting.view.now - last)} of {_text(letting.law.every)} since the last")


# The first that objects is the reason that people see: what is broken before what merely takes time.
OBJECTIONS: tuple[Callable[[Letting], Kept | None], ...] = (
    _at_the_minimum,
    _blind,
    _good_unknown,
    _something_unknown,
    _symptom_blind,
    _symptom,
    _remediation_open,
    _not_stable,
    _needed_all,
    _too_soon,
)


def _victims(letting: Letting) -> tuple[str, ...]:
    """Who carries nothing first, then who carries least; nobody whose load is unknown."""
    workload = letting.view.workload
    ranked = sorted(
        (load, order, replica.name)
        for order, replica in enumerate(workload.replicas)
        if (load := _carries(letting, replica)) is not None and (load <= 0 or workload.can_cordon)
    )
    return tuple(name for _, _, name in ranked[: letting.excess])


def _carries(letting: Letting, replica: Replica) -> float | None:
    """Requests on a replica now, below zero for one that cannot have any; None when nobody knows."""
    if replica.state is ReplicaState.FAILED or replica.name in letting.state.given_up:
        return -2.0
    if replica.state in PENDING_STATES:
        return -1.0
    readings = letting.view.readings
    running = whole(readings.of("running", replica=replica.name))
    waiting = whole(readings.of("waiting", replica=replica.name))
    return None if running is None or waiting is None else running + waiting


def _text(span: timedelta) -> str:
    return f"{span.total_seconds():.0f}s"
