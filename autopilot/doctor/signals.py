"""Does every signal that a fleet's policy needs exist for this fleet? The daemon's own questions, read as the daemon reads them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from autopilot.catalog.derive import Failure, derive
from autopilot.catalog.queries import Need, Query, plan
from autopilot.catalog.signals import SIGNALS
from autopilot.doctor.doors import Question, Subject, live_of
from autopilot.doctor.findings import Check, Finding, Level, fail, ok, warn
from autopilot.doctor.identity import Matched
from autopilot.doctor.nearest import nearest
from autopilot.doctor.sources import selector
from autopilot.domain.conditions import Leaf, leaves
from autopilot.domain.samples import Answer
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Readings, Unknown

BANDWIDTH = "bandwidth_utilization"
_NAMED = 3  # silent targets that a line names


@dataclass(frozen=True, slots=True)
class Heard:
    """What a fleet's signals read now, and the names of the metrics that its series have."""

    readings: Readings
    metrics: frozenset[str]


def hear(question: Question, subject: Subject, seen: Matched) -> Heard:
    """Ask everything that a tick asks for this fleet. Raises QueryLate or QueryFailed."""
    queries = plan([subject.target])
    found = question.server.asking(queries, at=question.at)
    answers: dict[Query, Answer | Failure] = {query: _answer(answer) for query, answer in found.items()}
    label = subject.fleet.replica_label
    names = sorted({labels[label] for labels in (*seen.targets, *seen.engines) if labels.get(label)})
    readings = derive([subject.target], answers, {subject.ref: live_of(names)}, at=question.at)[subject.ref]
    metrics = question.rows(f"group by (__name__) ({selector(subject.fleet.identity)})").samples
    return Heard(readings, frozenset(sample.labels.get("__name__", "") for sample in metrics))


def _answer(answer: Answer | Exception) -> Answer | Failure:
    return Failure(Gap.QUERY_FAILED, str(answer)) if isinstance(answer, Exception) else answer


@dataclass(frozen=True, slots=True)
class Want:
    """A signal that the policy needs over a window. `by` are the alerts that need it; `optional`: none of them minds its absence."""

    signal: str
    over: timedelta | None
    by: tuple[str, ...]
    optional: bool

    @property
    def written(self) -> str:
        """As the policy would name it."""
        return self.signal if self.over is None else f"{self.signal} over {self.over.total_seconds():g} s"


def wants(subject: Subject) -> tuple[Want, ...]:
    """What the policy needs: first what its alerts name, then the rest (demand, verification)."""
    found: dict[tuple[str, timedelta | None], list[tuple[str, Leaf]]] = {}
    for rule in subject.policy.alerts if subject.policy is not None else ():
        for leaf in leaves(rule.condition):
            found.setdefault((leaf.signal, leaf.over), []).append((rule.name, leaf))
    named = tuple(
        Want(signal, over, tuple(dict.fromkeys(name for name, _ in by)), all(leaf.on_unknown is not None for _, leaf in by))
        for (signal, over), by in found.items()
    )
    rest = sorted(need for need in _asked(subject.target.needs) if need not in found)
    return (*named, *(Want(signal, over, (), optional=False) for signal, over in rest))


def _asked(needs: Iterable[Need]) -> Iterator[tuple[str, timedelta | None]]:
    return ((need.signal, need.over) for need in needs)


def judge_signals(subject: Subject, heard: Heard) -> Iterator[Finding]:
    """One finding for each signal the policy needs, and one for each that only some targets give."""
    for want in wants(subject):
        reading = heard.readings.of(want.signal, over=want.over)
        yield judge_signal(subject, want, reading, heard.metrics)
        silent = _silent(want, heard.readings)
        if silent and not isinstance(reading, Unknown):
            yield _some(subject, want, silent)


def judge_signal(subject: Subject, want: Want, reading: Reading, metrics: Iterable[str]) -> Finding:
    """Whether it can be read, and if not, what the fleet exports instead."""
    match reading:
        case Measured() | Distribution() | Idle():
            return ok(Check.SIGNAL_EXISTS, subject.about, f"{want.written}: {_said(reading)}")
        case Unknown():
            return _missing(subject, want, reading, frozenset(metrics))


