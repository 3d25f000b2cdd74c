"""What each state of the data makes of a reading."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.catalog import series
from autopilot.catalog.coverage import LiveReplica
from autopilot.catalog.derive import derive
from autopilot.catalog.queries import BASE, Need
from autopilot.catalog.series import Series
from autopilot.catalog.signals import FINISHED, RUNNING, WAITING
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading
from tests.unit.catalog.worlds import (
    BUCKETS,
    EDGES,
    HITS,
    KV,
    LOOKUPS,
    MINUTE,
    NAMES,
    NOW,
    OLD,
    QUIET,
    REF,
    STALLED,
    SUMS,
    TRAFFIC,
    World,
    gap_of,
    healthy,
    resting,
)

NAN = float("nan")
RUNNING_NOW = series.newest(RUNNING)
HIT_RATIO = Need("prefix_hit_ratio", MINUTE)
BANDWIDTH = Need("bandwidth_utilization", MINUTE)


def test_everything_in_the_base_set_is_read_for_every_fleet() -> None:
    readings = World().read()

    assert {Need(entry.signal, entry.over) for entry in readings.entries if entry.replica is None} == BASE


@pytest.mark.parametrize(
    ("signal", "over", "expected"),
    [
        ("running", None, Measured(10.0)),
        ("waiting", MINUTE, Measured(5.0)),
        ("in_flight", None, Measured(15.0)),
        ("waiting_per_replica", MINUTE, Measured(1.0)),
        ("request_rate", MINUTE, Measured(2.5, count=150.0)),
        ("in_flight_growth", MINUTE, Measured(0.5)),
        ("engine_steps", MINUTE, Measured(3000.0)),
        ("stalled_replicas", None, Measured(0.0)),
        ("up", None, Measured(1.0)),
        ("ttft", MINUTE, Distribution((0.5, 1.0, float("inf")), (100.0, 140.0, 150.0), total=60.0)),
        ("kv_usage", None, Measured(0.5)),
        ("prefix_hit_ratio", MINUTE, Measured(0.75)),
        ("error_ratio", MINUTE, Measured(0.1, count=150.0)),
        ("bandwidth_utilization", MINUTE, Measured(0.1)),
    ],
)
def test_a_healthy_fleet_is_measured(signal: str, over: timedelta | None, expected: Reading) -> None:
    readings = World().needing(Need(signal, over)).read()

    assert readings.of(signal, over=over) == expected


def test_in_flight_may_shrink() -> None:
    readings = World().with_rows(series.growth(MINUTE), dict.fromkeys(NAMES, -12.0)).read()

    assert readings.of("in_flight_growth", over=MINUTE) == Measured(-1.0)


@pytest.mark.parametrize("signal", ["request_rate", "engine_steps", "in_flight_growth", "ttft"])
def test_a_fleet_that_was_seen_to_do_nothing_is_idle(signal: str) -> None:
    assert World(resting()).read().of(signal, over=MINUTE) == Idle()


def test_a_gauge_of_an_idle_fleet_is_measured() -> None:
    assert World(resting()).read().of("running") == Measured(0.0)


@pytest.mark.parametrize(
    "world",
    [
        World(resting()).without(QUIET, "chat-0"),
        World(resting()).changed(QUIET, chat_0=2.0),
        World(resting()).failing(QUIET),
        replace(World(resting()), warned=frozenset({QUIET})),
        World(resting()).changed(series.UP, chat_0=0.0),
        World(resting()).without(series.FRESH, "chat-0"),
        World(resting()).failing(series.UP),
        World(resting()).failing(series.FRESH),
        World(healthy() | {series.increase(FINISHED, MINUTE): dict.fromkeys(NAMES, 0.0)}),
    ],
    ids=[
        "one-busy",
        "too-few-samples",
        "not-answered",
        "half-answered",
        "one-down",
        "one-silent",
        "up-unseen",
        "age-unseen",
        "flat-counters-only",
    ],
)
def test_a_fleet_that_may_have_done_something_is_not_idle(world: World) -> None:
    readings = world.read()

    assert readings.of("request_rate", over=MINUTE) != Idle()
    assert readings.of("ttft", over=MINUTE) != Idle()


def test_a_young_replica_has_to_be_quiet_for_its_own_life_only() -> None:
    live = (*(LiveReplica(name, OLD) for name in NAMES[1:]), LiveReplica("chat-0", timedelta(seconds=20)))
    world = replace(World(resting()), live=live).changed(QUIET, chat_0=1.0)

    assert world.read().of("request_rate", over=MINUTE) == Idle()


def test_an_absent_histogram_is_unknown_in_an_idle_fleet_too() -> None:
    world = World(resting()).with_rows(BUCKETS, {}).with_rows(SUMS, {})

    assert gap_of(world.read().of("ttft", over=MINUTE)) is Gap.ABSENT


@pytest.mark.parametrize(
    ("asked", "signal", "over"),
    [
        (RUNNING_NOW, "running", None),
        (RUNNING_NOW, "in_flight", None),
        (series.mean(WAITING, MINUTE), "waiting_per_replica", MINUTE),
        (series.increase(FINISHED, MINUTE), "request_rate", MINUTE),
        (series.steps(MINUTE), "stalled_replicas", None),
        (BUCKETS, "ttft", MINUTE),
    ],
)
def test_an_empty_answer_is_absent_and_harms_what_depends_on_it_alone(asked: Series, signal: str, over: timedelta | None) -> None:
    readings = World().with_rows(asked, {}).read()

    assert gap_of(readings.of(signal, over=over)) is Gap.ABSENT
    assert readings.of("waiting") == Measured(5.0)


@pytest.mark.parametrize("gap", [Gap.LATE, Gap.QUERY_FAILED])
@pytest.mark.parametrize(
    ("asked", "signal", "over"),
    [
        (RUNNING_NOW, "in_flight", None),
        (BUCKETS, "ttft", MINUTE),
        (STALLED, "stalled_replicas", None),
        (series.growth(MINUTE), "in_flight_growth", MINUTE),
    ],
)
def test_a_failed_query_harms_what_depends_on_it_alone(gap: Gap, asked: Series, signal: str, over: timedelta | None) -> None:
    readings = World().failing(asked, gap).read()

    assert gap_of(readings.of(signal, over=over)) is gap
    assert readings.of("waiting") == Measured(5.0)


@pytest.mark.parametrize("asked", [series.UP, series.FRESH])
def test_while_coverage_cannot_be_seen_everything_is_partial(asked: Series) -> None:
    readings = World().failing(asked).read()

    assert readings.of("running") == Measured(10.0, partial=True)
    assert readings.by_replica("running")["chat-0"] == Measured(2.0, partial=True)
    assert getattr(readings.of("ttft", over=MINUTE), "partial", None) is True


@pytest.mark.parametrize("asked", [SUMS, EDGES])
def test_a_histogram_without_its_evidence_is_partial(asked: Series) -> None:
    reading = World().failing(asked).read().of("ttft", over=MINUTE)

    assert isinstance(reading, Distribution)
    assert reading.partial


@pytest.mark.parametrize("asked", [RUNNING_NOW, series.UP, series.FRESH])
def test_a_warning_of_the_source_makes_its_answer_partial(asked: Series) -> None:
    readings = replace(World(), warned=frozenset({asked})).read()

    assert readings.of("running") == Measured(10.0, partial=True)


@pytest.mark.parametrize(
    ("down", "gap", "partial"),
    [(0, None, False), (1, None, True), (2, Gap.BELOW_QUORUM, False)],
    ids=["all-up", "four-of-five", "three-of-five"],
)
def test_four_fifths_of_the_targets_are_a_quorum(down: int, gap: Gap | None, *, partial: bool) -> None:
    lost = {name.replace("-", "_"): 0.0 for name in NAMES[:down]}
    reading = World().changed(series.UP, **lost).read().of("running")

    assert gap_of(reading) is gap
    assert getattr(reading, "partial", False) is partial


def test_below_the_quorum_only_up_is_read() -> None:
    readings = World().changed(series.UP, chat_0=0.0, chat_1=NOW - 60).read()

    assert {gap_of(entry.reading) for entry in readings.entries if entry.signal != "up"} == {Gap.BELOW_QUORUM}
    assert readings.of("up") == Measured(0.6, partial=True)
    assert gap_of(readings.by_replica("up")["chat-1"]) is Gap.STALE


def test_a_replica_that_has_just_become_ready_is_no_gap() -> None:
    young = tuple(LiveReplica(f"new-{number}", timedelta(seconds=45)) for number in range(5))
    world = World()
    readings = replace(world, live=world.live + young).read()

    assert readings.of("running") == Measured(10.0)


def test_a_young_replica_that_reports_counts() -> None:
    live = tuple(LiveReplica(name, timedelta(seconds=10)) for name in NAMES)

    assert replace(World(), live=live).read().of("running") == Measured(10.0)


def test_ghosts_do_not_count() -> None:
    world = World()
    readings = replace(world, live=world.live[:3]).read()

    assert readings.of("running") == Measured(6.0)
    assert set(readings.by_replica("running")) == set(NAMES[:3])


def test_a_fleet_without_a_ready_replica_is_absent() -> None:
    readings = replace(World(), live=()).read()

    assert {gap_of(entry.reading) for entry in readings.entries} == {Gap.ABSENT}


@pytest.mark.parametrize(("age", "partial"), [(45.0, False), (46.0, True)], ids=["three-scrapes-old", "older"])
def test_a_sample_older_than_three_scrapes_is_no_sample(age: float, *, partial: bool) -> None:
    readings = World().changed(series.FRESH, chat_0=NOW - age).read()

    assert readings.of("running") == Measured(8.0 if partial else 10.0, partial=partial)
    assert gap_of(readings.by_replica("running")["chat-0"]) is (Gap.STALE if partial else None)


@pytest.mark.parametrize("value", [NAN, float("inf"), float("-inf"), -1.0], ids=str)
def test_a_number_that_cannot_be_is_silence(value: float) -> None:
    readings = World().changed(RUNNING_NOW, chat_0=value).read()

    assert readings.of("running") == Measured(8.0, partial=True)
    assert gap_of(readings.by_replica("running")["chat-0"]) is Gap.NON_FINITE


def test_nothing_but_nan_is_non_finite() -> None:
    world = World().with_rows(RUNNING_NOW, dict.fromkeys(NAMES, NAN))

    assert gap_of(world.read().of("running")) is Gap.NON_FINITE


@pytest.mark.parametrize(("silent", "gap"), [(2, None), (3, Gap.BELOW_QUORUM), (5, Gap.ABSENT)])
def test_a_series_needs_more_than_half_of_the_targets(silent: int, gap: Gap | None) -> None:
    reading = World().needing(Need("kv_usage")).without(KV, *NAMES[:silent]).read().of("kv_usage")

    assert gap_of(reading) is gap
    assert reading == Measured(0.5, partial=True) or gap is not None


def test_of_no_lookups_there_is_no_hit_ratio() -> None:
    world = World().needing(HIT_RATIO).with_rows(HITS, dict.fromkeys(NAMES, 0.0)).with_rows(LOOKUPS, dict.fromkeys(NAMES, 0.0))

    assert gap_of(world.read().of("prefix_hit_ratio", over=MINUTE)) is Gap.ABSENT


def test_the_hit_ratio_of_an_idle_fleet_is_idle() -> None:
    assert World(resting()).needing(HIT_RATIO).read().of("prefix_hit_ratio", over=MINUTE) == Idle()


def test_a_fleet_is_weighed_by_its_traffic() -> None:
    world = World().needing(HIT_RATIO).changed(LOOKUPS, chat_0=1400.0)

    assert world.read().of("prefix_hit_ratio", over=MINUTE) == Measured(0.5)


def test_bandwidth_without_a_known_peak_is_not_supported() -> None:
    world = replace(World(), peak_bandwidth=None).needing(BANDWIDTH)

    assert gap_of(world.read().of("bandwidth_utilization", over=MINUTE)) is Gap.NOT_SUPPORTED


def test_byte_counters_that_stand_still_in_a_busy_fleet_are_misshapen() -> None:
    world = World().needing(BANDWIDTH).with_rows(TRAFFIC, dict.fromkeys(NAMES, 0.0))

    assert gap_of(world.read().of("bandwidth_utilization", over=MINUTE)) is Gap.MISSHAPEN


def test_one_busy_replica_without_byte_counters_makes_bandwidth_partial() -> None:
    readings = World().needing(BANDWIDTH).changed(TRAFFIC, chat_0=0.0).read()

    assert readings.of("bandwidth_utilization", over=MINUTE) == Measured(0.1, partial=True)
    assert gap_of(readings.by_replica("bandwidth_utilization", over=MINUTE)["chat-0"]) is Gap.MISSHAPEN


def test_a_stalled_replica_is_counted_and_named() -> None:
    readings = World().with_rows(STALLED, {"chat-1": 1.0, "ghost": 1.0}).read()

    assert readings.of("stalled_replicas") == Measured(1.0)
    assert readings.by_replica("stalled_replicas")["chat-1"] == Measured(1.0)


@pytest.mark.parametrize(("stalled", "gap"), [(2, None), (3, Gap.STALLED)])
def test_latency_is_unknown_while_half_of_the_replicas_stand_still(stalled: int, gap: Gap | None) -> None:
    reading = World().with_rows(STALLED, dict.fromkeys(NAMES[:stalled], 1.0)).read().of("ttft", over=MINUTE)

    assert gap_of(reading) is gap
    assert getattr(reading, "partial", gap is not None) is True


def test_a_query_that_was_not_asked_has_failed() -> None:
    world = World()
    answers = {query: answer for query, answer in world.answers().items() if query.series != RUNNING_NOW}

    assert gap_of(derive([world.target], answers, {REF: world.live}, NOW)[REF].of("running")) is Gap.QUERY_FAILED
