"""Bandwidth explains, it never acts: a busy memory is how a healthy engine looks, and its sources come and go."""

from collections.abc import Iterator
from itertools import product
from typing import assert_never

from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Condition, Leaf, Not, Truth, all_of, any_of
from autopilot.domain.verbs import TALKING
from autopilot.policy.checks_conditions import Signals
from autopilot.policy.compile_conditions import compiled
from autopilot.policy.problems import Complaint
from autopilot.policy.schema_policy import PolicySpec, StepShape

BANDWIDTH = "bandwidth_utilization"


def acts_alone(spec: PolicySpec, signals: Signals) -> Iterator[Complaint]:
    """The steps and demands that change a fleet on bandwidth alone.

    Only for a spec without complaints: its conditions are compiled.
    """
    alone = {alert.name for alert in spec.alerts if enough(compiled(alert.when, signals))}
    for index, remedy in enumerate(spec.remedies):
        for number, step in enumerate(remedy.steps):
            if remedy.alert in alone and _changes(step):
                what = f"the alert {remedy.alert} can fire on {BANDWIDTH} alone, which never acts by itself; write all: [...] with ttft or waiting"
                yield Complaint(("spec", "remedies", index, "steps", number, "do"), what)
    for index, demand in enumerate(spec.scaling.demand if spec.scaling is not None else ()):
        if demand.signal == BANDWIDTH:
            what = f"{BANDWIDTH} never acts by itself; write a demand on requests or tokens"
            yield Complaint(("spec", "scaling", "demand", index, "signal"), what)


def _changes(step: StepShape) -> bool:
    (action,) = step.do.written
    return action.verb not in TALKING


def enough(condition: Condition) -> bool:
    """Whether bandwidth by itself can make the condition yes: everything else is silent, and taken as `onUnknown` says."""
    possible = _possible(condition)
    return Truth.YES in possible and possible != {Truth.YES}


def _possible(condition: Condition) -> frozenset[Truth]:
    """What the condition can be while nothing but bandwidth is measured."""
    match condition:
        case Leaf(signal=signal, on_unknown=taken):
            return frozenset({Truth.YES, Truth.NO}) if signal == BANDWIDTH else frozenset({Truth.UNKNOWN if taken is None else taken})
        case AlertmanagerLeaf() | BurnRateLeaf():
            return frozenset({Truth.UNKNOWN})
        case All(conditions=parts):
            return frozenset(all_of(list(case)) for case in _cases(parts))
        case AnyOf(conditions=parts):
            return frozenset(any_of(list(case)) for case in _cases(parts))
        case Not(condition=inner):
            return frozenset(truth.negated() for truth in _possible(inner))
        case _:
            assert_never(condition)


def _cases(parts: tuple[Condition, ...]) -> Iterator[tuple[Truth, ...]]:
    """Every way in which these can be true together; parts that can be the same are one, for a list may be long."""
    return product(*{_possible(part) for part in parts}, *_twins(parts))


def _twins(parts: tuple[Condition, ...]) -> tuple[frozenset[Truth], ...]:
    """Once more what can be several things, so that two of a kind may differ."""
    found = [_possible(part) for part in parts]
    return tuple({one for one in found if len(one) > 1 and found.count(one) > 1})
