"""Whether a fleet's identity matches its own series, once, and nobody else's."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autopilot.catalog.signals import RUNNING
from autopilot.doctor.doors import Question, Subject
from autopilot.doctor.findings import Check, Finding, fail, ok, warn
from autopilot.doctor.nearest import spelt_alike, there_is
from autopilot.doctor.sources import ENGINES, TARGETS_AND_ENGINES, selector
from autopilot.domain.workloads import ReplicaState, Workload

Labels = Mapping[str, str]

# Names that Prometheus Operator, Thanos, Mimir and Cortex give the members of a pair; `receive` and `rule` replicas likewise.
_PAIR = re.compile(r"^(prometheus|__replica__|replica|monitor|prometheus_replica|.*[a-z]_replica)$")
_THERE = frozenset({ReplicaState.SERVING, ReplicaState.CORDONED, ReplicaState.UNHEALTHY})


@dataclass(frozen=True, slots=True)
class Pair:
    """One label pair of an identity that matches nothing, and the values of its label that there are.

    `beside` are those on series that carry all the other pairs: one of them was probably meant. `anywhere` are those
    of any engine.
    """

    label: str
    value: str
    beside: tuple[str, ...] = ()
    anywhere: tuple[str, ...] = ()

    @property
    def to_blame(self) -> bool:
        """Whether it alone keeps the identity from matching, or nothing has it at all."""
        return bool(self.beside) or self.value not in self.anywhere


@dataclass(frozen=True, slots=True)
class Matched:
    """What an identity matches: the label sets of its targets and of its engines' running requests."""

    targets: tuple[Labels, ...]
    engines: tuple[Labels, ...]

    @property
    def any(self) -> bool:
        """Whether it matches anything of a fleet."""
        return bool(self.targets or self.engines)


def matched(question: Question, subject: Subject) -> Matched:
    """Ask for both. Raises QueryLate or QueryFailed."""
    found = (question.rows(selector(subject.fleet.identity, metric)).samples for metric in ("up", RUNNING))
    targets, engines = (tuple(_unnamed(sample.labels) for sample in samples) for samples in found)
    return Matched(targets, engines)


def _unnamed(labels: Labels) -> Labels:
    return {name: value for name, value in labels.items() if name != "__name__"}


def ask_identity(question: Question, subject: Subject, seen: Matched) -> Iterator[Finding]:
    """Whether it matches, and if not, which pair is to blame and what was probably meant."""
    if seen.any:
        yield judge_match(subject, seen)
        yield from judge_pairs(subject, seen)
        return
    workload = subject.workload
    if isinstance(workload, Workload) and workload.desired == 0:
        said = f"nothing matches {shown(subject.fleet.identity)}, and the fleet has no replica: nothing can be told"
        yield warn(Check.IDENTITY_MATCHES, subject.about, said, "ask again when a replica serves")
        return
    pairs = [_asked(question, subject.fleet.identity, index) for index in range(len(subject.fleet.identity))]
    names = question.names(ENGINES) if any(not pair.anywhere for pair in pairs) else ()
    yield judge_nothing(subject, pairs, names)


def _asked(question: Question, identity: Sequence[tuple[str, str]], index: int) -> Pair:
    label, value = identity[index]
    others = [*identity[:index], *identity[index + 1 :]]
    beside = question.rows(f"group by ({label}) ({selector(others, '', TARGETS_AND_ENGINES)})").samples if others else ()
    values = question.values(label, ENGINES) or question.values(label, "up")
    return Pair(label, value, tuple(sample.labels[label] for sample in beside if sample.labels.get(label)), values)


def judge_match(subject: Subject, seen: Matched) -> Finding:
    """It matches something: engines as well as targets."""
    found = f"{shown(subject.fleet.identity)} matches {len(seen.targets)} targets"
    if not seen.targets:
        todo = "let the scrape configuration put the identity's labels on every series of a target, `up` included (labels of the target)"
        return fail(Check.IDENTITY_MATCHES, subject.about, f"{found}, though {len(seen.engines)} engines carry it", todo)
    if not seen.engines:
        todo = "check that the port and path that are scraped are the engines'"
        return fail(Check.IDENTITY_MATCHES, subject.about, f"{found}, and none of them exports {RUNNING}", todo)
    return ok(Check.IDENTITY_MATCHES, subject.about, f"{found} with {len(seen.engines)} engines")


