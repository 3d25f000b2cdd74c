"""How often each alert would have fired: the daemon's own questions asked of the past, judged by the code that acts.

What cannot be known of the past is said: leaves that no series stands behind, steps without data, and that the
daemon looks more often than this does.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain

from autopilot.catalog import series
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import Failure, derive
from autopilot.catalog.queries import Query, Target, plan
from autopilot.control.alerting import evaluate
from autopilot.control.seen import Case, Seen
from autopilot.domain.alerts import Alert, AlertState
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, BurnRateLeaf, Condition, Leaf, Not
from autopilot.domain.memory import Memory
from autopilot.domain.samples import Answer, Sample, Track
from autopilot.domain.signals import Gap
from autopilot.domain.workloads import Replica, ReplicaState, Workload
from autopilot.policy.values import Fleet, Policy
from autopilot.ports import Past, QueryFailed, QueryLate

STEPS_AT_ONCE = 360  # of one range query: with 50 series a few megabytes, and far under Prometheus's 11,000 points
LOST_AFTER = 5  # steps: a replica that was away for longer is a new one


@dataclass(frozen=True, slots=True)
class Span:
    """The stretch to look at, in Unix seconds, and how often."""

    start: float
    end: float
    step: float

    def chunks(self) -> Iterator["Span"]:
        """The same steps, so many at once that an answer stays small."""
        length = STEPS_AT_ONCE * self.step
        at = self.start
        while at <= self.end:
            yield Span(at, min(self.end, at + length - self.step), self.step)
            at += length

    def times(self) -> Iterator[float]:
        """Every step, both ends included."""
        count = int((self.end - self.start) / self.step + 1e-6) + 1
        return (self.start + index * self.step for index in range(count))


@dataclass(frozen=True, slots=True)
class History:
    """What one alert would have done. Times are Unix seconds, lengths seconds.

    `looks` is how often it was judged; of these `blind` for want of data and `undecided` for other reasons (too few
    samples, a threshold between two edges). `untested` names leaves that no past can be asked for.
    """

    alert: str
    fired: int = 0
    firing_seconds: float = 0.0
    longest_seconds: float = 0.0
    last: float | None = None
    pending: int = 0
    looks: int = 0
    blind: int = 0
    undecided: int = 0
    untested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Backtest:
    """What came of one fleet. `until` is how far it got: `span.end`, unless time ran out. `failures` are questions without an answer."""

    fleet: Fleet
    span: Span
    until: float
    histories: tuple[History, ...]
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """A fleet and its policy, and whom to ask. `seconds_left` says how long the whole may still take."""

    fleet: Fleet
    policy: Policy
    target: Target
    past: Past
    seconds_left: Callable[[], float]
    step: Callable[[float], None]


def backtest(trial: Trial, span: Span) -> Backtest:
    """Walk through the past. Ends early, with what there is, when the time is up."""
    walk = _Walk(trial, [_Tally(History(rule.name, untested=tuple(_untested(rule.condition)))) for rule in trial.policy.alerts])
    until = span.start
    for chunk in span.chunks():
        if trial.seconds_left() <= 0:
            break
        walk.chunk(chunk, span)
        until = chunk.end
        trial.step((until - span.start) / max(1.0, span.end - span.start))
    return Backtest(trial.fleet, span, until, tuple(tally.closed(until) for tally in walk.tallies), tuple(walk.failures))


Answers = Mapping[Query, Answer | Failure]


@dataclass
class _Walk:
    """Goes forward through time; every alert's state goes with it."""

    trial: Trial
    tallies: "list[_Tally]"
    alerts: tuple[Alert, ...] = ()
    since: dict[str, tuple[float, float]] = field(default_factory=dict)  # of each replica: first and last seen
    failures: dict[str, None] = field(default_factory=dict)

    def chunk(self, chunk: Span, span: Span) -> None:
        """Ask for a stretch, and judge each of its steps."""
        queries = plan([self.trial.target])
        asked = {query: self._ask(query, chunk) for query in queries}
        rows = {query: _by_step(answer) for query, answer in asked.items() if not isinstance(answer, Failure)}
        failed = {query: answer for query, answer in asked.items() if isinstance(answer, Failure)}
        up = next(query for query in queries if query.series == series.UP)
        for at in chunk.times():
            answers: dict[Query, Answer | Failure] = {query: Answer(tuple(found.get(round(at), ()))) for query, found in rows.items()}
            answers.update(failed)
            live = self._live(answers[up], at, span)
            self._look(answers, live, at, span)

    def _ask(self, query: Query, chunk: Span) -> tuple[Track, ...] | Failure:
        seconds = max(0.1, self.trial.seconds_left())
        try:
            return self.trial.past.between(
                query.promql, start=chunk.start, end=chunk.end, step_seconds=chunk.step, deadline_seconds=min(60.0, seconds)
            )
        except QueryFailed as error:
            self.failures[str(error)] = None
            return Failure(Gap.LATE if isinstance(error, QueryLate) else Gap.QUERY_FAILED, str(error))

    def _live(self, up: Answer | Failure, at: float, span: Span) -> tuple[LiveReplica, ...]:
        """The replicas that were targets: the backend's own list of that time is not kept anywhere."""
        label = self.trial.fleet.replica_label
        for sample in up.samples if isinstance(up, Answer) else ():
            name = sample.labels.get(label, "")
            first, last = self.since.get(name, (at, at))
            self.since[name] = (at if at - last > LOST_AFTER * span.step else first, at)
        there = {name: first for name, (first, last) in self.since.items() if at - last <= LOST_AFTER * span.step}
        return tuple(LiveReplica(name, _age(first, at, span)) for name, first in sorted(there.items()))

    def _look(self, answers: Answers, live: tuple[LiveReplica, ...], at: float, span: Span) -> None:
        trial = self.trial
        readings = derive([trial.target], answers, {trial.fleet.ref: live}, at)[trial.fleet.ref]
        replicas = tuple(Replica(one.name, ReplicaState.SERVING, age=one.ready_for) for one in live)
        step = timedelta(seconds=span.step)
        now = timedelta(seconds=at - span.start)
        seen = Seen(now, step, trial.target.scrape_interval, readings, Workload(len(live), "past", "past", replicas))
        self.alerts = evaluate(Case(trial.fleet, trial.policy, Memory(now=now, alerts=self.alerts), seen)).alerts
        for tally, alert in zip(self.tallies, self.alerts, strict=True):
            tally.take(alert, at)


