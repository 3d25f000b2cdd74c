"""Pending capacity counts as capacity, for so long; then it is given up, retracted, and not asked for again for a while."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil

from autopilot.control.load import LevelView, blind, live
from autopilot.domain.logical_time import ZERO
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Bar, LevelState, ProvenLoad, ScalingLaw
from autopilot.domain.workloads import PENDING_STATES, Replica, ReplicaState

UNMEASURED = timedelta(minutes=10)  # while no start-up of the template was measured
AT_LEAST = timedelta(minutes=1)  # twice a start of seconds would fail when several load at once, or the disk is busy
FIRST_REST = timedelta(minutes=5)
LONGEST_REST = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Retract:
    """Take back the request for these replicas: none of them ever served. `message` is the backend's own.

    `reason` is `no_capacity` for those that did not come up, `as_wanted` for those that nobody asks for any more.
    """

    replicas: tuple[str, ...]
    reason: Reason
    message: str = ""


def start_within(law: ScalingLaw, proven: ProvenLoad) -> timedelta:
    """How long a replica of this template may take until it serves."""
    if law.start_within is not None:
        return law.start_within
    if not proven.load_seconds:
        return UNMEASURED
    ranked = sorted(proven.load_seconds)
    p99 = ranked[ceil(0.99 * len(ranked)) - 1]
    return max(AT_LEAST, timedelta(seconds=2.0 * p99))


def advance_pending(state: LevelState, view: LevelView) -> LevelState:
    """Let the clocks of the pending replicas run, unless blind, and give up on those that took too long or failed."""
    waited = _waited(state, view)
    limit = start_within(view.law, state.of(view.workload.template))
    late = {name for name, time in waited.items() if time >= limit}
    served = {name for name, _ in state.serving_since}
    given_up = tuple(
        replica
        for replica in view.workload.replicas
        if replica.name in late or (replica.state is ReplicaState.FAILED and replica.name not in served)
    )
    return replace(
        state,
        waited=tuple(waited.items()),
        seen_at=None if blind(view) else view.now,
        given_up=tuple(replica.name for replica in given_up),
        bar=_bar(state, view, given_up),
    )


def lost(state: LevelState, view: LevelView) -> int:
    """How many of the replicas that were asked for will never carry anything: given up, or failed after they had served."""
    return sum(replica.state is ReplicaState.FAILED or replica.name in state.given_up for replica in view.workload.replicas)


def retract_late(state: LevelState, view: LevelView) -> Retract | None:
    """What to take back because it did not come up."""
    late = [replica for replica in view.workload.replicas if replica.name in state.given_up]
    late.sort(key=lambda replica: replica.state is not ReplicaState.FAILED)
    return _retract(view, late, at_most=len(late), reason=Reason.NO_CAPACITY)


def retract_unasked(state: LevelState, view: LevelView, *, needed: int | None) -> Retract | None:
    """What a remediation had asked for, is still pending, and nobody asks for since it closed.

    Only up to the floor that the remediation had: what is over it was asked for by somebody else. `needed` looks back
    over `stableFor`: a replica taken back at the first quiet tick is asked for again at the next noisy one.
    """
    if state.floor is None or needed is None or view.remediation_open:
        return None
    asked = min(state.floor, view.workload.desired)
    newest_first = sorted(view.workload.in_state(*PENDING_STATES), key=lambda replica: replica.age)
    return _retract(view, newest_first, at_most=asked - needed, reason=Reason.AS_WANTED)


def settle_floor(state: LevelState, view: LevelView) -> LevelState:
    """Remember the floor of an open remediation until none of the replicas it asked for is pending."""
    if view.floor is not None:
        return replace(state, floor=view.floor)
    if not view.remediation_open and not view.workload.in_state(*PENDING_STATES):
        return replace(state, floor=None)
    return state


def _retract(view: LevelView, replicas: Iterable[Replica], *, at_most: int, reason: Reason) -> Retract | None:
    """Never below the minimum, and never so far that a live replica would have to go."""
    room = view.workload.desired - max(view.bounds.minimum, len(live(view.workload)))
    chosen = tuple(replicas)[: max(0, min(room, at_most))]
    if not chosen:
        return None
    return Retract(tuple(replica.name for replica in chosen), reason, _message(chosen))


def _waited(state: LevelState, view: LevelView) -> dict[str, timedelta]:
    before = dict(state.waited)
    gapless = state.seen_at is not None and not blind(view)
    passed = view.now - state.seen_at if gapless and state.seen_at is not None else ZERO
    served = {name for name, _ in state.serving_since}
    pending = (replica.name for replica in view.workload.in_state(*PENDING_STATES) if replica.name not in served)
    return {name: before[name] + passed if name in before else ZERO for name in pending}


def _bar(state: LevelState, view: LevelView, given_up: tuple[Replica, ...]) -> Bar | None:
    if _one_came_up(state, view):
        return None
    fresh = [replica for replica in given_up if replica.name not in state.given_up]
    above = view.workload.desired - len(given_up)
    bar = state.bar
    if bar is None or view.now >= bar.until:
        return _begin_rest(bar, view, fresh, above=above) if fresh else bar
    if fresh:
        return replace(bar, above=min(bar.above, above))  # asked for a little later, for the same want of a place
    if given_up and all(replica.message != bar.message for replica in given_up):
        return replace(bar, until=view.now)  # the reason changed: it may be tried again
    return bar


def _begin_rest(last: Bar | None, view: LevelView, fresh: list[Replica], *, above: int) -> Bar:
    rest = FIRST_REST if last is None else min(2 * last.rest, LONGEST_REST)
    return Bar(until=view.now + rest, above=above, rest=rest, message=_message(fresh))


def _one_came_up(state: LevelState, view: LevelView) -> bool:
    waited_for = {name for name, _ in state.waited}
    return any(replica.name in waited_for for replica in view.workload.serving)


def _message(replicas: Iterable[Replica]) -> str:
    return next((replica.message for replica in replicas if replica.message), "")
