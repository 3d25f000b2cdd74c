"""One server for each version of Prometheus, with all fleets in its history."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from autopilot.adapters.prometheus import PrometheusSource
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import derive
from autopilot.catalog.queries import Target, plan
from autopilot.domain.samples import Answer
from autopilot.domain.signals import Readings
from autopilot.domain.workloads import FleetRef
from tests.integration.catalog.fleets import SCENES
from tests.integration.catalog.scenes import NOW, Scene
from tests.support.openmetrics import openmetrics
from tests.support.prometheus import Binaries, PrometheusServer, binaries

__all__ = ["binaries"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A server with a history, and the two steps of a look at it."""

    source: PrometheusSource

    def ask(self, promql: str) -> Answer:
        return self.source.instant(promql, at=NOW, deadline_seconds=20.0)

    def look(self, scenes: Sequence[Scene]) -> Mapping[FleetRef, Readings]:
        targets = [scene.target for scene in scenes]
        answers = {query: self.ask(query.promql) for query in plan(targets)}
        return derive(targets, answers, {scene.ref: scene.replicas for scene in scenes}, NOW)

    def look_at(self, target: Target, live: Sequence[LiveReplica]) -> Readings:
        answers = {query: self.ask(query.promql) for query in plan([target])}
        return derive([target], answers, {target.fleet: live}, NOW)[target.fleet]

    def read(self, scene: Scene) -> Readings:
        return self.look([scene])[scene.ref]


@pytest.fixture(scope="session")
def history() -> str:
    return openmetrics(track for scene in SCENES for track in scene.tracks())


@pytest.fixture(scope="session")
def asked(binaries: Binaries, history: str) -> Iterator[Asked]:
    with PrometheusServer(binaries, history=history) as server:
        yield Asked(PrometheusSource(server.url).limited(100_000))
