"""Thresholds, windows, traffic and time: whether the policy's alerts can be decided on what is really there, and how soon."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import inf
from statistics import median

from autopilot.actions import Scale
from autopilot.catalog.queries import LEAST_SCRAPES
from autopilot.catalog.signals import SIGNALS
from autopilot.doctor.doors import Question, Subject
from autopilot.doctor.findings import Check, Finding, fail, ok, warn
from autopilot.doctor.signals import Heard
from autopilot.doctor.sources import selector
from autopilot.domain.alerts import AlertRule
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Condition, Leaf, Not, leaves
from autopilot.domain.quantiles import full_size
from autopilot.domain.signals import Distribution
from autopilot.domain.workloads import Workload
from autopilot.policy.values import Remedy

_COUNTED = 20  # scrapes to count: one more or less is 5 %
_AS_CONFIGURED = 0.25  # of the configured interval: what counting whole scrapes and a restart may hide
_COUNTING = 0.25  # of a scrape in four: how exactly the interval was counted
_EXACT = 1e-9
HISTORY = timedelta(hours=1)


def ask_interval(question: Question, subject: Subject) -> timedelta | None:
    """How often the fleet's targets are really scraped; None when they are too young, or none is there. Raises as `rows`."""
    window = _COUNTED * subject.server.scrape_interval.total_seconds()
    counts = [sample.value for sample in question.rows(f"count_over_time({selector(subject.fleet.identity, 'up')}[{window:.0f}s])").samples]
    if not counts or max(counts) < 2:
        return None
    # the older half: a target that has just come has few scrapes because it is young
    return timedelta(seconds=window / median(sorted(counts)[len(counts) // 2 :]))


def judge_interval(subject: Subject, actual: timedelta | None) -> Finding:
    """The interval that is really there against the configured one."""
    configured = subject.server.scrape_interval
    if actual is None:
        said = (
            f"it could not be counted in {_COUNTED} x {_spelt(configured)}: the targets are young, or scraped less than twice in that time"
        )
        return warn(Check.SCRAPE_INTERVAL, subject.about, said, "ask again later, or correct scrapeInterval of the source")
    off = actual / configured - 1
    if abs(off) <= _AS_CONFIGURED:
        return ok(Check.SCRAPE_INTERVAL, subject.about, f"scraped every {_spelt(actual)}, as configured")
    said = f"scraped every {_spelt(actual)}, and scrapeInterval of source {subject.server.name} says {_spelt(configured)}"
    todo = f"write scrapeInterval: {_spelt(actual)} in the daemon's file, or scrape every {_spelt(configured)}"
    return (fail if off > 0 else warn)(Check.SCRAPE_INTERVAL, subject.about, said, todo)


def judge_windows(subject: Subject, actual: timedelta | None) -> Iterator[Finding]:
    """Windows against the interval that is really there."""
    interval = actual if actual is not None else subject.server.scrape_interval
    for rule, leaf in _leaves(subject):
        if leaf.over is None:
            continue
        scrapes = leaf.over / interval
        about = f"{subject.about} {rule.name}"
        said = f"{leaf.signal} over {_spelt(leaf.over)} holds {scrapes:.0f} scrapes"
        if scrapes < LEAST_SCRAPES - _COUNTING:
            todo = f"write over: {_spelt(LEAST_SCRAPES * interval)} or more, or scrape more often"
            yield fail(Check.WINDOW_HOLDS_SCRAPES, about, f"{said}, under the four that a rate needs", todo)
        else:
            yield ok(Check.WINDOW_HOLDS_SCRAPES, about, said)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a histogram is judged against, in the signal's own unit, and who wrote it."""

    about: str
    signal: str
    value: float


def thresholds(subject: Subject) -> tuple[Threshold, ...]:
    """Of the alerts' quantiles and of the SLOs."""
    found = [
        Threshold(f"{subject.about} {rule.name}", leaf.signal, value)
        for rule, leaf in _leaves(subject)
        if leaf.quantile is not None
        for value in (leaf.threshold, leaf.clear)
        if value is not None
    ]
    slos = subject.policy.slos if subject.policy is not None else ()
    return (*found, *(Threshold(f"{subject.about} slo {slo.name}", slo.signal, slo.threshold) for slo in slos))


def ask_edges(question: Question, subject: Subject, heard: Heard, signal: str) -> tuple[float, ...]:
    """The live edges of a signal's histogram, the last one +Inf; none where they cannot be seen. Raises as `rows`."""
    for entry in heard.readings.entries:
        if entry.signal == signal and isinstance(entry.reading, Distribution):
            return entry.reading.edges
    kind = SIGNALS.get(signal)
    if kind is None:
        return ()
    found: set[float] = set()
    for metric in kind.metrics:
        rows = question.rows(f"group by (le) ({selector(subject.fleet.identity, f'{metric}_bucket')})").samples
        found |= {float(row.labels["le"]) for row in rows if "le" in row.labels}
    return tuple(sorted(found))


def judge_edge(threshold: Threshold, edges: Sequence[float]) -> Finding:
    """A threshold that no edge meets leaves every quantile between its two edges undecided."""
    unit = " s" if (kind := SIGNALS.get(threshold.signal)) is not None and kind.unit == "seconds" else ""
    written = f"{threshold.signal} at {threshold.value:g}{unit}"
    finite = [edge for edge in edges if edge != inf]
    if not finite:
        todo = "ask again under load: without a sample no edge of the histogram shows"
        return warn(Check.THRESHOLD_ON_EDGE, threshold.about, f"{written}: the histogram shows no edges", todo)
    if any(abs(edge - threshold.value) <= _EXACT * max(1.0, edge) for edge in finite):
        return ok(Check.THRESHOLD_ON_EDGE, threshold.about, f"{written} is an edge of the histogram")
    index = bisect_left(finite, threshold.value)
    if index == len(finite):
        said = f"{written} lies above the highest edge, {finite[-1]:g}{unit}: nothing is ever certainly above it"
        todo = f"write {finite[-1]:g}{unit} or less, or start the engines with --custom-histogram-buckets that have the edge"
        return fail(Check.THRESHOLD_ON_EDGE, threshold.about, said, todo)
    low, high = finite[index - 1] if index else 0.0, finite[index]
    said = f"{written} lies between the edges {low:g} and {high:g}{unit}: a quantile in between stays undecided"
    choice = f"{low:g}{unit} or {high:g}{unit}" if index else f"{high:g}{unit}"
    todo = f"write {choice}, or start the engines with --custom-histogram-buckets that have the edge"
    return fail(Check.THRESHOLD_ON_EDGE, threshold.about, said, todo)


def judge_traffic(subject: Subject, heard: Heard, per_second: float | None) -> Iterator[Finding]:
    """Whether a quantile's window holds enough requests; `per_second` is the rate of the last hour."""
    for rule, leaf in _leaves(subject):
        if leaf.quantile is None or leaf.over is None:
            continue
        full = leaf.min_samples or full_size(leaf.quantile)
        reading = heard.readings.of(leaf.signal, over=leaf.over)
        now = reading.count if isinstance(reading, Distribution) else None
        yield _traffic(f"{subject.about} {rule.name}", leaf, full, now=now, per_second=per_second)


def _traffic(about: str, leaf: Leaf, full: int, *, now: float | None, per_second: float | None) -> Finding:
    over = leaf.over.total_seconds() if leaf.over is not None else 0.0
    seen = now if now is not None else 0.0
    said = f"{leaf.signal} over {over:g} s: {seen:.0f} samples now, {full} make the {100 * (leaf.quantile or 0):g} % certain"
    if seen >= full:
        return ok(Check.ENOUGH_TRAFFIC, about, said)
    if per_second is not None and per_second * over >= full:
        return ok(Check.ENOUGH_TRAFFIC, about, f"{said}; {per_second * over:.0f} at the last hour's rate")
    longer = f"over: {_spelt(timedelta(seconds=full / per_second))}, " if per_second else ""
    todo = f"write {longer}a lower quantile, or minSamples; below that only a clear breach (or ten calm samples) is judged"
    return warn(Check.ENOUGH_TRAFFIC, about, said, todo)


def ask_rate(question: Question, subject: Subject) -> float | None:
    """Requests finished per second over the last hour, by the counter that the catalogue reads. Raises as `rows`."""
    kind = SIGNALS["request_rate"]
    hour = HISTORY.total_seconds()
    for metric in kind.metrics:
        rows = question.rows(f"sum(increase({selector(subject.fleet.identity, metric)}[{hour:.0f}s])) / {hour:.0f}").samples
        if rows:
            return rows[0].value
    return None


def judge_floor(subject: Subject, actual: timedelta | None, *, delay: float) -> Iterator[Finding]:
    """How long it takes at least from the breach to new capacity that serves. `delay` is how late the source answers, in seconds."""
    scrape = (actual if actual is not None else subject.server.scrape_interval).total_seconds()
    remedies = {remedy.alert: remedy for remedy in (subject.policy.remedies if subject.policy is not None else ())}
    loading = load_seconds(subject)
    for rule in subject.policy.alerts if subject.policy is not None else ():
        scales = _scales(remedies.get(rule.name))
        yield floor(f"{subject.about} {rule.name}", rule, Times(scrape, delay, subject.interval.total_seconds(), loading), scales=scales)


@dataclass(frozen=True, slots=True)
class Times:
    """In seconds: one scrape, how late the source answers, one tick, and how long a replica takes to load where that is known."""

    scrape: float
    delay: float
    tick: float
    loading: float | None


def floor(about: str, rule: AlertRule, times: Times, *, scales: bool) -> Finding:
    """The sum for one alert: scrape + over + for + tick, and the load time where capacity is what it asks for."""
    over = max(_spans(rule.condition), default=0.0)
    parts = [times.scrape, over, rule.hold.total_seconds(), times.tick, *([times.delay] if times.delay >= 1 else [])]
    if not scales:
        return ok(Check.REACTION_FLOOR, about, f"{_sum(parts)} before its remedy starts")
    if times.loading is None:
        said = f"{_sum(parts)} + the load time of a replica, which was never measured, before new capacity serves"
        return ok(Check.REACTION_FLOOR, about, said)
    return ok(Check.REACTION_FLOOR, about, f"{_sum([*parts, times.loading])} before new capacity serves")


def load_seconds(subject: Subject) -> float | None:
    """The highest measured start-up time of this template, else of any replica that is there; None while there is none."""
    if not isinstance(subject.workload, Workload):
        return None
    learned = subject.memory.level.of(subject.workload.template).load_seconds
    seen = [replica.load_seconds for replica in subject.workload.replicas if replica.load_seconds is not None]
    return max(learned, default=None) if learned else max(seen, default=None)


def _sum(parts: Sequence[float]) -> str:
    return f"{' + '.join(f'{part:.3g}' for part in parts)} s = {sum(parts):.0f} s"


def _spans(condition: Condition) -> Iterator[float]:
    """Every window of a condition, in seconds."""
    match condition:
        case Leaf(over=over) | BurnRateLeaf(over=over):
            yield over.total_seconds() if over is not None else 0.0
        case All(conditions=parts) | AnyOf(conditions=parts):
            for part in parts:
                yield from _spans(part)
        case Not(condition=part):
            yield from _spans(part)
        case AlertmanagerLeaf():
            return


def _scales(remedy: Remedy | None) -> bool:
    return remedy is not None and any(isinstance(step.do, Scale) for step in remedy.steps)


def _leaves(subject: Subject) -> Iterator[tuple[AlertRule, Leaf]]:
    for rule in subject.policy.alerts if subject.policy is not None else ():
        yield from ((rule, leaf) for leaf in leaves(rule.condition))


def _spelt(span: timedelta) -> str:
    return f"{span.total_seconds():.3g}s"
