"""Which signals a fleet's policy looks at, and over which windows."""

from collections.abc import Iterator
from datetime import timedelta

from autopilot.control.burning import made_of
from autopilot.domain.conditions import Condition, Leaf, Per, alerts_elsewhere, burn_rates_of, leaves
from autopilot.domain.slos import HOUR, Slo
from autopilot.policy.values import Policy

Asked = tuple[str, timedelta | None]


def signals_needed(policy: Policy | None) -> frozenset[Asked]:
    """Every (signal, window) that a policy's alerts, verifications, demands and SLOs name."""
    if policy is None:
        return frozenset()
    asked = {(leaf.signal, leaf.over) for leaf in _leaves(policy)}
    demands = policy.scaling.demand if policy.scaling is not None else ()
    slos = {one for slo, overs in slo_windows(policy) for one in made_of(slo, overs)}
    return frozenset(asked | {(demand.signal, demand.over) for demand in demands} | slos)


def slo_windows(policy: Policy) -> Iterator[tuple[Slo, tuple[timedelta, ...]]]:
    """Each SLO with the windows that it is read over, the shortest first: those of conditions, the hour that guards, its own."""
    burning = [leaf for condition in _conditions(policy) for leaf in burn_rates_of(condition)]
    for slo in policy.slos:
        yield slo, tuple(sorted({HOUR, slo.window, *(leaf.over for leaf in burning if leaf.slo == slo.name)}))


def signals_by_replica(policy: Policy | None) -> frozenset[Asked]:
    """Those of them that a condition looks at replica by replica."""
    return frozenset((leaf.signal, leaf.over) for leaf in _leaves(policy) if leaf.per is Per.REPLICA) if policy is not None else frozenset()


def alerts_needed(policy: Policy | None) -> frozenset[str]:
    """The alerts of other evaluators that a policy's alerts and verifications name."""
    if policy is None:
        return frozenset()
    return frozenset(leaf.alert for condition in _conditions(policy) for leaf in alerts_elsewhere(condition))


def _leaves(policy: Policy) -> Iterator[Leaf]:
    for condition in _conditions(policy):
        yield from leaves(condition)


def _conditions(policy: Policy) -> Iterator[Condition]:
    for rule in policy.alerts:
        yield rule.condition
    for remedy in policy.remedies:
        for step in remedy.steps:
            if step.verify is not None and step.verify.when is not None:
                yield step.verify.when
