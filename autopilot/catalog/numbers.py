"""From columns to what a signal reads, for the fleet and by replica."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, reduce
from math import isfinite, nan

from autopilot.catalog.answers import Column
from autopilot.catalog.histogram_series import Forms, histogram
from autopilot.catalog.idle import is_idle, quiet_replicas
from autopilot.catalog.judging import Judged, Look, Readout, joined, judge, silence
from autopilot.catalog.queries import Need
from autopilot.catalog.recipes import Bandwidth, Fold, Histogram, Recipe, Scalar, StalledReplicas, UpShare
from autopilot.catalog.signals import SIGNALS, SignalKind
from autopilot.domain.signals import Gap, Idle, Measured, Reading, Unknown

_COUNTS_REQUESTS = frozenset(
    {"request_rate", "error_ratio", "server_errors", "refused"}
)  # signals behind which a number of requests stands
_NOBODY: frozenset[str] = frozenset()
_IDLE = Idle()
_NO_SUM = Unknown(Gap.NON_FINITE, "the values of the replicas are too large to be added")


@dataclass(frozen=True)
class Line:
    """One signal to read: from which columns, and over which window. Shared by all fleets of a group.

    `by_replica`: somebody reads it replica by replica.
    """

    need: Need
    recipe: Recipe
    parts: tuple[Column, ...]
    idleness: tuple[Column, ...]
    window: timedelta | None
    by_replica: bool = True

    @cached_property
    def kind(self) -> SignalKind:
        """The signal's row in the catalogue."""
        return SIGNALS[self.need.signal]

    @cached_property
    def seconds(self) -> float:
        """What a growth is divided by to be a rate, 1 where the growth itself is the value."""
        return self.window.total_seconds() if self.window is not None and self.kind.unit == "per_second" else 1.0


def read(line: Line, look: Look) -> Readout:  # noqa: C901 - one line for each recipe
    """Read one signal of one fleet."""
    match line.recipe:
        case Scalar(fold=Fold.SHARE):
            return _share(line, look)
        case Scalar():
            return _number(line, line.recipe, look)
        case Histogram():
            return Readout(_histogram(line, look), {})
        case UpShare():
            return _up(look)
        case StalledReplicas():
            return _stalled(line, look)
        case Bandwidth():
            return _bandwidth(line, look)


def _number(line: Line, recipe: Scalar, look: Look) -> Readout:
    """Sums and means of one number per replica."""
    least = float("-inf") if recipe.signed else 0.0
    judged = reduce(joined, [judge(column, look, least=least) for column in line.parts])
    quiet = quiet_replicas(line.idleness, line.window, look)
    fleet = _whole(line, recipe, judged, look=look, quiet=quiet)
    if not line.by_replica:
        return Readout(fleet, {})
    seconds, doubtful = line.seconds, judged.doubtful
    replicas: dict[str, Reading] = {
        name: _IDLE if name in quiet else Measured(value / seconds, None, doubtful) for name, value in judged.values.items()
    }
    return Readout(fleet, _with_silent(replicas, line.parts, look))


def _whole(line: Line, recipe: Scalar, judged: Judged, *, look: Look, quiet: frozenset[str]) -> Reading:
    if judged.gap is not None:
        return judged.gap
    if not judged.partial and line.idleness and is_idle(quiet, look):
        return _IDLE
    values = _ever(line.parts[0], look) if recipe.fold is Fold.EVER else judged.values
    total = sum(values.values())
    if not isfinite(total):
        return _NO_SUM
    value = total / len(values) if recipe.fold is Fold.MEAN else total
    count = total if line.need.signal in _COUNTS_REQUESTS else None
    return Measured(value / line.seconds, count=count, partial=judged.partial)


def _ever(column: Column, look: Look) -> Mapping[str, float]:
    """What everybody counted who was there in the window."""
    return {name: value for name, value in column.of(look.identity).items() if isfinite(value) and value >= 0}


def _share(line: Line, look: Look) -> Readout:
    """The first column's part of the second. Of nothing there is no share: idle or unknown, never 0."""
    part, whole = (judge(column, look) for column in line.parts)
    both = [name for name in whole.values if name in part.values]
    quiet = quiet_replicas(line.idleness, line.window, look)
    doubtful = part.doubtful or whole.doubtful
    replicas: dict[str, Reading] = {
        name: _IDLE if name in quiet else _ratio(line, part.values[name], whole.values[name], partial=doubtful) for name in both
    }
    partial = part.partial or whole.partial or len(both) != len(whole.values)
    fleet: Reading = (
        part.gap
        or whole.gap
        or _ratio(line, sum(part.values[name] for name in both), sum(whole.values[name] for name in both), partial=partial)
    )
    if part.gap is None and whole.gap is None and not partial and is_idle(quiet, look):
        fleet = _IDLE
    return Readout(fleet, _with_silent(replicas, line.parts, look))


def _ratio(line: Line, part: float, whole: float, *, partial: bool) -> Reading:
    if not isfinite(whole):
        return _NO_SUM
    if whole <= 0:
        return Unknown(Gap.ABSENT, f"nothing to take {line.need.signal} of in this window")
    return Measured(min(1.0, part / whole), count=whole if line.need.signal in _COUNTS_REQUESTS else None, partial=partial)


