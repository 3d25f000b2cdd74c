"""Judging a condition: from the readings of one look to yes, no or unknown.

Laws 1 and 2 live here. Data with gaps may show that something is wrong, never that all is well, and a
quantile is judged on the counts of its buckets.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import isfinite

from autopilot.catalog.reported import entry_name
from autopilot.control.burning import counted
from autopilot.domain.alerts import Alert, AlertRule
from autopilot.domain.conditions import (
    AlertmanagerLeaf,
    All,
    AnyOf,
    BurnRateLeaf,
    Comparison,
    Condition,
    Leaf,
    Not,
    Per,
    Truth,
    all_of,
    any_of,
    leaves,
    symptoms,
)
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.quantiles import LEAST_CALM, LEAST_SLOW, ROUNDING, exceeds, full_size, share_above, surely_exceeds
from autopilot.domain.remediations import Gauged
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.slos import Slo, Tally, burns

CALM_WINDOWS = 10  # so many `over` of small calm windows are as good as one full one


@dataclass(frozen=True, slots=True)
class Look:
    """What one alert's condition is judged on.

    While the alert fires, a leaf's `clear` stands in for its threshold. `calm` is what the alert remembers;
    `replicas` names those that must report for a leaf per replica to say no; `slos` are those that leaves name.
    """

    readings: Readings
    now: LogicalTime
    firing: bool = False
    calm: tuple[tuple[int, LogicalTime], ...] = ()
    replicas: tuple[str, ...] = ()
    slos: tuple[Slo, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What came of it. `partial`: it rests on data with gaps. `calm` is for the alert to remember.

    `undecided`: unknown although no data was missing (too few samples, or a threshold between two edges).
    """

    truth: Truth
    partial: bool = False
    undecided: bool = False
    calm: tuple[tuple[int, LogicalTime], ...] = ()


def judge(condition: Condition, look: Look) -> Judgement:
    """Judge a condition. All its leaves are looked at, so that each one's calm is remembered.

    `below` is the mirror image of `above`. A *no* that rests on data with gaps is unknown.
    """
    since = dict(look.calm)
    judged = [_leaf(leaf, look, since=since.get(index)) for index, leaf in enumerate(leaves(condition))]
    whole = _fold(condition, iter([mark for mark, _ in judged]), look)
    truth = Truth.UNKNOWN if whole.partial and whole.truth is Truth.NO else whole.truth
    return Judgement(
        truth=truth,
        partial=whole.partial,
        undecided=truth is Truth.UNKNOWN and not (whole.blind or whole.partial),
        calm=tuple((index, calm) for index, (_, calm) in enumerate(judged) if calm is not None),
    )


def gauge_symptoms(condition: Condition, readings: Readings) -> Gauged:
    """Measure each symptom leaf, for two windows to be compared; `arrivals` is the caller's to fill in.

    The share is that of the observations certainly on the wrong side of the threshold, None for a plain number.
    Per replica the worst of those that are not idle counts, and all that report must be known. None where there is
    nothing to compare: unknown, idle, or a mean that falls as things get worse (`below`).
    """
    measured = [_gauge(leaf, readings) for leaf in symptoms(condition)]
    return Gauged(shares=tuple(share for share, _ in measured), means=tuple(mean for _, mean in measured))


def latency_truth(rules: Sequence[AlertRule], look: Look, *, alerts: Sequence[Alert] = ()) -> Truth:
    """Whether any latency leaf of these alerts says slow, with thresholds as written, whatever fires.

    Unknown when there is no such leaf: a load that nothing was measured at proves nothing. `onUnknown` is left out
    for the same reason. `alerts` lend what they remember of calm windows.
    """
    calm = {alert.name: dict(alert.calm) for alert in alerts}
    as_written = Look(look.readings, look.now, replicas=look.replicas)
    slow = [
        _leaf(_strict(leaf), as_written, since=calm.get(rule.name, {}).get(index))[0].truth
        for rule in rules
        for index, leaf in enumerate(leaves(rule.condition))
        if leaf.latency and leaf.comparison is Comparison.ABOVE
    ]
    return any_of(slow) if slow else Truth.UNKNOWN


def _strict(leaf: Leaf) -> Leaf:
    return leaf if leaf.on_unknown is None else replace(leaf, on_unknown=None)


class _Calm(Enum):
    """What one window does to the clock of calm windows."""

    STARTS = "starts"  # calm, and too small to say no: starts the clock, or lets it run
    KEEPS = "keeps"  # idle, or calm and large enough to say no by itself: lets it run
    BREAKS = "breaks"


