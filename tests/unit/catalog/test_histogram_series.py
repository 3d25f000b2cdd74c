"""A fleet's histogram is the same in whatever form its replicas export it."""

from collections.abc import Sequence
from math import inf, isclose, nan

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from autopilot.catalog.answers import column
from autopilot.catalog.histogram_series import Forms, histogram
from autopilot.catalog.queries import plan
from autopilot.domain.quantiles import interpolate, share_above
from autopilot.domain.samples import Answer, NativeBucket, NativeSample
from autopilot.domain.signals import Distribution, Gap, Unknown
from tests.unit.catalog.worlds import World

EDGES = (0.1, 0.25, 0.5, 1.0, 2.5, inf)
BOUNDS = (-inf, *EDGES)
ODD = NativeSample({}, nan, 1.0, (), 0.0)


def cumulative(held: Sequence[float]) -> dict[str, float]:
    """Counts of buckets as classic rows."""
    return {"+Inf" if edge == inf else str(edge): sum(held[: index + 1]) for index, edge in enumerate(EDGES)}


def native(held: Sequence[float], *, total: float = 1.0) -> NativeSample:
    """The same counts as Prometheus shows a native histogram with custom buckets: those that are empty are left out."""
    buckets = (NativeBucket(BOUNDS[index], BOUNDS[index + 1], count) for index, count in enumerate(held) if count)
    return NativeSample({}, sum(held), total, tuple(buckets), 0.0)


def read(found: Forms) -> Distribution:
    reading = histogram(found, total=1.0, partial=False)
    assert isinstance(reading, Distribution)
    return reading


counts = some.lists(some.integers(min_value=0, max_value=40).map(float), min_size=len(EDGES), max_size=len(EDGES))


@given(counts, counts, some.sampled_from(EDGES[:-1]), some.floats(min_value=0.01, max_value=0.99))
@settings(deadline=None)
def test_native_classic_and_half_of_each_give_the_same_values(
    one: list[float], other: list[float], threshold: float, quantile: float
) -> None:
    both = [first + second for first, second in zip(one, other, strict=True)]
    assume(sum(both) > 0)
    classic = read(Forms(cumulative(both), {}))
    shapes = read(Forms({}, {}, native(both))), read(Forms(cumulative(one), {}, native(other)))

    for shape in shapes:
        assert shape.count == classic.count
        assert share_above(shape, threshold) == share_above(classic, threshold)
        assert isclose(interpolate(shape, quantile), interpolate(classic, quantile))


def test_the_mean_is_of_both_forms() -> None:
    reading = histogram(Forms({"1.0": 2.0, "+Inf": 2.0}, {}, native((0, 0, 0, 2.0, 0, 0), total=2.0)), total=1.0, partial=False)

    assert isinstance(reading, Distribution)
    assert reading.mean == 0.75


def test_an_edge_inside_a_bucket_of_the_other_form_is_dropped() -> None:
    other = NativeSample({}, 4.0, 1.0, (NativeBucket(0.1, 1.0, 4.0),), 0.0)

    assert read(Forms(cumulative((0, 0, 2.0, 0, 3.0, 0)), {}, other)) == Distribution(
        (0.1, 1.0, 2.5, inf), (0.0, 6.0, 9.0, 9.0), total=2.0, partial=False
    )


def test_forms_that_share_no_edge_are_unknown() -> None:
    reading = histogram(Forms({"0.3": 2.0, "+Inf": 4.0}, {}, native((0, 0, 3.0, 0, 0, 3.0))), total=1.0, partial=False)

    assert isinstance(reading, Unknown)
    assert reading.gap is Gap.MISSHAPEN


def test_an_exponential_histogram_bounds_a_share_and_never_invents_one() -> None:
    buckets = (NativeBucket(-1e-128, 1e-128, 1.0), NativeBucket(0.5, 0.7071, 4.0), NativeBucket(0.7071, 1.0, 5.0))
    shape = read(Forms({}, {}, NativeSample({}, 10.0, 6.0, buckets, 0.0)))
    share = share_above(shape, 0.6)

    assert (share.certain_ratio, share.possible_ratio) == (0.5, 0.9)


@pytest.mark.parametrize(
    ("sample", "gap"),
    [
        (ODD, Gap.NON_FINITE),
        (ODD._replace(observations=inf), Gap.NON_FINITE),
        (ODD._replace(observations=-1.0), Gap.NON_FINITE),
        (ODD._replace(observations=2.0, buckets=(NativeBucket(0.1, 0.5, nan),)), Gap.NON_FINITE),
        (ODD._replace(observations=2.0, buckets=(NativeBucket(0.1, 0.5, -2.0),)), Gap.NON_FINITE),
        (ODD._replace(observations=2.0, buckets=(NativeBucket(0.1, 0.5, 3.0),)), Gap.MISSHAPEN),
        (ODD._replace(observations=2.0, buckets=(NativeBucket(nan, 0.5, 2.0),)), Gap.MISSHAPEN),
        (ODD._replace(observations=2.0, buckets=(NativeBucket(-0.5, -0.1, 2.0),)), Gap.MISSHAPEN),
        (ODD._replace(observations=2.0, buckets=(NativeBucket(0.1, 0.5, 1.0), NativeBucket(0.3, 0.7, 1.0))), Gap.MISSHAPEN),
    ],
    ids=["nan", "infinite", "negative", "nan-bucket", "negative-bucket", "more-than-all", "no-edge", "under-zero", "overlap"],
)
def test_a_native_histogram_that_contradicts_itself_is_unknown(sample: NativeSample, gap: Gap) -> None:
    reading = histogram(Forms({}, {}, sample), total=1.0, partial=False)

    assert isinstance(reading, Unknown)
    assert reading.gap is gap


def test_a_native_row_is_a_number_only_where_observations_are_counted() -> None:
    row = NativeSample({"fleet": "chat", "namespace": "llm", "pod": "chat-0"}, 7.0, 1.0, (), 0.0)
    counted = {query.promql: column(query, Answer((), natives=(row,))).of(("chat", "llm")) for query in plan([World().target])}

    assert {rows.get("chat-0") for text, rows in counted.items() if "iteration_tokens_total{" in text and "count by" not in text} == {7.0}
    assert [text for text, rows in counted.items() if rows and "iteration_tokens_total" not in text] == []
