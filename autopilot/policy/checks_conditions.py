"""What is wrong with conditions: signals, thresholds, windows, quantiles."""

from collections.abc import Iterator, Mapping

from autopilot.catalog.signals import SignalKind
from autopilot.domain.conditions import Comparison
from autopilot.policy.problems import Complaint, Path, did_you_mean, quoted
from autopilot.policy.schema_conditions import BurnRateShape, Shapes, SignalLeaf, Threshold, parts
from autopilot.policy.units import parse_threshold

Signals = Mapping[str, SignalKind]


def condition_complaints(condition: Shapes, path: Path, *, signals: Signals, slos: tuple[str, ...]) -> Iterator[Complaint]:
    """Everything that is wrong with a condition at this path."""
    for here, part in parts(condition, path):
        match part:
            case SignalLeaf():
                yield from _leaf(part, here, signals)
            case BurnRateShape(slo=slo) if slo not in slos:
                yield Complaint((*here, "slo"), f"no SLO is called {quoted(slo)}, {did_you_mean(slo, slos)}", ("spec", "slos"))
            case _:
                pass


def burn_cautions(condition: Shapes, path: Path, objectives: Mapping[str, float]) -> Iterator[Complaint]:
    """Burn rates that are never reached: all requests bad is the fastest that a budget can burn."""
    for here, part in parts(condition, path):
        if isinstance(part, BurnRateShape) and part.slo in objectives:
            most = 1.0 / (1.0 - objectives[part.slo])
            if part.burn_rate_above >= most - 1e-9:
                said = f"never reached: with every request bad the budget burns {most:g} times as fast as allowed, write less"
                yield Complaint((*here, "burnRateAbove"), said)


def _leaf(leaf: SignalLeaf, path: Path, signals: Signals) -> Iterator[Complaint]:
    kind = signals.get(leaf.signal)
    if (leaf.above is None) == (leaf.below is None):
        yield Complaint(path, "write either above: or below:, and not both")
    if kind is None:
        yield Complaint(
            (*path, "signal"), f"no signal is called {quoted(leaf.signal)}, {did_you_mean(leaf.signal, signals)}", ("spec", "signals")
        )
        return
    yield from _thresholds(leaf, path, kind)
    yield from _window(leaf, path, kind)
    yield from _quantile(leaf, path, kind)


def _thresholds(leaf: SignalLeaf, path: Path, kind: SignalKind) -> Iterator[Complaint]:
    named = {"above": leaf.above, "below": leaf.below, "clear": leaf.clear}
    found = {name: _threshold(value, (*path, name), kind) for name, value in named.items() if value is not None}
    yield from (value for value in found.values() if isinstance(value, Complaint))
    clear, limit = found.get("clear"), found.get("above", found.get("below"))
    if isinstance(clear, float) and isinstance(limit, float) and (clear > limit if leaf.above is not None else clear < limit):
        side = "at or under above" if leaf.above is not None else "at or over below"
        yield Complaint((*path, "clear"), f"{quoted(leaf.clear)} would never end it, write a level {side}", path)


def _threshold(value: Threshold, path: Path, kind: SignalKind) -> float | Complaint:
    try:
        return parse_threshold(value, kind.unit)
    except ValueError as error:
        return Complaint(path, str(error))


def _window(leaf: SignalLeaf, path: Path, kind: SignalKind) -> Iterator[Complaint]:
    if leaf.over is None and kind.form != "gauge":
        yield Complaint(path, f"over is required for {kind.name}, a {kind.form}; write the window, such as over: 1m")


def _quantile(leaf: SignalLeaf, path: Path, kind: SignalKind) -> Iterator[Complaint]:
    if kind.form == "histogram":
        if leaf.quantile is None:
            yield Complaint(path, f"quantile is required for {kind.name}, a histogram; write it as quantile: 99%")
        return
    if leaf.quantile is not None:
        yield Complaint((*path, "quantile"), f"{kind.name} is a {kind.form} and has no quantiles, remove it")
    if leaf.min_samples is not None:
        yield Complaint((*path, "minSamples"), f"{kind.name} is a {kind.form} and is not judged by samples, remove it")


def hurts(leaf: SignalLeaf, kind: SignalKind) -> bool:
    """Whether the leaf says yes on the side on which the signal is worse."""
    side = Comparison.ABOVE if leaf.above is not None else Comparison.BELOW
    return side is (Comparison.ABOVE if kind.worse == "higher" else Comparison.BELOW)
