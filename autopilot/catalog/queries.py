"""From what fleets need to the fewest queries: one per source series for all fleets that look alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from string import Template

from autopilot.catalog import series
from autopilot.catalog.recipes import RECIPES, Bandwidth, Fold, Histogram, Scalar, StalledReplicas, UpShare
from autopilot.catalog.selectors import checked_label, matcher
from autopilot.catalog.series import Series
from autopilot.catalog.signals import FINISHED, SIGNALS
from autopilot.domain.workloads import FleetRef

MINUTE = timedelta(minutes=1)
LEAST_SCRAPES = 4  # a window of fewer can be empty: Prometheus 3 leaves out its left edge
LONG = timedelta(hours=1)  # a longer window changes little in the time that its answer is kept
KEEP_LONG = timedelta(minutes=5)
SOON = timedelta(minutes=30)  # from here on an answer is kept for a part of its window that changes it by 2 % at most
PART_KEPT = 60
STALE_AFTER = 3  # scrape intervals: a sample that is older is no sample


@dataclass(frozen=True, slots=True)
class Need:
    """A signal somebody wants to read, over a window; `over` None is a gauge's newest value.

    Raises ValueError for a signal that is not in the catalogue, and for a histogram, rate or ratio without a window.
    """

    signal: str
    over: timedelta | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be read."""
        if self.signal not in SIGNALS:
            message = f'there is no signal "{self.signal}"'
            raise ValueError(message)
        if self.over is None and windowed(self.signal):
            message = f"{self.signal} is read over a window"
            raise ValueError(message)


def windowed(signal: str) -> bool:
    """Whether a signal exists over a window only."""
    return SIGNALS[signal].form != "gauge"


# What every fleet is read for, whatever its policy says: proven load, idleness, coverage.
BASE = frozenset(
    {Need("up"), Need("stalled_replicas"), Need("ttft", MINUTE), Need("request_rate", MINUTE)}
    | {Need("engine_steps", MINUTE), Need("in_flight_growth", MINUTE)}
    | {Need(signal, over) for signal in ("running", "waiting", "in_flight", "waiting_per_replica") for over in (None, MINUTE)}
)


@dataclass(frozen=True, slots=True)
class Target:
    """A fleet as the catalogue sees it.

    `identity` are the label pairs that every series of the fleet carries, `peak_bandwidth` is that of one GPU in
    bytes per second, None where the card is not known. `needs` come on top of `BASE`; `by_replica` are those that
    somebody looks at replica by replica.
    Raises ValueError for labels that Prometheus would not take.
    """

    fleet: FleetRef
    source: str
    identity: tuple[tuple[str, str], ...]
    replica_label: str
    scrape_interval: timedelta
    needs: frozenset[Need] = frozenset()
    peak_bandwidth: float | None = None
    by_replica: frozenset[Need] = frozenset()

    def __post_init__(self) -> None:
        """Refuse a fleet that would match everything, or a label that could not be one."""
        names = [checked_label(name) for name, _ in self.identity]
        if not names or len({*names, checked_label(self.replica_label)}) != len(names) + 1:
            message = f"{self.fleet}: a fleet is told apart by at least one label, each named once, none of them the replica's"
            raise ValueError(message)

    @property
    def wanted(self) -> frozenset[Need]:
        """Everything that is read for this fleet."""
        return BASE | self.needs


@dataclass(frozen=True, slots=True)
class Query:
    """One question to one source. `labels` are those of the fleets, then the one that tells a fleet's rows apart."""

    source: str
    promql: str
    labels: tuple[str, ...] = field(compare=False)
    series: Series = field(compare=False)

    @property
    def keep(self) -> timedelta:
        """For how long its answer may be used again instead of asking."""
        return max(self.series.keep, _kept(self.series.over))