def _with_silent(replicas: dict[str, Reading], parts: tuple[Column, ...], look: Look) -> Mapping[str, Reading]:
    """With those that have no value, and why: the reason of the first column that they lack."""
    if len(replicas) == len(look.coverage.up):
        return replicas
    silent = [name for name in look.coverage.up if name not in replicas]
    return replicas | {name: silence(name, _lacking(name, parts, look), look) for name in silent}


def _lacking(name: str, parts: tuple[Column, ...], look: Look) -> Column:
    lacking = (column for column in parts if column.gap is not None or name not in column.of(look.identity))
    return next(lacking, parts[0])


def _histogram(line: Line, look: Look) -> Reading:
    """The fleet's histogram; who exports its sum exports its buckets."""
    buckets, sums, edges = line.parts
    if (gap := look.coverage.blind or buckets.gap) is not None:
        return gap
    exports = judge(sums, look)
    if exports.gap is not None and sums.gap is None:
        return exports.gap
    rows, native = buckets.of(look.identity), buckets.natives.get(look.identity)
    if not rows and native is None:
        return Unknown(Gap.ABSENT, f"{line.kind.metrics[0]} has no buckets")
    stalled = look.stalled if line.kind.latency else _NOBODY  # who stands still gives no latency, neither good nor bad
    if stalled and 2 * len(stalled) >= len(look.coverage.reporting):
        return Unknown(Gap.STALLED, f"no engine step on {', '.join(sorted(stalled)[:5])}")
    doubtful = any(column.warned or column.gap is not None for column in line.parts)
    partial = exports.partial or doubtful or stalled is None or bool(stalled)
    if not partial and is_idle(quiet_replicas(line.idleness, line.window, look), look):
        return _IDLE
    return histogram(Forms(rows, edges.of(look.identity), native), total=_total(sums, look), partial=partial)


def _total(sums: Column, look: Look) -> float | None:
    """The sum of the observed values: of every replica that is in the buckets, gone ones too."""
    rows = sums.of(look.identity)
    total = sum(rows.values()) if rows and sums.gap is None else nan
    return total if isfinite(total) else None


def _up(look: Look) -> Readout:
    """Each target's scrape, and the share that works: the one signal that a lost quorum does not hide."""
    up = look.coverage.up
    known = [reading for reading in up.values() if isinstance(reading, Measured)]
    if not known:
        return Readout(next(iter(up.values()), Unknown(Gap.ABSENT, "no replica is ready")), dict(up))
    partial = len(known) < len(up) or look.coverage.shaky
    return Readout(Measured(sum(reading.value for reading in known) / len(up), partial=partial), dict(up))


def _stalled(line: Line, look: Look) -> Readout:
    """How many replicas stand still. No row proves nothing: the steps must have been seen."""
    standing, steps = line.parts
    judged = judge(steps, look)
    gap = look.coverage.blind or standing.gap
    if gap is not None:
        return Readout(gap, dict.fromkeys(look.coverage.up, gap))
    stalled = standing.of(look.identity).keys() & judged.values.keys()
    stands, moves = (Measured(value, partial=judged.doubtful or standing.warned) for value in (1.0, 0.0))
    replicas: dict[str, Reading] = {name: stands if name in stalled else moves for name in judged.values}
    fleet: Reading = judged.gap or Measured(float(len(stalled)), partial=judged.partial or standing.warned)
    told = line.by_replica or stalled  # who stands still is named, whoever asks
    return Readout(fleet, _with_silent(replicas, (steps,), look) if told else {})


def _bandwidth(line: Line, look: Look) -> Readout:
    """Memory traffic against the peak. A counter that stands at 0 in a busy replica is not switched on, not 0."""
    peak = look.peak_bandwidth
    if peak is None or peak <= 0:
        return Readout(_NO_PEAK, {})  # of the fleet, and of no replica more than of another
    (traffic,) = line.parts
    judged = judge(traffic, look)
    quiet = quiet_replicas(line.idleness, line.window, look)
    scale = (line.window.total_seconds() if line.window is not None else 1.0) * peak
    sound = {name: value for name, value in judged.values.items() if value > 0 or name in quiet}
    replicas: dict[str, Reading] = {
        name: _IDLE if name in quiet else Measured(value / scale, partial=judged.doubtful) for name, value in sound.items()
    }
    flat: dict[str, Reading] = {name: _FLAT for name in judged.values if name not in sound}
    fleet = _mean_traffic(judged, sound, scale=scale, idle=is_idle(quiet, look))
    return Readout(fleet, _with_silent(replicas | flat, line.parts, look))


_NO_PEAK = Unknown(Gap.NOT_SUPPORTED, "the peak bandwidth of this card is not known")
_FLAT = Unknown(Gap.MISSHAPEN, "the byte counters stand still while requests run: start the engine with --enable-mfu-metrics")


def _mean_traffic(judged: Judged, sound: Mapping[str, float], *, scale: float, idle: bool) -> Reading:
    if judged.gap is not None:
        return judged.gap
    if idle and not judged.partial:
        return _IDLE
    if not any(sound.values()):
        return _FLAT
    mean = sum(sound.values()) / len(sound) / scale
    if not isfinite(mean):
        return _NO_SUM
    return Measured(mean, partial=judged.partial or len(sound) < len(judged.values))
