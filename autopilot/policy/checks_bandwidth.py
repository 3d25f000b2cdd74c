"""Bandwidth explains, it never acts: a busy memory is how a healthy engine looks, and its sources come and go."""

from collections.abc import Iterator
from typing import assert_never

from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Condition, Leaf, Not
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
    """Whether bandwidth by itself can make the condition yes."""
    match condition:
        case Leaf(signal=signal):
            return signal == BANDWIDTH
        case AlertmanagerLeaf() | BurnRateLeaf():
            return False
        case All(conditions=parts):
            return all(map(enough, parts))
        case AnyOf(conditions=parts):
            return any(map(enough, parts))
        case Not(condition=inner):
            return _denied(inner)
        case _:
            assert_never(condition)


def _denied(condition: Condition) -> bool:
    """Whether bandwidth by itself can make the condition no: all and any change places."""
    match condition:
        case Leaf() | AlertmanagerLeaf() | BurnRateLeaf():
            return enough(condition)
        case All(conditions=parts):
            return any(map(_denied, parts))
        case AnyOf(conditions=parts):
            return all(map(_denied, parts))
        case Not(condition=inner):
            return enough(inner)
        case _:
            assert_never(condition)
