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
    KV,
    MINUTE,
    NAMES,
    NOW,
    OLD,
    QUIET,
    REF,
    STALLED,
    SUMS,
    World,
    gap_of,
    healthy,
    resting,
)

NAN = float("nan")
RUNNING_NOW = series.newest(RUNNING)
FINISHED_LATELY = series.increase(FINISHED, MINUTE)


def test_everything_in_the_base_set_is_read_for_every_fleet() -> None:
    readings = World().read()

    assert {Need(entry.signal, entry.over) for entry in readings.entries if entry.replica is None} == BASE


@pytest.mark.parametrize("need", sorted(BASE - {Need("ttft", MINUTE)}, key=str), ids=str)
def test_whatever_a_policy_looks_at_replica_by_replica_is_read_so(need: Need) -> None:
    world = World()
    target = replace(world.target, by_replica=frozenset({need}))
    readings = derive([target], world.answers(), {REF: world.live}, NOW)[REF]

    assert set(readings.by_replica(need.signal, over=need.over)) == set(NAMES)


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
        World(resting()).without(RUNNING_NOW, "chat-0"),
        World(resting()).with_rows(series.OLD, {"chat-0": 60.0}),
        World(resting()).changed(FINISHED_LATELY, chat_0=1.0),
        World(resting()).failing(FINISHED_LATELY),
        World(resting()).failing(series.UP),
        World(resting()).failing(series.OLD),
        World(healthy() | {series.increase(FINISHED, MINUTE): dict.fromkeys(NAMES, 0.0)}),
    ],
    ids=[
        "one-busy",
        "too-few-samples",
        "not-answered",
        "half-answered",
        "one-down",
        "one-silent",
        "one-old",
        "one-finished",
        "counter-unseen",
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
        (series.mean(RUNNING, MINUTE), "running", MINUTE),
        (series.mean(RUNNING, MINUTE), "in_flight", MINUTE),
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
        (series.mean(RUNNING, MINUTE), "in_flight", MINUTE),
        (BUCKETS, "ttft", MINUTE),
        (STALLED, "stalled_replicas", None),
        (series.growth(MINUTE), "in_flight_growth", MINUTE),
    ],
)
def test_a_failed_query_harms_what_depends_on_it_alone(gap: Gap, asked: Series, signal: str, over: timedelta | None) -> None:
    readings = World().failing(asked, gap).read()

    assert gap_of(readings.of(signal, over=over)) is gap
    assert readings.of("waiting") == Measured(5.0)


@pytest.mark.parametrize("asked", [series.UP, series.OLD])
def test_while_coverage_cannot_be_seen_everything_is_partial(asked: Series) -> None:
    readings = World().failing(asked).read()

    assert readings.of("running") == Measured(10.0, partial=True)
    assert readings.by_replica("running")["chat-0"] == Measured(2.0, partial=True)
    assert getattr(readings.of("ttft", over=MINUTE), "partial", None) is True


def test_engines_that_do_not_show_their_running_requests_show_nothing() -> None:
    readings = World().with_rows(RUNNING_NOW, {}).read()

    assert {gap_of(entry.reading) for entry in readings.entries if entry.signal != "up"} == {Gap.ABSENT}


def test_while_running_requests_cannot_be_asked_the_rest_is_partial() -> None:
    readings = World().failing(RUNNING_NOW).read()

    assert gap_of(readings.of("in_flight")) is Gap.LATE
    assert readings.of("waiting") == Measured(5.0, partial=True)


@pytest.mark.parametrize("asked", [SUMS, EDGES])
def test_a_histogram_without_its_evidence_is_partial(asked: Series) -> None:
    reading = World().failing(asked).read().of("ttft", over=MINUTE)

    assert isinstance(reading, Distribution)
    assert reading.partial


@pytest.mark.parametrize("asked", [RUNNING_NOW, series.UP, series.OLD])
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


def test_a_replica_with_old_samples_is_silent() -> None:
    readings = World().with_rows(series.OLD, {"chat-0": 46.0}).read()

    assert readings.of("running") == Measured(8.0, partial=True)
    assert gap_of(readings.by_replica("running")["chat-0"]) is Gap.STALE


@pytest.mark.parametrize(("age", "gap"), [(45.0, None), (46.0, Gap.STALE)], ids=["three-scrapes-old", "older"])
def test_a_scrape_older_than_three_intervals_is_no_scrape(age: float, gap: Gap | None) -> None:
    readings = World().changed(series.UP, chat_0=NOW - age).read()

    assert gap_of(readings.by_replica("up")["chat-0"]) is gap


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


def test_a_query_that_was_not_asked_has_failed() -> None:
    world = World()
    answers = {query: answer for query, answer in world.answers().items() if query.series != RUNNING_NOW}

    assert gap_of(derive([world.target], answers, {REF: world.live}, NOW)[REF].of("running")) is Gap.QUERY_FAILED
