"""The whole examination, in the order in which one thing makes sense of the next."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from autopilot.doctor import figures
from autopilot.doctor.doors import Question, Rivals, Server, Subject
from autopilot.doctor.engines import judge_versions
from autopilot.doctor.findings import Check, Finding, Level, fail, ok, warn
from autopilot.doctor.forms import ask_forms
from autopilot.doctor.identity import Matched, ask_identity, ask_overlaps, judge_replicas, matched
from autopilot.doctor.machine import judge_observed
from autopilot.doctor.signals import Heard, hear, judge_bandwidth, judge_signals
from autopilot.doctor.sources import ask_clusters, ask_source
from autopilot.domain.workloads import Unobserved, Workload
from autopilot.ports import Clock, QueryFailed

Step = Callable[[str], None]
"""Told what is being looked at now, for whoever waits."""


@dataclass(frozen=True, slots=True)
class Examiner:
    """Looks at sources and at the fleets in them. `step` is told how far it is."""

    clock: Clock
    rivals: Rivals
    step: Step

    def source(self, server: Server, subjects: Sequence[Subject]) -> Iterator[Finding]:
        """One source and every fleet in it. Of a source that does not answer nothing more is asked."""
        self.step(f"source {server.name}")
        question = Question(server, self.clock, self.clock.wall().timestamp())
        found = list(ask_source(question))
        yield from found
        if any(finding.check is Check.SOURCE_ANSWERS and finding.level is Level.FAIL for finding in found):
            return
        yield from _tried(Check.CLUSTERS_TOLD_APART, server.name, ask_clusters(question, subjects))
        yield from _tried(Check.IDENTITY_OVERLAPS, server.name, ask_overlaps(question, subjects))
        for subject in subjects:
            yield from self._fleet(subject, delay=_delay(question))

    def _fleet(self, subject: Subject, *, delay: float) -> Iterator[Finding]:
        self.step(f"fleet {subject.about}")
        question = Question(subject.server, self.clock, self.clock.wall().timestamp())
        yield from judge_observed(subject.about, unruled=subject.policy is None)
        yield judge_workload(subject)
        yield from self._rivals(subject)
        yield from judge_versions(subject)
        yield from _tried(Check.IDENTITY_MATCHES, subject.about, self._series(question, subject, delay))

    def _rivals(self, subject: Subject) -> Iterator[Finding]:
        for rival in self.rivals.of(subject.fleet):
            todo = "declare it under writers.replicas, or stop it: two writers of one count fight"
            yield fail(Check.RIVAL_OWNERS, subject.about, f"{rival} writes the replica count too", todo)

    def _series(self, question: Question, subject: Subject, delay: float) -> Iterator[Finding]:
        """Everything that is read from the source. Where nothing matches, the rest would only say so again."""
        seen = matched(question, subject)
        yield from ask_identity(question, subject, seen)
        if not seen.any:
            return
        yield judge_replicas(subject, seen)
        actual = figures.ask_interval(question, subject)
        yield figures.judge_interval(subject, actual)
        yield from figures.judge_windows(subject, actual)
        yield from self._judged(question, subject, seen)
        yield from figures.judge_floor(subject, actual, delay=delay)

    def _judged(self, question: Question, subject: Subject, seen: Matched) -> Iterator[Finding]:
        self.step(f"signals of {subject.about}")
        heard = hear(question, subject, seen)
        yield from judge_signals(subject, heard)
        yield from judge_bandwidth(subject, heard)
        yield from ask_forms(question, subject)
        yield from _edges(question, subject, heard)
        yield from figures.judge_traffic(subject, heard, figures.ask_rate(question, subject))


def _edges(question: Question, subject: Subject, heard: Heard) -> Iterator[Finding]:
    found = figures.thresholds(subject)
    edges = {signal: figures.ask_edges(question, subject, heard, signal) for signal in dict.fromkeys(one.signal for one in found)}
    yield from (figures.judge_edge(threshold, edges[threshold.signal]) for threshold in found)


def _delay(question: Question) -> float:
    """How many seconds ago the moment is that the source answers for."""
    try:
        return max(0.0, question.at - question.rows("time()").samples[0].value)
    except (QueryFailed, IndexError):
        return 0.0


def judge_workload(subject: Subject) -> Finding:
    """What the backend sees."""
    match subject.workload:
        case Unobserved(detail=detail):
            return warn(
                Check.BACKEND_OBSERVED, subject.about, detail or "the backend could not be asked", "the fleet is judged by its series alone"
            )
        case Workload() as workload:
            said = f"{len(workload.serving)} of {workload.desired} replicas serve"
            failed = [replica for replica in workload.replicas if replica.message and replica not in workload.serving]
            if failed:
                return warn(Check.BACKEND_OBSERVED, subject.about, f"{said}; {failed[0].name}: {_line(failed[0].message)}", "see its log")
            return ok(Check.BACKEND_OBSERVED, subject.about, said)


def _line(text: str) -> str:
    return " ".join(text.split())[:200]


def _tried(check: Check, about: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings, and one more where a question on the way was not answered."""
    try:
        yield from findings
    except QueryFailed as error:
        yield fail(check, about, f"could not be asked: {error}", "see what the source says, and ask again")