@dataclass(frozen=True, slots=True)
class _Mark:
    """What one leaf, or one part of a condition, says. `blind`: unknown for want of data."""

    truth: Truth
    partial: bool = False
    blind: bool = False
    calm: _Calm = _Calm.BREAKS


_BLIND = _Mark(Truth.UNKNOWN, blind=True)


def _calm_since(marks: Sequence[_Mark], since: LogicalTime | None, now: LogicalTime) -> LogicalTime | None:
    effects = {mark.calm for mark in marks}
    if _Calm.BREAKS in effects:
        return None
    return now if since is None and _Calm.STARTS in effects else since


def _fold(condition: Condition, marks: Iterator[_Mark], look: Look) -> _Mark:
    """Put the marks of a condition's leaves together; they come in reading order."""
    match condition:
        case Leaf():
            return next(marks)
        case All(conditions=parts):
            return _joined([_fold(part, marks, look) for part in parts], decisive=Truth.NO)
        case AnyOf(conditions=parts):
            return _joined([_fold(part, marks, look) for part in parts], decisive=Truth.YES)
        case Not(condition=part):
            inner = _fold(part, marks, look)
            return replace(inner, truth=inner.truth.negated())
        case AlertmanagerLeaf() | BurnRateLeaf():
            return _other(condition, look)


def _other(leaf: AlertmanagerLeaf | BurnRateLeaf, look: Look) -> _Mark:
    match leaf:
        case AlertmanagerLeaf(alert=name):
            return _elsewhere(look.readings.of(entry_name(name)))
        case BurnRateLeaf():
            return _burning(leaf, look)


def _burning(leaf: BurnRateLeaf, look: Look) -> _Mark:
    slo = next((slo for slo in look.slos if slo.name == leaf.slo), None)
    found = counted(slo, look.readings, over=leaf.over) if slo is not None else None
    match found:
        case Tally() if slo is not None:
            truth = {True: Truth.YES, False: Truth.NO, None: Truth.UNKNOWN}[burns(found, slo.objective, above=leaf.above)]
            return _without_gaps(_Mark(truth, partial=found.partial))
        case Idle():
            return _Mark(Truth.NO)
        case _:
            return _BLIND


def _elsewhere(reading: Reading) -> _Mark:
    """An alert that somebody else evaluates: 1 fires, 0 does not."""
    if not isinstance(reading, Measured):
        return _BLIND
    return _without_gaps(_Mark(Truth.YES if reading.value > 0 else Truth.NO, partial=reading.partial))


def _joined(parts: Sequence[_Mark], *, decisive: Truth) -> _Mark:
    """Kleene's and (no decides) or or (yes decides). One part without gaps is enough where one part decides."""
    if not parts:
        return _BLIND
    if len(parts) == 1:
        return parts[0]
    truths = [part.truth for part in parts]
    truth = all_of(truths) if decisive is Truth.NO else any_of(truths)
    deciding = [part for part in parts if part.truth is truth]
    gaps = [part.partial for part in deciding]
    return _Mark(
        truth=truth,
        partial=all(gaps) if truth is decisive else any(gaps),
        blind=any(part.blind for part in deciding),
    )


def _leaf(leaf: Leaf, look: Look, *, since: LogicalTime | None) -> tuple[_Mark, LogicalTime | None]:
    """What a leaf says, and since when its windows are calm."""
    if look.firing and leaf.clear is not None:
        leaf = replace(leaf, threshold=leaf.clear)
    rested = since is not None and leaf.over is not None and look.now - since >= CALM_WINDOWS * leaf.over
    marks = [_without_gaps(_reading(leaf, reading, rested=rested)) for reading in _looked_at(leaf, look)]
    return _joined(marks, decisive=Truth.YES), _calm_since(marks, since, look.now)


def _looked_at(leaf: Leaf, look: Look) -> list[Reading]:
    match leaf.per:
        case Per.FLEET:
            return [look.readings.of(leaf.signal, over=leaf.over)]
        case Per.REPLICA:
            by_name = [look.readings.of(leaf.signal, over=leaf.over, replica=name) for name in look.replicas]
            return by_name or [Unknown(Gap.ABSENT, "no replica is there")]


def _without_gaps(mark: _Mark) -> _Mark:
    """Partial data never shows that all is well: not now, and not as part of a calm time."""
    if not mark.partial:
        return mark
    return replace(mark, truth=Truth.UNKNOWN if mark.truth is Truth.NO else mark.truth, calm=_Calm.BREAKS)


