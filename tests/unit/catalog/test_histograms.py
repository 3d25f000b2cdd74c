"""Which bucket rows are a histogram, and which are not."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from autopilot.catalog.histograms import distribution
from autopilot.domain.quantiles import interpolate, share_above
from autopilot.domain.signals import Distribution, Gap, Unknown
from tests.unit.catalog.worlds import BUCKETS, EDGES, MINUTE, SUMS, World, gap_of

NAN = float("nan")


@pytest.mark.parametrize(
    ("rows", "uneven", "expected"),
    [
        ({"+Inf": 4.0, "0.5": 1.0, "1.0": 3.0}, {}, Distribution((0.5, 1.0, inf), (1.0, 3.0, 4.0))),
        ({"1": 1.0, "1.0": 2.0, "+Inf": 5.0}, {"1": 0.4, "1.0": 0.6}, Distribution((1.0, inf), (3.0, 5.0))),
        ({"0.25": 1.0, "0.5": 1.0, "1.0": 3.0, "+Inf": 4.0}, {"0.25": 0.5, "0.5": 0.5}, Distribution((1.0, inf), (3.0, 4.0))),
        ({"0.5": 1.0, "1.0": 1.0 - 1e-9, "+Inf": 4.0}, {}, Distribution((0.5, 1.0, inf), (1.0, 1.0, 4.0))),
        ({"0.5": 10.0, "1.0": 9.0, "+Inf": 40.0}, {}, Distribution((0.5, 1.0, inf), (10.0, 10.0, 40.0), partial=True)),
        ({"0.5": 0.0, "+Inf": 0.0}, {}, Distribution((0.5, inf), (0.0, 0.0))),
        ({"+Inf": 3.0}, {}, Distribution((inf,), (3.0,))),
    ],
    ids=["any-order", "one-edge-written-twice", "edges-not-shared", "rounding", "small-fall", "empty", "only-infinity"],
)
def test_buckets_that_can_be_trusted_are_a_histogram(
    rows: Mapping[str, float], uneven: Mapping[str, float], expected: Distribution
) -> None:
    assert distribution(rows, uneven) == expected


@pytest.mark.parametrize(
    ("rows", "uneven", "gap"),
    [
        ({"0.5": 1.0, "1.0": 3.0}, {}, Gap.MISSHAPEN),
        ({"0.5": 50.0, "1.0": 20.0, "+Inf": 100.0}, {}, Gap.MISSHAPEN),
        ({"0.5": 50.0, "+Inf": 20.0}, {}, Gap.MISSHAPEN),
        ({"half": 1.0, "+Inf": 4.0}, {}, Gap.MISSHAPEN),
        ({"0.25": 1.0, "0.5": 2.0, "+Inf": 4.0}, {"0.25": 0.5, "0.5": 0.5}, Gap.MISSHAPEN),
        ({"0.5": NAN, "+Inf": 4.0}, {}, Gap.NON_FINITE),
        ({"0.5": 1.0, "+Inf": inf}, {}, Gap.NON_FINITE),
        ({"0.5": -1.0, "+Inf": 4.0}, {}, Gap.NON_FINITE),
    ],
    ids=["no-infinity", "falls", "more-than-all", "edge-is-no-number", "nothing-shared", "nan", "infinite", "negative"],
)
def test_buckets_that_contradict_each_other_are_unknown(rows: Mapping[str, float], uneven: Mapping[str, float], gap: Gap) -> None:
    reading = distribution(rows, uneven)

    assert isinstance(reading, Unknown)
    assert reading.gap is gap


def test_mixed_edges_do_not_make_a_fast_fleet_slow() -> None:
    # One replica counts at 0.25 s, the other at 0.5 s; all 200 requests were faster than 0.25 s.
    world = World().with_rows(BUCKETS, {"0.25": 100.0, "0.5": 100.0, "1.0": 200.0, "+Inf": 200.0})
    reading = world.with_rows(EDGES, {"0.25": 0.5, "0.5": 0.5}).read().of("ttft", over=MINUTE)

    assert isinstance(reading, Distribution)
    assert share_above(reading, 0.5).certainly == 0.0


def test_a_fleet_with_buckets_that_cannot_be_is_misshapen() -> None:
    reading = World().with_rows(BUCKETS, {"0.5": 90.0, "1.0": 10.0, "+Inf": 100.0}).read().of("ttft", over=MINUTE)

    assert gap_of(reading) is Gap.MISSHAPEN


def test_a_sum_that_is_no_number_leaves_the_mean_open() -> None:
    reading = World().changed(SUMS, chat_0=NAN).read().of("ttft", over=MINUTE)

    assert isinstance(reading, Distribution)
    assert reading.mean is None
    assert reading.partial


def test_the_sum_of_replicas_that_are_gone_belongs_to_the_mean_as_their_buckets_do() -> None:
    world = World()
    reading = replace(world, live=world.live[:3]).read().of("ttft", over=MINUTE)

    assert isinstance(reading, Distribution)
    assert reading.mean == 60.0 / 150.0


@given(
    some.lists(some.integers(min_value=0, max_value=50), min_size=2, max_size=12),
    some.floats(min_value=0.01, max_value=0.99),
)
@settings(deadline=None)
def test_a_quantile_lies_where_the_shares_say(inside: list[int], quantile: float) -> None:
    edges = [0.1 * (index + 1) for index in range(len(inside) - 1)]
    counts = [float(sum(inside[: index + 1])) for index in range(len(inside))]
    shape = distribution(dict(zip([*map(str, edges), "+Inf"], counts, strict=True)), {})
    assert isinstance(shape, Distribution)
    value = interpolate(shape, quantile)

    # in the bucket under +Inf the value is its edge and reads "at least"
    assert not value < edges[-1] or share_above(shape, value).certain_ratio <= 1 - quantile + 1e-9
