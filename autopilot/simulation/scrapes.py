"""What Prometheus would have of a simulated fleet: samples every so often, and the readings derived from them."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from autopilot.domain.signals import Distribution, Entry, Gap, Idle, Measured, Reading, Readings, Unknown
from autopilot.simulation.engine import EDGES, SimulatedReplica

MINUTE = timedelta(minutes=1)
WINDOW = MINUTE.total_seconds()
QUORUM = 0.8  # below this share of replicas that tell, the fleet is unknown
STALE_SCRAPES = 3
NEWEST = ("running", "waiting", "in_flight", "waiting_per_replica", "stalled_replicas")
MINUTES = (*NEWEST[:-1], "request_rate", "in_flight_growth", "ttft")


class Scraped(NamedTuple):
    """One scrape of one replica."""

    at: float
    running: int
    waiting: int
    finished: int
    steps: float
    first_tokens: int
    ttft_seconds: float
    buckets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """The samples of one replica's last minute, and how much its counters grew in them."""

    samples: tuple[Scraped, ...]

    @property
    def newest(self) -> Scraped:
        """The last sample."""
        return self.samples[-1]

    @property
    def span(self) -> float:
        """Seconds from the first sample to the last."""
        return self.samples[-1].at - self.samples[0].at

    def mean(self, field: str) -> float:
        """The mean of a gauge."""
        return float(sum(getattr(sample, field) for sample in self.samples)) / len(self.samples)

    def rate(self, field: str) -> float | None:
        """Growth per second, None with a single sample."""
        if self.span <= 0:
            return None
        return float(getattr(self.samples[-1], field) - getattr(self.samples[0], field)) / self.span


class Prometheus:
    """Scrapes replicas and answers with readings. Replicas named in `silent` are not scraped."""

    def __init__(self, interval: float) -> None:
        """Scrape every `interval` seconds."""
        self.interval = interval
        self._series: dict[str, deque[Scraped]] = {}
        self._known: tuple[tuple[str, ...], Readings] | None = None  # of these replicas, as of the last scrape

    def scrape(self, replicas: Iterable[SimulatedReplica], at: float, silent: frozenset[str]) -> None:
        """Take one sample of each replica; series of replicas that are gone are dropped."""
        names = set()
        for replica in replicas:
            names.add(replica.name)
            if replica.name not in silent:
                self._append(replica, at)
        self._series = {name: samples for name, samples in self._series.items() if name in names}
        self._known = None

    def readings(self, replicas: Iterable[SimulatedReplica], at: float) -> Readings:
        """Everything that is known of a fleet at a moment; between two scrapes nothing new is."""
        live = list(replicas)
        names = tuple(replica.name for replica in live)
        if self._known is None or self._known[0] != names:
            self._known = (names, self._derive(live, at))
        return self._known[1]

    def forget(self) -> None:
        """Time has passed without a scrape: what is known may be stale."""
        self._known = None

    def _derive(self, live: list[SimulatedReplica], at: float) -> Readings:
        windows = {replica.name: window for replica in live if (window := self._window(replica.name, at)) is not None}
        due = [replica for replica in live if at - replica.serving_from > STALE_SCRAPES * self.interval]
        told = sum(replica.name in windows for replica in due)
        if not windows or (due and told < QUORUM * len(due)):
            return unknown(Gap.ABSENT if not live else Gap.BELOW_QUORUM)
        entries = [entry for name, window in windows.items() for entry in _of_replica(name, window)]
        entries.extend(Entry("up", None, replica.name, Measured(0.0)) for replica in due if replica.name not in windows)
        entries.extend(_of_fleet(list(windows.values()), partial=told < len(due)))
        return Readings(tuple(entries))

    def _append(self, replica: SimulatedReplica, at: float) -> None:
        replica.settle(at)
        counters = replica.counters
        series = self._series.setdefault(replica.name, deque(maxlen=int(WINDOW / self.interval) + 1))
        if series and series[-1].finished > counters.finished:
            series.clear()  # it crashed: its counters began again
        growth = (counters.finished, counters.steps, counters.first_tokens, counters.ttft_seconds, tuple(counters.buckets))
        series.append(Scraped(at, replica.running, replica.waiting, *growth))

    def _window(self, name: str, at: float) -> Window | None:
        samples = tuple(sample for sample in self._series.get(name, ()) if sample.at > at - WINDOW)
        fresh = bool(samples) and at - samples[-1].at <= STALE_SCRAPES * self.interval
        return Window(samples) if fresh else None