def _reading(leaf: Leaf, reading: Reading, *, rested: bool) -> _Mark:
    match reading:
        case Unknown():
            return _BLIND if leaf.on_unknown is None else _Mark(leaf.on_unknown, blind=leaf.on_unknown is Truth.UNKNOWN)
        case Idle():
            return _Mark(Truth.NO, calm=_Calm.KEEPS)
        case Measured():
            return _number(leaf, reading)
        case Distribution():
            return _window(leaf, reading, rested=rested)


def _number(leaf: Leaf, reading: Measured) -> _Mark:
    if leaf.quantile is not None or not isfinite(reading.value):
        return _BLIND
    over = reading.value > leaf.threshold if leaf.comparison is Comparison.ABOVE else reading.value < leaf.threshold
    return _Mark(Truth.YES if over else Truth.NO, partial=reading.partial)


@dataclass(frozen=True, slots=True)
class _Wrong:
    """How many of `count` observations lie on the side that a leaf objects to, and what share of them it allows."""

    count: float
    certainly: float
    possibly: float
    allowed: float


def _wrong_side(leaf: Leaf, histogram: Distribution, quantile: float) -> _Wrong:
    share = share_above(histogram, leaf.threshold)
    match leaf.comparison:
        case Comparison.ABOVE:
            return _Wrong(share.count, share.certainly, share.possibly, 1.0 - quantile)
        case Comparison.BELOW:
            return _Wrong(share.count, share.count - share.possibly, share.count - share.certainly, quantile)


def _window(leaf: Leaf, histogram: Distribution, *, rested: bool) -> _Mark:
    if leaf.quantile is None:
        return _BLIND
    wrong = _wrong_side(leaf, histogram, leaf.quantile)
    full = full_size(leaf.quantile) if leaf.min_samples is None else leaf.min_samples
    if wrong.count <= ROUNDING:  # not idle, yet nothing was finished: requests may be stuck
        mark = _Mark(Truth.UNKNOWN)
    elif wrong.count < full - ROUNDING:
        mark = _small(wrong, rested=rested)
    else:
        mark = _full(wrong)
    return replace(mark, partial=True) if histogram.partial else mark


def _full(wrong: _Wrong) -> _Mark:
    if exceeds(wrong.certainly, count=wrong.count, share=wrong.allowed):
        return _Mark(Truth.YES)
    if exceeds(wrong.possibly, count=wrong.count, share=wrong.allowed):
        return _Mark(Truth.UNKNOWN)
    return _Mark(Truth.NO, calm=_Calm.BREAKS if wrong.possibly > ROUNDING else _Calm.KEEPS)


def _small(wrong: _Wrong, *, rested: bool) -> _Mark:
    slow = wrong.certainly >= LEAST_SLOW - ROUNDING
    if slow and surely_exceeds(hits=wrong.certainly, count=wrong.count, share=wrong.allowed):
        return _Mark(Truth.YES)
    if wrong.possibly > ROUNDING:
        return _Mark(Truth.UNKNOWN)
    if wrong.count >= LEAST_CALM - ROUNDING:
        return _Mark(Truth.NO, calm=_Calm.KEEPS)
    return _Mark(Truth.NO if rested else Truth.UNKNOWN, calm=_Calm.STARTS)


def _gauge(leaf: Leaf, readings: Readings) -> tuple[float | None, float | None]:
    match leaf.per:
        case Per.FLEET:
            seen = [readings.of(leaf.signal, over=leaf.over)]
        case Per.REPLICA:
            seen = list(readings.by_replica(leaf.signal, over=leaf.over).values())
    busy = [reading for reading in seen if not isinstance(reading, Idle)]
    return _worst([_share(leaf, reading) for reading in busy]), _worst([_mean(leaf, reading) for reading in busy])


def _worst(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None


def _share(leaf: Leaf, reading: Reading) -> float | None:
    if not isinstance(reading, Distribution) or leaf.quantile is None or reading.count <= ROUNDING:
        return None
    wrong = _wrong_side(leaf, reading, leaf.quantile)
    return wrong.certainly / wrong.count


def _mean(leaf: Leaf, reading: Reading) -> float | None:
    if leaf.comparison is Comparison.BELOW:
        return None
    if isinstance(reading, Distribution):
        return reading.mean
    return reading.value if isinstance(reading, Measured) and isfinite(reading.value) else None
