"""What is wrong with bounds and demand."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from autopilot.domain.conditions import leaves
from autopilot.policy.checks_conditions import Signals
from autopilot.policy.compile_conditions import compiled
from autopilot.policy.problems import Complaint, Path, did_you_mean, quoted
from autopilot.policy.schema_policy import BoundShape, DemandShape, PolicySpec, ScalingShape

SCALING: Path = ("spec", "scaling")


def scaling_complaints(spec: PolicySpec, signals: Signals) -> Iterator[Complaint]:
    """Everything that is wrong with `scaling`."""
    if spec.scaling is None:
        return
    yield from _bounds(spec.scaling.bounds)
    for index, demand in enumerate(spec.scaling.demand):
        yield from _demand(demand, (*SCALING, "demand", index), signals)
    if spec.scaling.headroom > 1:
        yield Complaint((*SCALING, "headroom"), "more than 100 % on top; a factor of 1.1 is written as headroom: 10%")


def scaling_cautions(spec: PolicySpec, signals: Signals) -> Iterator[Complaint]:
    """What does not do what one may think it does."""
    scaling = spec.scaling
    if scaling is None:
        return
    if scaling.headroom > 0 and not scaling.demand:
        yield Complaint((*SCALING, "headroom"), "no effect: headroom is for demand only, and there is none")
    judged = any(leaf.latency for alert in spec.alerts for leaf in leaves(compiled(alert.when, signals)))
    if scaling.in_ is not None and not judged:
        yield Complaint(
            (*SCALING, "in"), "no alert looks at a latency, so no load is ever proven good and nothing shrinks; add one on ttft"
        )


def _bounds(bounds: Sequence[BoundShape]) -> Iterator[Complaint]:
    path: Path = (*SCALING, "bounds")
    always = _merged(bounds, frozenset())
    for index, bound in enumerate(bounds):
        if bound.min is None and bound.max is None:
            yield Complaint((*path, index), "neither min nor max is here, write at least one")
    if always is None:
        yield Complaint(path, "one entry without during: gives min and max, write {min: 1, max: 4}")
        return
    yield from _crossings(bounds, path)


def _crossings(bounds: Sequence[BoundShape], path: Path) -> Iterator[Complaint]:
    """Windows under which min would lie above max.

    Later entries win side by side, so whatever min and max are in force come from at most two windows:
    looking at every pair is looking at everything.
    """
    names = list(dict.fromkeys(bound.during for bound in bounds if bound.during is not None))
    for size in range(3):
        for open_now in combinations(names, size):
            merged = _merged(bounds, frozenset(open_now))
            if merged is not None and merged[0] > merged[1]:
                during = f" while {' and '.join(open_now)} {'are' if size > 1 else 'is'} open" if open_now else ""
                yield Complaint(path, f"min {merged[0]} lies above max {merged[1]}{during}, give the later entry both min and max")
                return


def _merged(bounds: Sequence[BoundShape], open_now: frozenset[str]) -> tuple[int, int] | None:
    """The limits in force while these windows are open, None while a side is missing."""
    minimum = maximum = None
    for bound in bounds:
        if bound.during is None or bound.during in open_now:
            minimum = bound.min if bound.min is not None else minimum
            maximum = bound.max if bound.max is not None else maximum
    return None if minimum is None or maximum is None else (minimum, maximum)


def _demand(demand: DemandShape, path: Path, signals: Signals) -> Iterator[Complaint]:
    kind = signals.get(demand.signal)
    usable = [name for name, known in signals.items() if known.form in ("rate", "gauge") and known.unit != "ratio"]
    if kind is None:
        yield Complaint(
            (*path, "signal"), f"no signal is called {quoted(demand.signal)}, {did_you_mean(demand.signal, usable)}", ("spec", "signals")
        )
    elif demand.signal not in usable:
        yield Complaint((*path, "signal"), f"{demand.signal} is no amount of work that replicas share, {did_you_mean('', usable)}")
    elif kind.form == "rate" and demand.over is None:
        yield Complaint(path, f"over is required for {kind.name}, a rate; write the window, such as over: 1m")


def widest(scaling: ScalingShape) -> tuple[int, int]:
    """The lowest min and the highest max of all bounds."""
    minimums = [bound.min for bound in scaling.bounds if bound.min is not None]
    maximums = [bound.max for bound in scaling.bounds if bound.max is not None]
    return min(minimums), max(maximums)