def unknown(gap: Gap) -> Readings:
    """A fleet of which nothing is known."""
    newest = [Entry(name, None, None, Unknown(gap)) for name in NEWEST]
    return Readings((*newest, *(Entry(name, MINUTE, None, Unknown(gap)) for name in MINUTES)))


def _of_replica(name: str, window: Window) -> Iterator[Entry]:
    yield Entry("up", None, name, Measured(1.0))
    for gauge in ("running", "waiting"):
        yield Entry(gauge, None, name, Measured(float(getattr(window.newest, gauge))))
        yield Entry(gauge, MINUTE, name, Measured(window.mean(gauge)))
    yield Entry("request_rate", MINUTE, name, _rate(window.rate("finished")))
    steps = window.rate("steps")
    yield Entry("engine_steps", MINUTE, name, _rate(None if steps is None else steps * window.span))


def _of_fleet(windows: list[Window], *, partial: bool) -> Iterator[Entry]:
    now = {gauge: float(sum(getattr(window.newest, gauge) for window in windows)) for gauge in ("running", "waiting")}
    mean = {gauge: sum(window.mean(gauge) for window in windows) for gauge in ("running", "waiting")}
    for over, of in ((None, now), (MINUTE, mean)):
        in_flight = of["running"] + of["waiting"]
        yield Entry("running", over, None, Measured(of["running"], partial=partial))
        yield Entry("waiting", over, None, Measured(of["waiting"], partial=partial))
        yield Entry("in_flight", over, None, Measured(in_flight, partial=partial))
        yield Entry("waiting_per_replica", over, None, Measured(of["waiting"] / len(windows), partial=partial))
    yield Entry("stalled_replicas", None, None, Measured(0.0, partial=partial))
    yield from _of_growth(windows, idle=mean["running"] + mean["waiting"] == 0, partial=partial)


def _of_growth(windows: list[Window], *, idle: bool, partial: bool) -> Iterator[Entry]:
    grown = [window for window in windows if window.span > 0]
    finished = _sum(window.rate("finished") for window in grown)
    growth = _sum(_growth(window) for window in grown)
    if idle and grown and not finished and not partial:
        yield Entry("request_rate", MINUTE, None, Idle())
        yield Entry("in_flight_growth", MINUTE, None, Measured(0.0))
        yield Entry("ttft", MINUTE, None, Idle())
        return
    yield Entry("request_rate", MINUTE, None, _rate(finished if grown else None, partial=partial))
    yield Entry("in_flight_growth", MINUTE, None, _rate(growth if grown else None, partial=partial))
    yield Entry("ttft", MINUTE, None, _ttft(grown, partial=partial))


def _growth(window: Window) -> float:
    first, last = window.samples[0], window.newest
    return (last.running + last.waiting - first.running - first.waiting) / window.span


def _ttft(windows: list[Window], *, partial: bool) -> Reading:
    if not windows:
        return Unknown(Gap.ABSENT)
    grown = [[b - a for a, b in zip(w.samples[0].buckets, w.newest.buckets, strict=True)] for w in windows]
    # increase() extrapolates from the first and the last sample to the edges of the window.
    missed = WINDOW / max(window.span for window in windows)
    counts, below = [], 0
    for bucket in map(sum, zip(*grown, strict=True)):
        below += bucket
        counts.append(below * missed)
    total = missed * sum(window.newest.ttft_seconds - window.samples[0].ttft_seconds for window in windows)
    return Distribution(EDGES, tuple(counts), total=total, partial=partial)


def _rate(value: float | None, *, partial: bool = False) -> Reading:
    return Unknown(Gap.ABSENT) if value is None else Measured(value, partial=partial)


def _sum(values: Iterable[float | None]) -> float:
    return sum(value for value in values if value is not None)
