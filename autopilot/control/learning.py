"""What a replica of a pod template can carry is not guessed: the fleet shows it every day, and this remembers it.

Unknown signals teach nothing, and neither do partial ones. Source: docs on the proven load.
"""

from dataclasses import replace
from datetime import timedelta

from autopilot.control.load import LevelView, Load
from autopilot.domain.conditions import Truth
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.scaling import DayOfLoad, LevelState, ProvenLoad

DAY = timedelta(days=1)
DAYS_KEPT = 7  # a workload that changed for good is unlearned within a week
TEMPLATES_KEPT = 8  # enough to roll back to; Memory stays small
LOAD_TIMES_KEPT = 50  # start-up times behind the p99
LEAST_RATE = 1e-6  # finished per second; under it a minute's increase is rounding, not a rate
ONE_REQUEST = 1.0  # whoever served at all carried one request at a time: fewer per replica cannot be needed


def learn(state: LevelState, view: LevelView, load: Load) -> LevelState:
    """Take what this tick showed into the proven load of the template, and note who has come into service."""
    template = view.workload.template
    proven = _forget(state.of(template), today=day_of(view.now))
    proven = _good(proven, view, load)
    proven = _bad(proven, view, load)
    proven = _load_times(proven, state, view)
    return replace(state, learned=_kept(state, proven), serving_since=_serving_since(state, view))


def day_of(now: LogicalTime) -> int:
    """The day of logical time; day 0 is the first."""
    return now // DAY


def _forget(proven: ProvenLoad, *, today: int) -> ProvenLoad:
    fresh = tuple(day for day in proven.days if day.day > today - DAYS_KEPT)
    return proven if fresh == proven.days else replace(proven, days=fresh)


def _good(proven: ProvenLoad, view: LevelView, load: Load) -> ProvenLoad:
    if view.latency is not Truth.NO or load.mean is None or load.mean <= 0.0:
        return proven
    today = _today(proven, view.now)
    proved = max(load.mean, ONE_REQUEST, today.good or 0.0)
    return replace(proven, days=_with(proven, replace(today, good=proved)), seconds=_seconds(load) or proven.seconds)


def _seconds(load: Load) -> float | None:
    """Little's law: the time a request spends in the system is what is there, over what leaves per second."""
    if load.running is None or load.finished is None or load.finished < LEAST_RATE:
        return None
    return load.running / load.finished


def _bad(proven: ProvenLoad, view: LevelView, load: Load) -> ProvenLoad:
    if not view.began_firing or load.mean is None or load.newest is None:
        return proven
    carried = max(load.mean, load.newest)
    if carried <= max(proven.good or 0.0, ONE_REQUEST):
        return proven  # not the load's doing
    today = _today(proven, view.now)
    lowest = carried if today.bad is None else min(today.bad, carried)
    return replace(proven, days=_with(proven, replace(today, bad=lowest)))


def _today(proven: ProvenLoad, now: LogicalTime) -> DayOfLoad:
    today = day_of(now)
    return next((day for day in proven.days if day.day == today), DayOfLoad(today))


def _with(proven: ProvenLoad, today: DayOfLoad) -> tuple[DayOfLoad, ...]:
    return (*(day for day in proven.days if day.day != today.day), today)


def _load_times(proven: ProvenLoad, state: LevelState, view: LevelView) -> ProvenLoad:
    known = {name for name, _ in state.serving_since}
    fresh = tuple(
        replica.load_seconds
        for replica in view.workload.serving
        if replica.name not in known and replica.load_seconds is not None and replica.template in ("", proven.template)
    )
    return replace(proven, load_seconds=(*proven.load_seconds, *fresh)[-LOAD_TIMES_KEPT:]) if fresh else proven


def _kept(state: LevelState, proven: ProvenLoad) -> tuple[ProvenLoad, ...]:
    """The newest template last."""
    others = tuple(other for other in state.learned if other.template != proven.template)
    return (*others, proven)[-TEMPLATES_KEPT:]


def _serving_since(state: LevelState, view: LevelView) -> tuple[tuple[str, LogicalTime], ...]:
    """Since when each replica serves; one that is there no more is forgotten, one that fell ill is not new again."""
    since = dict(state.serving_since)
    serving = {replica.name for replica in view.workload.serving}
    return tuple(
        (replica.name, since.get(replica.name, view.now))
        for replica in view.workload.replicas
        if replica.name in serving or replica.name in since
    )