def _age(first: float, at: float, span: Span) -> timedelta:
    """Who was there at the first step was there before."""
    return timedelta(days=1) if first == span.start else timedelta(seconds=at - first)


def _by_step(tracks: Sequence[Track]) -> dict[int, list[Sample]]:
    found: defaultdict[int, list[Sample]] = defaultdict(list)
    for labels, points in tracks:
        for at, value in points:
            found[round(at)].append(Sample(labels, value, at))
    return found


@dataclass
class _Tally:
    """Counts what one alert does."""

    history: History
    began: float | None = None
    was: AlertState = AlertState.INACTIVE

    def take(self, alert: Alert, at: float) -> None:
        """One evaluation."""
        now = self.history
        if alert.state is not self.was:
            now = self._changed(alert.state, at)
        blind, undecided = now.blind + alert.blind, now.undecided + alert.undecided
        self.history = replace(now, looks=now.looks + 1, blind=blind, undecided=undecided)
        self.was = alert.state

    def _changed(self, state: AlertState, at: float) -> History:
        now = self.closed(at)
        self.began = None
        match state:
            case AlertState.FIRING:
                self.began = at
                return replace(now, fired=now.fired + 1, last=at)
            case AlertState.PENDING:
                return replace(now, pending=now.pending + 1)
            case AlertState.INACTIVE:
                return now

    def closed(self, at: float) -> History:
        """With a firing that still lasts counted until then."""
        if self.began is None:
            return self.history
        lasted = at - self.began
        now = self.history
        return replace(now, firing_seconds=now.firing_seconds + lasted, longest_seconds=max(now.longest_seconds, lasted))


def _untested(condition: Condition) -> Iterator[str]:
    """The leaves that a look at the past cannot answer."""
    match condition:
        case AlertmanagerLeaf(alert=name):
            yield f"alertmanager {name}"
        case BurnRateLeaf(slo=name):
            yield f"burn rate of {name}"
        case All(conditions=parts) | AnyOf(conditions=parts):
            yield from chain.from_iterable(map(_untested, parts))
        case Not(condition=part):
            yield from _untested(part)
        case Leaf():
            return