def judge_nothing(subject: Subject, pairs: Sequence[Pair], names: Sequence[str]) -> Finding:
    """It matches nothing: say which pair does not exist, and the nearest that does."""
    blamed = [pair for pair in pairs if pair.to_blame]
    beside = [pair for pair in blamed if pair.beside]
    # another fleet may carry all the other pairs by chance: a value that is spelt nearly so is the likelier mistake
    wrong = [pair for pair in beside if spelt_alike(pair.value, pair.beside)] or beside or blamed
    said = f"no series carries {shown(subject.fleet.identity)}"
    if not wrong:
        todo = "correct the identity: each of its labels exists, and no series has all of them"
        return fail(Check.IDENTITY_MATCHES, subject.about, said, todo)
    hints = [
        f'{pair.label}="{pair.value}": {there_is(pair.value, pair.beside or pair.anywhere)}'
        if pair.anywhere
        else f'no engine has a label "{pair.label}": {there_is(pair.label, names)}'
        for pair in wrong
    ]
    todo = "write the labels of metrics.identity as they are in the source, letter by letter"
    return fail(Check.IDENTITY_MATCHES, subject.about, f"{said}; {'; '.join(hints)}", todo)


def judge_pairs(subject: Subject, seen: Matched) -> Iterator[Finding]:
    """Refuse a source that gives each sample twice, once from each of two servers."""
    doubled = {**_doubled(seen.targets), **_doubled(seen.engines)}
    for label, values in doubled.items():
        said = f"every series is there {len(values)} times, told apart by {label} alone ({', '.join(sorted(values)[:3])}): all counts are too high"
        todo = f"read through a deduplicating query (Thanos: --query.replica-label={label}), or add {label}: <one of them> to the identity"
        yield fail(Check.HA_DUPLICATES, subject.about, said, todo)
    if not doubled:
        yield ok(Check.HA_DUPLICATES, subject.about, "each series is there once")


def _doubled(series: Iterable[Labels]) -> dict[str, set[str]]:
    """The labels of pairs by which alone some series differ, with their values."""
    known = list(series)
    found: dict[str, set[str]] = {}
    for label in {label for labels in known for label in labels if _PAIR.match(label)}:
        alike: defaultdict[frozenset[tuple[str, str]], set[str]] = defaultdict(set)
        for labels in known:
            alike[frozenset((name, value) for name, value in labels.items() if name != label)].add(labels.get(label, ""))
        values = {value for group in alike.values() if len(group) > 1 for value in group}
        if values:
            found[label] = values
    return found


def ask_overlaps(question: Question, subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Two fleets of one source that would count the same series."""
    for index, one in enumerate(subjects):
        for other in subjects[index + 1 :]:
            both = joined(one.fleet.identity, other.fleet.identity)
            if both is not None:
                there = question.rows(f"count({selector(both, RUNNING)})").samples
                yield judge_overlap(one, other, int(there[0].value) if there else 0)


def joined(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...] | None:
    """The pairs of both identities; None where they contradict each other, so that no series carries both."""
    pairs = dict(one)
    if any(pairs.get(label, value) != value for label, value in other):
        return None
    return tuple(sorted((pairs | dict(other)).items()))


def judge_overlap(one: Subject, other: Subject, series: int) -> Finding:
    """`series` are those that carry both identities."""
    about = f"{one.about} and {other.about}"
    if series:
        said = f"{series} engines carry both identities: each fleet counts the other's load"
        return fail(Check.IDENTITY_OVERLAPS, about, said, "add a label to each identity that the other does not have")
    said = "no series carries both identities now, though nothing rules it out"
    return warn(Check.IDENTITY_OVERLAPS, about, said, "let both identities name the same label with different values")


def judge_replicas(subject: Subject, seen: Matched) -> Finding:
    """Whether the backend's replicas and the source's targets have the same names."""
    label = subject.fleet.replica_label
    names = {target[label] for target in seen.targets if target.get(label)}
    if seen.targets and not names:
        labels = sorted({name for target in seen.targets for name in target})
        said = f'no target has the label "{label}", by which replicas are told apart; {there_is(label, labels)}'
        return fail(Check.REPLICAS_SCRAPED, subject.about, said, "correct metrics.replica of the fleet")
    if not isinstance(subject.workload, Workload):
        return ok(Check.REPLICAS_SCRAPED, subject.about, f"{len(names)} targets, told apart by {label}; the backend cannot confirm them")
    there = {replica.name for replica in subject.workload.in_state(*_THERE)}
    missing = sorted(there - names)
    if not missing:
        return ok(Check.REPLICAS_SCRAPED, subject.about, f"all {len(there)} replicas are scraped")
    said = f"{len(missing)} of {len(there)} replicas are no target: {missing[0]} ({there_is(missing[0], names)})"
    return fail(Check.REPLICAS_SCRAPED, subject.about, said, f"let {label} name the replica as the backend does, and scrape all of them")


def shown(pairs: Sequence[tuple[str, str]]) -> str:
    """An identity as Prometheus writes it."""
    return selector(pairs)
