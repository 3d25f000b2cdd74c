"""Conditions of files into the core's conditions."""

from collections.abc import Mapping

from autopilot.catalog.signals import SignalKind
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Comparison, Condition, Leaf, Not, Per, Truth
from autopilot.policy.checks_conditions import hurts
from autopilot.policy.schema_conditions import AlertmanagerShape, AllShape, AnyShape, BurnRateShape, NotShape, Shapes, SignalLeaf
from autopilot.policy.units import parse_threshold

_ON_UNKNOWN: dict[object, Truth | None] = {"hold": None, True: Truth.YES, False: Truth.NO}


def compiled(condition: Shapes, signals: Mapping[str, SignalKind], *, negated: bool = False) -> Condition:
    """The condition in base units. It must be free of complaints.

    What stands under `not` is never a symptom: its *yes* is what is wished for.
    """
    match condition:
        case SignalLeaf():
            return _leaf(condition, signals[condition.signal], negated=negated)
        case AllShape(all=inner):
            return All(tuple(compiled(part, signals, negated=negated) for part in inner))
        case AnyShape(any=inner):
            return AnyOf(tuple(compiled(part, signals, negated=negated) for part in inner))
        case NotShape(not_=part):
            return Not(compiled(part, signals, negated=True))
        case AlertmanagerShape() | BurnRateShape():
            return _elsewhere(condition)


def _elsewhere(leaf: AlertmanagerShape | BurnRateShape) -> AlertmanagerLeaf | BurnRateLeaf:
    match leaf:
        case AlertmanagerShape(alertmanager=name):
            return AlertmanagerLeaf(name)
        case BurnRateShape():
            return BurnRateLeaf(leaf.slo, leaf.burn_rate_above, leaf.over)


def _leaf(leaf: SignalLeaf, kind: SignalKind, *, negated: bool) -> Leaf:
    above = leaf.above is not None
    felt = hurts(leaf, kind) and not negated
    return Leaf(
        signal=leaf.signal,
        comparison=Comparison.ABOVE if above else Comparison.BELOW,
        threshold=parse_threshold(leaf.above if above else leaf.below, kind.unit),
        over=leaf.over,
        quantile=leaf.quantile,
        per=Per(leaf.per),
        clear=None if leaf.clear is None else parse_threshold(leaf.clear, kind.unit),
        min_samples=leaf.min_samples,
        on_unknown=_ON_UNKNOWN[leaf.on_unknown],
        symptom=kind.symptom and felt,
        latency=kind.latency and felt,
    )