@dataclass(frozen=True, slots=True)
class Group:
    """Fleets that can share their queries: same source, same labels, same scrape interval."""

    source: str
    names: tuple[str, ...]
    replica_label: str
    scrape_interval: timedelta
    targets: tuple[Target, ...] = field(compare=False, default=())

    def window(self, over: timedelta) -> timedelta:
        """The window that is really asked for: at least four scrapes."""
        return max(over, LEAST_SCRAPES * self.scrape_interval)

    def queries(self) -> Mapping[Series, Query]:
        """Everything that has to be asked for these fleets."""
        match = ", ".join(matcher(name, (dict(target.identity)[name] for target in self.targets)) for name in self.names)
        return {wanted: self._query(wanted, match) for wanted in self._series()}

    def _series(self) -> Iterable[Series]:
        """Each series once, in a stable order."""
        needs = set().union(*(target.wanted for target in self.targets))
        ordered = sorted(needs, key=lambda need: (need.signal, need.over or timedelta(0)))
        # a peak that nobody knows needs no bytes to divide
        known = any(target.peak_bandwidth for target in self.targets)
        asked = [need for need in ordered if known or need.signal != "bandwidth_utilization"]
        found = [one for need in asked for one in (*needed(need, self), *idleness(need, self))]
        return dict.fromkeys([series.UP, series.OLD, *found])

    def _query(self, wanted: Series, match: str) -> Query:
        ids = ", ".join(self.names)
        text = Template(wanted.text).substitute(
            match=match,
            ids=ids,
            by=f"{ids}, {self.replica_label}",
            over=_duration(wanted.over),
            enough=self._enough(wanted.over),
            stale=f"{(STALE_AFTER * self.scrape_interval).total_seconds():g}",
        )
        row = "le" if wanted.split is series.Split.EDGE else self.replica_label
        return Query(self.source, text, (*self.names, row), wanted)

    def _enough(self, over: timedelta | None) -> int:
        """How many samples cover a window: one in four may be lost."""
        return max(1, ceil(0.75 * (over // self.scrape_interval))) if over is not None else 1


def plan(targets: Sequence[Target]) -> tuple[Query, ...]:
    """The queries that answer what these fleets need, in the order to ask them.

    Whole histograms first: they take a server longest. Last what may be kept: it can best wait for the next tick.
    """
    found = dict.fromkeys(query for group in groups(targets) for query in group.queries().values())
    return tuple(sorted(found, key=lambda query: (query.keep, query.series.split is not series.Split.EDGE)))


def groups(targets: Iterable[Target]) -> tuple[Group, ...]:
    """The fleets, sorted into those that can share queries."""
    found: dict[tuple[str, tuple[str, ...], str, timedelta], list[Target]] = {}
    for target in targets:
        names = tuple(sorted(name for name, _ in target.identity))
        found.setdefault((target.source, names, target.replica_label, target.scrape_interval), []).append(target)
    return tuple(Group(*key, targets=tuple(members)) for key, members in found.items())


def needed(need: Need, group: Group) -> tuple[Series, ...]:
    """The series a signal is made of, in the order its reader takes them."""
    over = group.window(need.over) if need.over is not None else None
    match RECIPES[need.signal]:
        case Scalar(parts=parts):
            return parts(over)
        case Histogram(metric=metric) if over is not None:
            return series.buckets(metric, over), series.sums(metric, over), series.uneven_edges(metric)
        case Bandwidth() if over is not None:
            return (series.memory_traffic(over),)
        case StalledReplicas():
            return series.stalled(group.scrape_interval), series.steps(group.window(MINUTE))
        case UpShare() | Histogram() | Bandwidth():
            return ()


def idleness(need: Need, group: Group) -> tuple[Series, ...]:
    """The series that tell who did nothing over the window of a need; gauges and long windows ask no such thing."""
    if need.over is None or not windowed(need.signal) or need.over > LONG or _ever(need.signal):
        return ()
    over = group.window(need.over)
    return series.quiet(over), series.increase(FINISHED, over)


def _kept(over: timedelta | None) -> timedelta:
    if over is None or over < SOON:
        return timedelta(0)
    return KEEP_LONG if over > LONG else over / PART_KEPT


def _ever(signal: str) -> bool:
    """Whether a signal counts what was turned away: idle engines say nothing about that."""
    recipe = RECIPES[signal]
    return isinstance(recipe, Scalar) and recipe.fold is Fold.EVER


def _duration(over: timedelta | None) -> str:
    """A PromQL duration; empty where there is no window to write."""
    if over is None:
        return ""
    milliseconds = over // timedelta(milliseconds=1)
    return f"{milliseconds // 1000}s" if milliseconds % 1000 == 0 else f"{milliseconds}ms"
