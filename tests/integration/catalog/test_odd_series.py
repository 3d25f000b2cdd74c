"""Rows T7 and R-5: percentiles of too few, over the top edge and between edges; values and answers that are no measurement."""

from datetime import timedelta

import pytest

from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import derive
from autopilot.catalog.queries import Target, plan
from autopilot.control.judgement import Judgement, Look, judge
from autopilot.domain.conditions import Comparison, Leaf, Truth
from autopilot.domain.quantiles import at_least, estimate, share_above
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Readings, Sparse, Unknown
from autopilot.domain.workloads import FleetRef
from autopilot.ports import QueryFailed
from tests.integration.catalog.conftest import Asked
from tests.integration.catalog.fleets import AMBIGUOUS, BUSY, NOT_FINITE, OVER_THE_TOP, SPARSE
from tests.integration.catalog.scenes import MINUTE, NOW, Scene


def slow(readings: Readings, threshold: float) -> Judgement:
    """`ttft, quantile 99 %, above threshold, over 1 m`."""
    leaf = Leaf("ttft", Comparison.ABOVE, threshold, over=MINUTE, quantile=0.99, symptom=True, latency=True)
    return judge(leaf, Look(readings, timedelta(hours=1)))


def shape(readings: Readings) -> Distribution:
    reading = readings.of("ttft", over=MINUTE)
    assert isinstance(reading, Distribution)
    return reading


def test_t7a_two_requests_are_sparse_and_neither_blind_nor_firing(asked: Asked) -> None:
    readings = asked.read(SPARSE)
    found = estimate(shape(readings), 0.99)
    print(f"t7a: {found}")  # noqa: T201 - the figure

    assert isinstance(found, Sparse)
    assert 1 < found.count < 3
    assert found.high == 20.0
    judged = slow(readings, 0.5)
    assert (judged.truth, judged.undecided, judged.partial) == (Truth.UNKNOWN, True, False)


def test_t7b_what_lies_above_the_top_edge_reads_at_least_and_is_breached(asked: Asked) -> None:
    readings = asked.read(OVER_THE_TOP)
    found = shape(readings)
    value = estimate(found, 0.99)
    print(f"t7b: {value}, {share_above(found, 160.0).certain_ratio:.2%} certainly above the top edge")  # noqa: T201 - the figure

    assert isinstance(value, Measured)
    assert (value.value, at_least(found, 0.99)) == (160.0, True)
    assert slow(readings, 0.5).truth is Truth.YES


def test_t7c_a_threshold_between_two_edges_is_undecided(asked: Asked) -> None:
    readings = asked.read(AMBIGUOUS)
    share = share_above(shape(readings), 0.3)
    print(f"t7c: between {share.certain_ratio:.2%} and {share.possible_ratio:.2%} above 0.3 s")  # noqa: T201 - the figure

    assert share.certain_ratio == 0.0
    assert share.possible_ratio > 0.01
    assert (slow(readings, 0.3).truth, slow(readings, 0.3).undecided) == (Truth.UNKNOWN, True)
    assert slow(readings, 0.25).truth is Truth.YES
    assert slow(readings, 0.5).truth is Truth.NO


@pytest.mark.parametrize("scene", NOT_FINITE, ids=[scene.name for scene in NOT_FINITE])
@pytest.mark.parametrize("over", [None, MINUTE], ids=["newest", "mean"])
def test_r5_a_value_that_is_not_finite_is_unknown(asked: Asked, scene: Scene, over: timedelta | None) -> None:
    reading = asked.read(scene).of("kv_usage", over=over)

    assert isinstance(reading, Unknown)
    assert reading.gap is Gap.NON_FINITE


def test_r5_empty_vectors_are_unknown_and_never_idle(asked: Asked) -> None:
    target = Target(FleetRef("llm", "nobody"), "default", (("fleet", "nobody"), ("namespace", "llm")), "pod", timedelta(seconds=15))
    readings = asked.look_at(target, (LiveReplica("nobody-0", timedelta(hours=1)),))

    assert {type(entry.reading) for entry in readings.entries} == {Unknown}


@pytest.mark.parametrize("promql", ["scalar(vector(NaN))", "vector(Inf)", "1/0", "5"])
def test_r5_an_answer_without_labels_stands_for_no_fleet(asked: Asked, promql: str) -> None:
    odd = asked.ask(promql)
    readings = derive([BUSY.target], dict.fromkeys(plan([BUSY.target]), odd), {BUSY.ref: BUSY.replicas}, NOW)[BUSY.ref]

    assert not [entry for entry in readings.entries if isinstance(entry.reading, Measured | Idle | Distribution)]


@pytest.mark.parametrize("promql", ["vllm:num_requests_running[1m]", '"text"'], ids=["matrix", "string"])
def test_r5_what_is_no_vector_is_an_error(asked: Asked, promql: str) -> None:
    with pytest.raises(QueryFailed):
        asked.ask(promql)


@pytest.mark.parametrize("limit", [500, 559])
def test_r5_more_series_than_the_limit_are_an_error_and_none_is_cut_off(asked: Asked, limit: int) -> None:
    counted = int(asked.ask('count({__name__=~"vllm:.+"})').samples[0].value)
    limited = asked.source.limited(limit)

    assert counted > limit
    with pytest.raises(QueryFailed):
        limited.instant('{__name__=~"vllm:.+"}', at=NOW, deadline_seconds=20.0)
    assert len(asked.source.limited(counted).instant('{__name__=~"vllm:.+"}', at=NOW, deadline_seconds=20.0).samples) == counted
