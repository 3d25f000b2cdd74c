"""The scaling level: how many replicas are wanted now, pending ones counted. A pure function of what is seen and remembered.

The need is what a replica has proven to carry, never a constant that somebody guessed. Source: design.md, section 5.
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, TypeAlias

from autopilot.control.learning import learn
from autopilot.control.load import LevelView, Load, known_throughout, load_of, number, whole
from autopilot.control.pending import advance_pending, lost, retract_late, retract_unasked, settle_floor
from autopilot.control.scale_in import Kept, Letting, advance_clock, highest_need, let_go
from autopilot.domain.reasons import Reason
from autopilot.domain.scaling import Demand, LevelState, ProvenLoad
from autopilot.domain.signals import Reading
from autopilot.domain.verbs import Verb

NOISE = 1.2  # of a minute's rates: proven-load.md
MOST = 1_000_000  # no bound is higher; keeps an absurd rate from overflowing
CLOSE_TO_BAD = 0.8  # act before any symptom at this share of the load that once brought one


@dataclass(frozen=True, slots=True)
class Grow:
    """Ask for `to` replicas."""

    to: int
    why: str
    kind: Literal["grow"] = "grow"


@dataclass(frozen=True, slots=True)
class Shrink:
    """Let the victims go; `to` are left."""

    to: int
    victims: tuple[str, ...]
    why: str
    kind: Literal["shrink"] = "shrink"


@dataclass(frozen=True, slots=True)
class Stay:
    """Leave the count as it is. `limit` names the value and what it ran against."""

    verb: Verb
    reason: Reason
    limit: str = ""
    kind: Literal["stay"] = "stay"


Move: TypeAlias = Grow | Shrink | Stay


@dataclass(frozen=True, slots=True)
class Level:
    """The result of a tick. `wanted` is what `autopilot_desired_replicas` shows.

    `needed` is the least that must not be gone below now (a removal is called back when it rises over what would
    be left), None while unknown. `retract` names replicas that never served and are not waited for any more.
    """

    state: LevelState
    wanted: int
    move: Move
    needed: int | None = None
    retract: tuple[str, ...] = ()
    retract_why: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """Replicas that something asks for on this tick, and what it is."""

    replicas: int
    by: str


def advance_level(state: LevelState, view: LevelView) -> Level:
    """Take one tick in, and say how many replicas are wanted."""
    load = load_of(view)
    state = _note_count(settle_floor(advance_pending(state, view), view), view)
    state = learn(state, view, load)
    keep = keep_of(state, view, load)
    state = advance_clock(state, view, keep=keep)
    asked = _asked(state, view, load)
    needed = _needed(state, view, asked, keep)
    retract = retract_late(state, view) or retract_unasked(state, view, needed=needed)
    move = _move(state, view, asked, needed)
    wanted = _wanted(state, view, move, known=load.at_least is not None)
    return Level(
        state=replace(state, wanted=wanted),
        wanted=wanted,
        move=move,
        needed=needed,
        retract=() if retract is None else retract.replicas,
        retract_why="" if retract is None else retract.message or _why_retracted(retract.reason),
    )


def ahead_of(proven: ProvenLoad, in_flight: float | None) -> int | None:
    """What keeps the load clear of the one that once brought a symptom; None while nobody has seen that."""
    if proven.bad is None or in_flight is None:
        return None
    return _up(in_flight / max(proven.good or 0.0, CLOSE_TO_BAD * proven.bad))


def keep_of(state: LevelState, view: LevelView, load: Load) -> int | None:
    """What this tick needs for good: the load and every demand, without the part of a backlog that passes.

    None while anything is unknown or partial: such a tick says nothing about what could go.
    """
    proven = state.of(view.workload.template)
    demands = [_for_demand(demand, view, whole(_demanded(demand, view))) for demand in view.law.demand]
    if not known_throughout(view, state) or load.in_flight is None or proven.good is None or None in demands:
        return None
    fit = _up(load.in_flight / proven.good)
    stay = _lasting_need(proven, load)
    if load.finished is None or load.growth is None:
        return None
    lasting = fit if stay is None else min(fit, stay)
    return max(lasting, ahead_of(proven, load.in_flight) or 0, *(need for need in demands if need is not None), 0)


def _lasting_need(proven: ProvenLoad, load: Load) -> int | None:
    """Little's law on arrivals: what the load will be when the backlog is gone."""
    if proven.good is None or proven.seconds is None or load.finished is None or load.growth is None:
        return None
    arrivals = max(0.0, load.finished + load.growth)
    return _up(NOISE * arrivals * proven.seconds / proven.good)


