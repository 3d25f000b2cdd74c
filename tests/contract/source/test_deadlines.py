"""Port `Source` keeps its deadlines on every real Prometheus, frozen or behind a proxy that drips."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.adapters.queries import ask
from autopilot.domain.samples import Sample
from autopilot.ports import QueryFailed, QueryLate
from tests.contract.source.conftest import NOON
from tests.support.odd_servers import OddServer, dripping_proxy
from tests.support.prometheus import PrometheusServer

GRACE = timedelta(seconds=0.2)  # the requirement: a query ends by its deadline and this


@dataclass(frozen=True, slots=True)
class Question:
    source: str
    promql: str


def timed(work: Callable[[], object]) -> timedelta:
    clock = SystemClock()
    with pytest.raises(QueryLate):
        work()
    return clock.running()


@pytest.mark.parametrize("deadline_seconds", [0.3, 1.0])
def test_a_query_to_a_frozen_server_ends_at_its_deadline(server: PrometheusServer, deadline_seconds: float) -> None:
    source = PrometheusSource(server.url)
    with server.frozen():
        took = timed(lambda: source.instant("running", at=NOON, deadline_seconds=deadline_seconds))

    assert took <= timedelta(seconds=deadline_seconds) + GRACE


@pytest.mark.parametrize("every_seconds", [0.01, 0.5], ids=["fast", "slow"])
def test_a_query_through_a_dripping_proxy_ends_at_its_deadline(server: PrometheusServer, every_seconds: float) -> None:
    with OddServer(dripping_proxy(server.port, every_seconds=every_seconds)) as proxy:
        source = PrometheusSource(proxy.url)
        took = timed(lambda: source.instant("running", at=NOON, deadline_seconds=1.0))

    assert took <= timedelta(seconds=1.0) + GRACE


def test_a_frozen_server_is_not_ready(server: PrometheusServer) -> None:
    with server.frozen():
        assert not PrometheusSource(server.url).ready()


def test_a_server_answers_again_after_it_was_frozen(server: PrometheusServer) -> None:
    source = PrometheusSource(server.url)
    with server.frozen(), pytest.raises(QueryFailed):
        source.instant("vector(1)", at=NOON, deadline_seconds=0.2)

    assert source.instant("vector(1)", at=NOON, deadline_seconds=10.0).samples == (Sample({}, 1.0, NOON),)


def test_a_frozen_server_does_not_delay_the_questions_to_another(server: PrometheusServer) -> None:
    """One of two sources drips: every question to the sound one is answered, and the round ends in time."""
    questions = [Question(name, f"vector({number})") for name in ("dripping", "sound") for number in range(12)]
    with OddServer(dripping_proxy(server.port, every_seconds=0.5)) as proxy:
        sources = {"dripping": PrometheusSource(proxy.url), "sound": PrometheusSource(server.url)}
        clock = SystemClock()
        answers = ask(sources, questions, at=NOON, deadline_seconds=2.5)
        took = clock.running()

    assert {question for question in questions if isinstance(answers[question], QueryLate)} == set(questions[:12])
    assert took <= timedelta(seconds=2.5) + GRACE
