"""Three-valued conditions over readings: yes, no or unknown."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Literal, TypeAlias


class Truth(StrEnum):
    """Kleene's three values. Not `bool`, so that nobody writes `if truth`."""

    YES = "true"
    NO = "false"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        """Refuse: unknown is neither."""
        message = "a Truth is compared with `is`, never taken as a bool"
        raise TypeError(message)

    def negated(self) -> "Truth":
        """Yes and no change places, unknown stays."""
        return {Truth.YES: Truth.NO, Truth.NO: Truth.YES}.get(self, Truth.UNKNOWN)


def all_of(truths: "list[Truth]") -> Truth:
    """No if any is no, else unknown if any is unknown, else yes."""
    if Truth.NO in truths:
        return Truth.NO
    return Truth.UNKNOWN if Truth.UNKNOWN in truths else Truth.YES


def any_of(truths: "list[Truth]") -> Truth:
    """Yes if any is yes, else unknown if any is unknown, else no."""
    if Truth.YES in truths:
        return Truth.YES
    return Truth.UNKNOWN if Truth.UNKNOWN in truths else Truth.NO


class Comparison(StrEnum):
    """The side of the threshold on which a leaf says yes."""

    ABOVE = "above"
    BELOW = "below"


class Per(StrEnum):
    """Whether a leaf looks at the fleet's aggregate or is yes when any replica is."""

    FLEET = "fleet"
    REPLICA = "replica"


@dataclass(frozen=True, slots=True)
class Leaf:
    """`signal` against `threshold`, in the signal's own unit.

    `quantile` in (0, 1) for histograms; `over` is the window, None for a gauge's newest value; `clear` the
    level at which a firing alert's leaf ends; `min_samples` replaces the full size of the quantile;
    `on_unknown` is the truth that a missing source is taken for, None to stay unknown; a *symptom* is what
    users feel (latency, waiting, errors) and what verification looks at.
    """

    signal: str
    comparison: Comparison
    threshold: float
    over: timedelta | None = None
    quantile: float | None = None
    per: Per = Per.FLEET
    clear: float | None = None
    min_samples: int | None = None
    on_unknown: Truth | None = None
    symptom: bool = False
    latency: bool = False
    kind: Literal["leaf"] = "leaf"


@dataclass(frozen=True, slots=True)
class AlertmanagerLeaf:
    """Yes while the fleet's source shows that the alert of this name fires for the fleet; a webhook's word is not enough."""

    alert: str
    kind: Literal["alertmanager"] = "alertmanager"


@dataclass(frozen=True, slots=True)
class BurnRateLeaf:
    """The error budget of an SLO burns faster than `above` times what it allows, over a window."""

    slo: str
    above: float
    over: timedelta
    kind: Literal["burn_rate"] = "burn_rate"


@dataclass(frozen=True, slots=True)
class All:
    """Kleene's and."""

    conditions: "tuple[Condition, ...]"
    kind: Literal["all"] = "all"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Kleene's or."""

    conditions: "tuple[Condition, ...]"
    kind: Literal["any"] = "any"


@dataclass(frozen=True, slots=True)
class Not:
    """Kleene's not."""

    condition: "Condition"
    kind: Literal["not"] = "not"


Condition: TypeAlias = Leaf | AlertmanagerLeaf | BurnRateLeaf | All | AnyOf | Not


def leaves(condition: Condition) -> tuple[Leaf, ...]:
    """Every signal leaf of a condition, in reading order."""
    return tuple(leaf for leaf in _ends(condition) if isinstance(leaf, Leaf))


def alerts_elsewhere(condition: Condition) -> tuple[AlertmanagerLeaf, ...]:
    """Every leaf on an alert that somebody else evaluates, in reading order."""
    return tuple(leaf for leaf in _ends(condition) if isinstance(leaf, AlertmanagerLeaf))


def burn_rates_of(condition: Condition) -> tuple[BurnRateLeaf, ...]:
    """Every leaf on the error budget of an SLO, in reading order."""
    return tuple(leaf for leaf in _ends(condition) if isinstance(leaf, BurnRateLeaf))


def _ends(condition: Condition) -> tuple[Leaf | AlertmanagerLeaf | BurnRateLeaf, ...]:
    """Every leaf of any kind, in reading order."""
    match condition:
        case Leaf() | AlertmanagerLeaf() | BurnRateLeaf():
            return (condition,)
        case All(conditions=parts) | AnyOf(conditions=parts):
            return tuple(leaf for part in parts for leaf in _ends(part))
        case Not(condition=part):
            return _ends(part)


def symptoms(condition: Condition) -> tuple[Leaf, ...]:
    """The leaves on what users feel: latency, waiting, errors."""
    return tuple(leaf for leaf in leaves(condition) if leaf.symptom)