def _asked(state: LevelState, view: LevelView, load: Load) -> Asked:
    """The highest of what asks for replicas. What was only partly seen may ask too: there are at least so many requests."""
    proven = state.of(view.workload.template)
    entries = [
        Asked(view.floor or 0, "the open remediation"),
        Asked(
            ahead_of(proven, load.at_least) or 0, f"{load.at_least or 0.0:.0f} requests in flight, close to a load that brought symptoms"
        ),
    ]
    for demand in view.law.demand:
        need = _for_demand(demand, view, number(_demanded(demand, view)))
        entries.append(Asked(need or 0, f"the demand of {demand.signal}"))
    return max(entries, key=lambda entry: entry.replicas)


def _demanded(demand: Demand, view: LevelView) -> Reading:
    return view.readings.of(demand.signal, over=demand.over)


def _for_demand(demand: Demand, view: LevelView, value: float | None) -> int | None:
    return None if value is None else _up(value * (1.0 + view.law.headroom) / demand.per_replica)


def _needed(state: LevelState, view: LevelView, asked: Asked, keep: int | None) -> int | None:
    highest = highest_need(state)
    if keep is None or highest is None:
        return None
    return max(highest, asked.replicas, view.bounds.minimum)


def _move(state: LevelState, view: LevelView, asked: Asked, needed: int | None) -> Move:
    present = view.workload.desired
    if present == 0 and view.foreign_zero:
        return Stay(Verb.SCALE_OUT, Reason.OWNED_ELSEWHERE, "another hand set 0 replicas")
    # Replicas that never come are in the count, and carry nothing.
    gone = lost(state, view)
    want = max(present, asked.replicas + gone) if asked.replicas else present
    to = view.bounds.cap(want, present=present)
    allowed = _barred(state, view, to)
    if allowed > present:
        why = asked.by if asked.replicas + gone > present else "the minimum"
        return Grow(allowed, f"{allowed} replicas for {why}")
    if to > present:
        return Stay(Verb.SCALE_OUT, Reason.NO_CAPACITY, f"{to} wanted: {state.bar.message if state.bar else ''}")
    if want > present:
        return Stay(Verb.SCALE_OUT, Reason.AT_BOUND, f"{want} wanted, at most {view.bounds.maximum}")
    if asked.replicas > len(view.workload.serving):
        return Stay(Verb.SCALE_OUT, Reason.PENDING_COVERS, f"{asked.replicas} wanted, {present} asked for")
    return _scale_in(state, view, needed)


def _barred(state: LevelState, view: LevelView, to: int) -> int:
    """What may be asked for while replicas that never started are rested from; the minimum always may."""
    bar = state.bar
    if bar is None or view.now >= bar.until:
        return to
    return min(to, max(bar.above, view.bounds.minimum))


def _scale_in(state: LevelState, view: LevelView, needed: int | None) -> Move:
    law = view.law.scale_in
    if law is None:
        return Stay(Verb.SCALE_IN, Reason.AS_WANTED, "the policy has no scaling.in")
    match let_go(Letting(state, view, law, needed)):
        case Kept(reason=reason, limit=limit):
            return Stay(Verb.SCALE_IN, reason, limit)
        case victims:
            left = view.workload.desired - len(victims)
            return Shrink(left, victims, f"{needed} replicas were enough for {law.stable_for}")


def _wanted(state: LevelState, view: LevelView, move: Move, *, known: bool) -> int:
    """The gauge. On an unknown tick it repeats its last value, or more where more is asked for: never less."""
    present = view.workload.desired
    match move:
        case Shrink(to=to):
            return to
        case Stay(reason=Reason.OWNED_ELSEWHERE):
            return present
        case Grow(to=to):
            shown = to
        case Stay():
            shown = present
    last = 0 if known or state.wanted is None else state.wanted
    return view.bounds.cap(max(shown, last), present=present)


def _note_count(state: LevelState, view: LevelView) -> LevelState:
    """Whoever lowered the count: `every` counts from then."""
    present = view.workload.desired
    fell = state.count is not None and present < state.count
    return replace(state, count=present, shrunk_at=view.now if fell else state.shrunk_at)


def _why_retracted(reason: Reason) -> str:
    return "nobody asks for it any more" if reason is Reason.AS_WANTED else "it did not start in time"


def _up(need: float) -> int:
    """The next whole number; a quotient that is whole but for rounding stays what it is."""
    return ceil(round(min(need, MOST), 9))
