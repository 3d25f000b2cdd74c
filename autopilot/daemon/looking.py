"""One look at the world: every source and every backend, once a tick, under one deadline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from autopilot.adapters.kept import KeptAnswers
from autopilot.adapters.prometheus import SERIES_LIMIT, PrometheusSource
from autopilot.catalog.derive import Failure, LiveReplica, derive
from autopilot.catalog.queries import Need, Query, Target, plan
from autopilot.catalog.reported import Watched, alert_entries, alert_queries
from autopilot.control.needs import alerts_needed, signals_by_replica, signals_needed
from autopilot.daemon.warm_ups import OVER, SIGNAL, learns
from autopilot.domain.logical_time import ZERO
from autopilot.domain.reports import Claim, Report, claims_on
from autopilot.domain.samples import Answer
from autopilot.domain.signals import Entry, Gap, Readings
from autopilot.domain.workloads import FleetRef, Observation, Replica, ReplicaState, Workload
from autopilot.policy.values import Fleet, Policy
from autopilot.ports import Backend, QueryFailed, QueryLate, Source

WARNING, WARNINGS = 300, 20  # characters of one and how many are shown: a Thanos names every store in each
SERIES_OF_FLEET = 50  # a histogram's edges with room: acceptance.md R-5
CARRY = frozenset({ReplicaState.SERVING, ReplicaState.CORDONED, ReplicaState.UNHEALTHY})


@dataclass(frozen=True, slots=True)
class Eyes:
    """What the daemon looks through. `scrape_intervals` are the sources' own; `peak_bandwidth` in bytes per second.

    `kept` remembers the answers that need not be asked for again yet.
    """

    sources: Mapping[str, Source]
    scrape_intervals: Mapping[str, timedelta]
    backends: Mapping[str, Backend]
    peak_bandwidth: float | None = None
    kept: KeptAnswers[Query] = field(default_factory=KeptAnswers)


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen: each fleet's workload and readings, the queries that failed, and the sources' own warnings."""

    workloads: Mapping[FleetRef, Observation]
    readings: Mapping[FleetRef, Readings]
    failures: tuple[tuple[str, Gap, str], ...]
    queries: int
    claims: Mapping[FleetRef, tuple[Claim, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def look(
    fleets: Sequence[tuple[Fleet, Policy | None]], eyes: Eyes, *, at: float, deadline: timedelta, reports: Sequence[Report] = ()
) -> Sight:
    """Observe every fleet at Unix time `at`. Whatever does not answer within `deadline` is unknown.

    `reports` are what webhooks said; each claim is looked into.
    """
    workloads = {fleet.ref: eyes.backends[fleet.backend].observe(fleet.ref) for fleet, _ in fleets if fleet.backend in eyes.backends}
    targets = [target_of(fleet, policy, eyes) for fleet, policy in fleets if fleet.source in eyes.sources]
    claims = {fleet.ref: found for fleet, _ in fleets if (found := claims_on(reports, fleet.identity))}
    watched = [_watched(fleet, policy, claims) for fleet, policy in fleets if fleet.source in eyes.sources and alerts_needed(policy)]
    queries = (*plan(targets), *alert_queries(watched))
    answered = eyes.kept.ask(_limited(eyes.sources, workloads), queries, at=at, deadline_seconds=deadline.total_seconds())
    answers = {query: _answer(answer) for query, answer in answered.items()}
    live = {ref: _live(workload) for ref, workload in workloads.items()}
    readings = _with_alerts(derive(targets, answers, live, at=at), alert_entries(watched, answers))
    return Sight(workloads, readings, _failures(answers), len(queries), claims, _warnings(answers))


def _watched(fleet: Fleet, policy: Policy | None, claims: Mapping[FleetRef, tuple[Claim, ...]]) -> Watched:
    return Watched(fleet.ref, fleet.source, fleet.identity, alerts_needed(policy), claims.get(fleet.ref, ()))


def _with_alerts(readings: Mapping[FleetRef, Readings], alerts: Mapping[FleetRef, tuple[Entry, ...]]) -> Mapping[FleetRef, Readings]:
    return {ref: Readings((*found.entries, *alerts[ref])) if ref in alerts else found for ref, found in readings.items()}


def _limited(sources: Mapping[str, Source], workloads: Mapping[FleetRef, Observation]) -> dict[str, Source]:
    """The sources, each query allowed as many series as there can be: a server gone mad is not read to its end."""
    replicas = sum(len(workload.replicas) for workload in workloads.values() if isinstance(workload, Workload))
    series = max(SERIES_LIMIT, SERIES_OF_FLEET * len(workloads) + replicas)
    return {name: source.limited(series) if isinstance(source, PrometheusSource) else source for name, source in sources.items()}


def target_of(fleet: Fleet, policy: Policy | None, eyes: Eyes) -> Target:
    """What is asked about a fleet each tick. Its source must be one of the eyes'."""
    needs = frozenset(Need(signal, over) for signal, over in signals_needed(policy))
    if learns(fleet):
        needs |= {Need(SIGNAL, OVER)}
    by_replica = frozenset(Need(signal, over) for signal, over in signals_by_replica(policy))
    interval = eyes.scrape_intervals[fleet.source]
    return Target(fleet.ref, fleet.source, fleet.identity, fleet.replica_label, interval, needs, eyes.peak_bandwidth, by_replica)


def _answer(answer: Answer | QueryFailed) -> Answer | Failure:
    match answer:
        case QueryLate():
            return Failure(Gap.LATE, str(answer))
        case QueryFailed():
            return Failure(Gap.QUERY_FAILED, str(answer))
        case _:
            return answer


def _failures(answers: Mapping[Query, Answer | Failure]) -> tuple[tuple[str, Gap, str], ...]:
    return tuple((query.source, answer.gap, answer.detail) for query, answer in answers.items() if isinstance(answer, Failure))


def _warnings(answers: Mapping[Query, Answer | Failure]) -> tuple[str, ...]:
    """What sources said of their own answers, each once: such data is partial."""
    said = (
        f"{query.source}: {text[:WARNING]}" for query, answer in answers.items() if isinstance(answer, Answer) for text in answer.warnings
    )
    return tuple(dict.fromkeys(said))[:WARNINGS]


def _live(observation: Observation) -> tuple[LiveReplica, ...]:
    if not isinstance(observation, Workload):
        return ()
    return tuple(LiveReplica(replica.name, _ready_for(replica)) for replica in observation.replicas if replica.state in CARRY)


def _ready_for(replica: Replica) -> timedelta:
    """How long it has been ready: its age without the time it took to load."""
    loading = timedelta(seconds=replica.load_seconds) if replica.load_seconds is not None else ZERO
    return max(ZERO, replica.age - loading)