def _missing(subject: Subject, want: Want, reading: Unknown, metrics: frozenset[str]) -> Finding:
    whose = f" (alert {', '.join(want.by)})" if want.by else ""
    said = f"{want.written}{whose} cannot be read: {reading.gap}{f' - {reading.detail}' if reading.detail else ''}"
    kind = SIGNALS.get(want.signal)
    absent = [name for name in (kind.metrics if kind is not None else ()) if not exported(name, metrics)]
    hints = f"; it is made of {absent[0]}, {_instead(absent[0], metrics)}" if absent else ""
    if want.optional:
        todo = "nothing, if that is meant: onUnknown says what its absence counts as"
        return Finding(Check.SIGNAL_EXISTS, Level.WARN, subject.about, said + hints, todo)
    return fail(Check.SIGNAL_EXISTS, subject.about, said + hints, _todo(reading, absent))


def _instead(metric: str, metrics: frozenset[str]) -> str:
    """What is there of a like name."""
    found = nearest(metric, families(metrics))
    return f"and the fleet exports {', '.join(found)}" if found else "and the fleet exports nothing of a like name"


def _todo(reading: Unknown, absent: Sequence[str]) -> str:
    if reading.gap in {Gap.QUERY_FAILED, Gap.LATE}:
        return "see what the source says, and ask again"
    if absent:
        return "let the engines export it, or name a signal that they do export; until then the alert cannot fire"
    return "an alert on it keeps its state until it can be read"


def exported(metric: str, metrics: frozenset[str]) -> bool:
    """Whether a fleet has a metric, be it a plain one or a histogram of either form."""
    return not metrics.isdisjoint({metric, f"{metric}_bucket", f"{metric}_count", f"{metric}_total"})


def families(metrics: Iterable[str]) -> frozenset[str]:
    """Metric names without what a histogram adds."""
    return frozenset(name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum").removesuffix("_created") for name in metrics)


def _silent(want: Want, readings: Readings) -> dict[str, Unknown]:
    by_replica = readings.by_replica(want.signal, over=want.over)
    return {name: reading for name, reading in by_replica.items() if isinstance(reading, Unknown)}


def _some(subject: Subject, want: Want, silent: Mapping[str, Unknown]) -> Finding:
    names = ", ".join(sorted(silent)[:_NAMED])
    reason = next(iter(silent.values()))
    said = f"{want.written}: {len(silent)} targets do not give it: {names} ({reason.gap}{f' - {reason.detail}' if reason.detail else ''})"
    todo = "run one version of the engine on all replicas, or look at why these targets are silent"
    return warn(Check.TARGETS_EXPORT, subject.about, said, todo)


def _said(reading: Measured | Distribution | Idle) -> str:
    match reading:
        case Measured(value=value, partial=partial):
            return f"{value:.4g}{' (from some replicas only)' if partial else ''}"
        case Distribution(count=count, partial=partial):
            return f"{count:.0f} samples{' (from some replicas only)' if partial else ''}"
        case Idle():
            return "idle"


def judge_bandwidth(subject: Subject, heard: Heard) -> Iterator[Finding]:
    """Whether the bandwidth source is believable, where an alert looks at it: 0 while tokens flow is no measurement."""
    for want in wants(subject):
        if want.signal == BANDWIDTH:
            yield _believable(subject, heard.readings.of(BANDWIDTH, over=want.over))


def _believable(subject: Subject, reading: Reading) -> Finding:
    match reading:
        case Measured(value=value) if value > 1.0:
            todo = "correct peakBandwidth in the daemon's file: the card moves more"
            return warn(Check.BANDWIDTH_PLAUSIBLE, subject.about, f"it reads {100 * value:.0f} % of the card's peak", todo)
        case Measured(value=value):
            return ok(Check.BANDWIDTH_PLAUSIBLE, subject.about, f"it reads {100 * value:.0f} % of the card's peak")
        case Idle() | Distribution():
            return ok(Check.BANDWIDTH_PLAUSIBLE, subject.about, "idle: ask again under load")
        case Unknown(gap=gap, detail=detail):
            todo = "start the engines with --enable-mfu-metrics, or scrape dcgm-exporter; alerts go on without it where onUnknown says so"
            said = f"no believable source: {gap}{f' - {detail}' if detail else ''}"
            return warn(Check.BANDWIDTH_PLAUSIBLE, subject.about, said, todo)
