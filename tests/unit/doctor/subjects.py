# ruff: noqa: ARG002 - the signatures are the ports'
"""Fleets for the doctor as values, with a source that nobody asks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from autopilot.catalog.queries import Query, Target
from autopilot.doctor.doors import Server, Subject
from autopilot.doctor.findings import Finding, Level
from autopilot.doctor.signals import Heard
from autopilot.domain.alerts import AlertRule
from autopilot.domain.memory import Memory
from autopilot.domain.samples import Answer, Build
from autopilot.domain.signals import Entry, Reading, Readings
from autopilot.domain.workloads import FleetRef, Replica, ReplicaState, Unobserved, Workload
from autopilot.ports import QueryFailed
from tests.support.policies import CHAT, closed_loop

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
SCRAPE = 15 * SECOND


class Silent:
    """A source that answers nothing: what is judged here needs no answer."""

    def instant(self, query: str, *, at: float, deadline_seconds: float) -> Answer:
        raise QueryFailed(query)

    def ready(self) -> bool:
        return False

    def build(self, *, deadline_seconds: float) -> Build:
        raise QueryFailed("build")

    def now(self, *, deadline_seconds: float) -> float:
        raise QueryFailed("now")

    def label_names(self, matching: str, *, since: float, deadline_seconds: float) -> tuple[str, ...]:
        raise QueryFailed(matching)

    def label_values(self, label: str, matching: str, *, since: float, deadline_seconds: float) -> tuple[str, ...]:
        raise QueryFailed(label)

    def __call__(self, queries: Sequence[Query], *, at: float) -> Mapping[Query, Answer | Exception]:
        return {query: QueryFailed("silent") for query in queries}


SERVER = Server("default", Silent(), Silent(), Silent(), SCRAPE)


def subject(*rules: AlertRule, name: str = "chat", **changes: Any) -> Subject:
    """A fleet with these alerts. `identity` and `replica_label` change the fleet, everything else the subject."""
    of_fleet = {key: changes.pop(key) for key in ("identity", "replica_label") if key in changes}
    fleet = replace(CHAT, ref=FleetRef("llm", name), **of_fleet)
    policy = replace(closed_loop(), alerts=rules, remedies=()) if rules else closed_loop()
    target = Target(fleet.ref, "default", fleet.identity, fleet.replica_label, SCRAPE)
    made = Subject(fleet, policy, target, SERVER, Unobserved("nobody looked"), Memory(), 5 * SECOND)
    return replace(made, **changes)


def serving(*names: str, desired: int | None = None, load: float | None = None) -> Workload:
    replicas = tuple(Replica(name, ReplicaState.SERVING, age=timedelta(hours=1), load_seconds=load) for name in names)
    return Workload(len(names) if desired is None else desired, "1", "t1", replicas)


def heard(*entries: Entry, metrics: Sequence[str] = ()) -> Heard:
    return Heard(Readings(entries), frozenset(metrics))


def reads(signal: str, reading: Reading, *, over: timedelta | None = MINUTE, replica: str | None = None) -> Entry:
    return Entry(signal, over, replica, reading)


def levels(findings: Sequence[Finding]) -> list[Level]:
    return [finding.level for finding in findings]
