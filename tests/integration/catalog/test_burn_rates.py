"""Burn rates are what PromQL makes of the same windows, and shedding load turns no SLO green."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.adapters.prometheus import PrometheusSource
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.queries import Need, Target
from autopilot.control.burning import ALSO_BAD, counted
from autopilot.control.judgement import Look, judge
from autopilot.domain.conditions import BurnRateLeaf, Truth
from autopilot.domain.quantiles import interpolate
from autopilot.domain.signals import Distribution, Readings, Unknown
from autopilot.domain.slos import Slo, Tally, burn_rates
from autopilot.domain.workloads import FleetRef
from tests.integration.catalog.conftest import Asked
from tests.integration.catalog.scenes import NOW
from tests.support.openmetrics import Track, every, openmetrics
from tests.support.prometheus import Binaries, PrometheusServer

SCRAPE = 30.0
SINCE = NOW - 3 * 3600.0
OVERS = tuple(timedelta(minutes=minutes) for minutes in (5, 30, 60, 120))
HOUR, SHORT = timedelta(hours=1), timedelta(minutes=5)
ON_EDGE = Slo("first-token", "ttft", 0.5, 0.99, timedelta(hours=2), ("server_errors", "rejected"))
SHED_AT = NOW - 1200.0

Counts = Callable[[float], float]  # of the seconds since the start


def rate(per_second: float) -> Counts:
    return lambda seconds: per_second * seconds


def shed(per_second: float) -> Counts:
    """Nothing at first, so many a second for the last 20 minutes."""
    return lambda seconds: per_second * max(0.0, seconds - (SHED_AT - SINCE))


def tracks(fleet: str, *, http: Mapping[str, Counts], turned_away: Counts, born_late: bool = False) -> Iterator[Track]:
    """Two replicas, one of which ended half an hour ago: of their requests one in 20 is slow, one in 4 falls between 0.5 and 0.75 s."""
    for number, until in ((0, NOW), (1, NOW - 1800.0)):
        labels = {"namespace": "llm", "fleet": fleet, "pod": f"{fleet}-{number}"}
        times = every(SCRAPE, since=SINCE, until=until)
        yield from _engine(labels, times)
        yield Track("vllm:admission_rejections_total", labels, [(at, turned_away(at - SINCE)) for at in times])
        yield Track("http_requests_total", {**labels, **PROBE}, [(at, at - SINCE) for at in times])
        for status, counts in http.items():
            points = [(at, counts(at - SINCE)) for at in times]
            shown = [point for point in points if point[1] > 0 or not born_late]
            if shown:
                yield Track("http_requests_total", {**labels, **ASKED, "status": status}, shown)


def _engine(labels: Mapping[str, str], times: Sequence[float]) -> Iterator[Track]:
    for name, value in {"up": 1.0, "vllm:num_requests_running": 2.0, "vllm:num_requests_waiting": 1.0}.items():
        yield Track(name, labels, [(at, value) for at in times])
    for name, count in {"request_success_total": 2.0, "iteration_tokens_total_count": 20.0, "time_to_first_token_seconds_sum": 0.6}.items():
        yield Track(f"vllm:{name}", labels, [(at, count * (at - SINCE)) for at in times])
    for edge, share in {"0.25": 0.5, "0.5": 0.7, "0.75": 0.95, "+Inf": 1.0}.items():
        yield Track("vllm:time_to_first_token_seconds_bucket", {**labels, "le": edge}, [(at, 2.0 * share * (at - SINCE)) for at in times])
    yield Track("vllm:time_to_first_token_seconds_count", labels, [(at, 2.0 * (at - SINCE)) for at in times])


ASKED = {"handler": "/v1/completions", "method": "POST"}
PROBE = {"handler": "/tokenize", "method": "POST", "status": "5xx"}  # asks for no tokens: counts for nothing
STEADY = {"2xx": rate(2.0), "4xx": rate(0.1), "5xx": rate(0.04)}
SHEDDING = {"2xx": rate(2.0), "5xx": shed(3.0)}


@pytest.fixture(scope="module")
def past(binaries: Binaries) -> Iterator[Asked]:
    found = [
        *tracks("steady", http=STEADY, turned_away=rate(0.01)),
        *tracks("shedding", http=SHEDDING, turned_away=shed(3.0), born_late=True),
        *tracks("failing", http=SHEDDING, turned_away=rate(0.0), born_late=True),
        *tracks("uncounted", http={}, turned_away=shed(3.0)),
    ]
    with PrometheusServer(binaries, history=openmetrics(found)) as server:
        yield Asked(PrometheusSource(server.url).limited(100_000))


def read(past: Asked, fleet: str) -> Readings:
    needs = frozenset(Need(signal, over) for signal in ("ttft", *ALSO_BAD.values()) for over in OVERS)
    target = Target(FleetRef("llm", fleet), "default", (("fleet", fleet), ("namespace", "llm")), "pod", timedelta(seconds=SCRAPE), needs)
    return past.look_at(target, (LiveReplica(f"{fleet}-0", timedelta(hours=3)),))


def tally_of(readings: Readings, slo: Slo, over: timedelta) -> Tally:
    found = counted(slo, readings, over=over)
    assert isinstance(found, Tally)
    return found


def truth(readings: Readings, slo: Slo, *, above: float, over: timedelta) -> Truth:
    return judge(BurnRateLeaf(slo.name, above, over), Look(readings, timedelta(), slos=(slo,))).truth


@pytest.mark.parametrize("over", OVERS, ids=str)
def test_a_burn_rate_is_the_number_that_promql_gives(past: Asked, over: timedelta, record_property: Callable[[str, object], None]) -> None:
    window = f"[{over.total_seconds():.0f}s]"
    fleet = 'fleet="steady"'
    good = f'sum(increase(vllm:time_to_first_token_seconds_bucket{{{fleet}, le="0.5"}}{window}))'
    served = f"sum(increase(vllm:time_to_first_token_seconds_count{{{fleet}}}{window}))"
    refused = f'sum(increase(http_requests_total{{{fleet}, handler="/v1/completions", status=~"4xx|5xx"}}{window}))'
    (theirs,) = past.ask(f"(({served} - {good} + {refused}) / ({served} + {refused})) / (1 - 0.99)").samples
    ours = burn_rates(tally_of(read(past, "steady"), ON_EDGE, over), ON_EDGE.objective)
    assert ours is not None
    record_property("burn_rate", ours.low)

    assert (ours.low, ours.high) == pytest.approx((theirs.value, theirs.value), rel=1e-9)


def test_what_a_queue_limit_turns_away_is_counted_once(past: Asked) -> None:
    readings = read(past, "steady")
    (theirs,) = past.ask('sum(increase(vllm:admission_rejections_total{fleet="steady"}[3600s]))').samples
    errors, refused = (tally_of(readings, replace(ON_EDGE, also_bad=(name,)), HOUR) for name in ON_EDGE.also_bad)
    both, none = tally_of(readings, ON_EDGE, HOUR), tally_of(readings, replace(ON_EDGE, also_bad=()), HOUR)

    assert errors.total + refused.total - none.total == pytest.approx(both.total, rel=1e-9)
    assert refused.total - none.total > theirs.value


@pytest.mark.parametrize("fleet", ["shedding", "failing"])
def test_shedding_load_burns_the_budget_however_fast_the_survivors_are_served(past: Asked, fleet: str) -> None:
    readings = read(past, fleet)
    fine = replace(ON_EDGE, threshold=0.75, objective=0.9)  # of those that were served 5 % are slower: half of the budget
    quantile = readings.of("ttft", over=SHORT)
    assert isinstance(quantile, Distribution)

    assert interpolate(quantile, 0.9) < fine.threshold
    assert truth(readings, replace(fine, also_bad=()), above=1.0, over=SHORT) is Truth.NO
    assert truth(readings, fine, above=5.0, over=SHORT) is Truth.YES
    assert truth(readings, fine, above=1.0, over=HOUR) is Truth.YES


def test_the_first_errors_of_a_replica_are_counted_all(past: Asked) -> None:
    """`increase` alone does not see what a series is born with: 90 of 3,600 here, all of a short burst."""
    readings = read(past, "failing")
    extra = tally_of(readings, ON_EDGE, HOUR).total - tally_of(readings, replace(ON_EDGE, also_bad=()), HOUR).total

    assert extra == pytest.approx(3.0 * 1200.0, rel=0.001)


def test_a_threshold_between_two_edges_stays_undecided(past: Asked) -> None:
    readings = read(past, "steady")
    between = replace(ON_EDGE, threshold=0.6, also_bad=())
    ours = burn_rates(tally_of(readings, between, HOUR), between.objective)
    assert ours is not None

    assert (ours.low, ours.high) == pytest.approx((5.0, 30.0), rel=1e-3)
    assert truth(readings, between, above=14.4, over=HOUR) is Truth.UNKNOWN
    assert truth(readings, between, above=3.0, over=HOUR) is Truth.YES


def test_refusals_that_nobody_counts_leave_an_slo_unknown_and_never_green(past: Asked) -> None:
    readings = read(past, "uncounted")

    assert isinstance(readings.of("refused", over=HOUR), Unknown)
    assert truth(readings, replace(ON_EDGE, threshold=0.75, objective=0.9), above=1.0, over=HOUR) is Truth.UNKNOWN
