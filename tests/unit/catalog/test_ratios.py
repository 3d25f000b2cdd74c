"""Ratios, bandwidth and stalls: where a 0 would be a lie."""

from dataclasses import replace

import pytest

from autopilot.catalog.queries import Need
from autopilot.domain.signals import Gap, Idle, Measured
from tests.unit.catalog.worlds import HITS, LOOKUPS, MINUTE, NAMES, STALLED, TRAFFIC, World, gap_of, resting

HIT_RATIO = Need("prefix_hit_ratio", MINUTE)
BANDWIDTH = Need("bandwidth_utilization", MINUTE)


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
