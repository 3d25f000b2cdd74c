"""What we derive agrees with what Prometheus itself says of the same data at the same instant."""

import pytest

from autopilot.catalog.queries import plan
from autopilot.domain.quantiles import interpolate, share_above
from autopilot.domain.signals import Distribution, Gap, Measured, Unknown
from tests.integration.catalog.conftest import Asked
from tests.integration.catalog.fleets import BUSY, ERRORS, MIXED, ODD, PLAIN, RANDOM, RESTARTED
from tests.integration.catalog.scenes import MINUTE, about

BUCKETS = "sum by (fleet, le) (increase(vllm:time_to_first_token_seconds_bucket[60s]))"


@pytest.mark.parametrize("quantile", [0.01, 0.5, 0.9, 0.99, 0.999])
def test_interpolated_quantiles_are_those_of_histogram_quantile(asked: Asked, quantile: float) -> None:
    theirs = {sample.labels["fleet"]: sample.value for sample in asked.ask(f"histogram_quantile({quantile}, {BUCKETS})").samples}
    readings = asked.look(RANDOM)
    ours = {ref.name: interpolate(_distribution(reading.of("ttft", over=MINUTE)), quantile) for ref, reading in readings.items()}

    assert ours == pytest.approx({name: theirs[name] for name in ours}, rel=1e-9)


@pytest.mark.parametrize("edge", [0.1, 0.25, 1.0])
def test_shares_are_the_arithmetic_of_the_buckets(asked: Asked, edge: float) -> None:
    at_or_under = f'sum by (fleet) (increase(vllm:time_to_first_token_seconds_bucket{{le="{edge}"}}[60s]))'
    every = 'sum by (fleet) (increase(vllm:time_to_first_token_seconds_bucket{le="+Inf"}[60s]))'
    theirs = {sample.labels["fleet"]: sample.value for sample in asked.ask(f"1 - {at_or_under} / {every}").samples}
    readings = asked.look(RANDOM)
    ours = {ref.name: share_above(_distribution(reading.of("ttft", over=MINUTE)), edge).certain_ratio for ref, reading in readings.items()}

    assert ours == pytest.approx({name: theirs[name] for name in ours}, abs=1e-12)


def test_the_mean_is_the_sum_by_the_count(asked: Asked) -> None:
    metric = "vllm:time_to_first_token_seconds"
    (theirs,) = asked.ask(f'sum(increase({metric}_sum{{fleet="busy"}}[60s])) / sum(increase({metric}_count{{fleet="busy"}}[60s]))').samples

    assert _distribution(asked.read(BUSY).of("ttft", over=MINUTE)).mean == pytest.approx(theirs.value)


def test_a_busy_fleet_reads_as_its_series_say(asked: Asked) -> None:
    readings = asked.read(BUSY)
    read = {(signal, over): readings.of(signal, over=over) for signal in ("running", "waiting", "in_flight") for over in (None, MINUTE)}

    assert read == {
        **{("running", over): Measured(6.0) for over in (None, MINUTE)},
        **{("waiting", over): Measured(3.0) for over in (None, MINUTE)},
        **{("in_flight", over): Measured(9.0) for over in (None, MINUTE)},
    }
    assert readings.of("waiting_per_replica", over=MINUTE) == Measured(1.0)
    assert readings.of("request_rate", over=MINUTE) == Measured(about(1.5), count=about(90.0))
    assert readings.of("in_flight_growth", over=MINUTE) == Measured(0.0)
    assert readings.of("stalled_replicas") == Measured(0.0)
    assert readings.of("kv_usage", over=MINUTE) == Measured(about(0.4))
    assert readings.of("error_ratio", over=MINUTE) == Measured(0.0, count=about(90.0))
    assert readings.by_replica("up") == {f"busy-{number}": Measured(1.0) for number in range(3)}
    assert readings.by_replica("request_rate", over=MINUTE)["busy-0"] == Measured(about(0.5))


def test_ratios_rates_and_bandwidth_are_measured(asked: Asked) -> None:
    readings = asked.read(ERRORS)

    assert readings.of("prefix_hit_ratio", over=MINUTE) == Measured(about(0.75))
    assert readings.of("prompt_token_rate", over=MINUTE) == Measured(about(40.0))
    assert readings.of("bandwidth_utilization", over=MINUTE) == Measured(about(0.5))


def test_a_restart_makes_no_negative_or_spiked_rate(asked: Asked) -> None:
    reading = asked.read(RESTARTED).of("request_rate", over=MINUTE)

    assert isinstance(reading, Measured)
    assert 0.5 <= reading.value <= 1.0 + 1e-9


def test_only_edges_that_all_replicas_share_are_kept(asked: Asked) -> None:
    reading = _distribution(asked.read(MIXED).of("ttft", over=MINUTE))

    assert reading.edges == (0.1, 1.0, float("inf"))


def test_odd_names_match_themselves_and_nothing_else(asked: Asked) -> None:
    scenes = [*ODD, *PLAIN]
    rows = {}
    for query in plan([scene.target for scene in scenes]):
        if query.promql.startswith("sum by (fleet, namespace, pod) (vllm:num_requests_running"):
            rows = {sample.labels["fleet"]: sample.value for sample in asked.ask(query.promql).samples}

    assert rows == {scene.name: 3.0 for scene in ODD} | {scene.name: 7.0 for scene in PLAIN}


@pytest.mark.parametrize("number", range(len(ODD)))
def test_each_odd_name_alone_matches_itself_and_nothing_else(asked: Asked, number: int) -> None:
    readings = asked.read(ODD[number])

    assert readings.of("running") == Measured(3.0)


def test_what_no_server_has_is_absent_and_not_healthy(asked: Asked) -> None:
    reading = asked.read(BUSY).of("prefix_hit_ratio", over=MINUTE)

    assert isinstance(reading, Unknown)
    assert reading.gap is Gap.ABSENT


def _distribution(reading: object) -> Distribution:
    assert isinstance(reading, Distribution), reading
    assert not reading.partial
    return reading
