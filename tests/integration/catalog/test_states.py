"""What a fleet reads as when something about its series is wrong, against real servers."""

from datetime import timedelta

import pytest

from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Unknown
from tests.integration.catalog.conftest import Asked
from tests.integration.catalog.fleets import (
    DOWN,
    ENGINES,
    GHOST,
    IDLE,
    LONG,
    NO_HISTOGRAM,
    SILENT_ONE,
    SILENT_TWO,
    STALE,
    STALLED,
)
from tests.integration.catalog.scenes import MINUTE, about


def test_a_fleet_that_does_nothing_is_idle(asked: Asked) -> None:
    readings = asked.read(IDLE)

    assert readings.of("ttft", over=MINUTE) == Idle()
    assert readings.of("ttft", over=timedelta(minutes=5)) == Idle()
    assert readings.of("request_rate", over=MINUTE) == Idle()
    assert readings.of("running", over=MINUTE) == Measured(0.0)
    assert set(readings.by_replica("request_rate", over=MINUTE).values()) == {Idle()}


def test_a_long_generation_that_keeps_the_counters_flat_is_not_idle(asked: Asked) -> None:
    readings = asked.read(LONG)

    assert readings.of("request_rate", over=MINUTE) == Measured(0.0, count=0.0)
    assert isinstance(readings.of("ttft", over=MINUTE), Distribution)
    assert readings.of("stalled_replicas") == Measured(0.0)
    assert readings.by_replica("request_rate", over=MINUTE) == {"long-0": Measured(0.0), "long-1": Idle()}


def test_a_replica_with_requests_and_no_step_is_stalled(asked: Asked) -> None:
    readings = asked.read(STALLED)

    assert readings.of("stalled_replicas") == Measured(1.0)
    assert readings.by_replica("stalled_replicas") == {"stalled-0": Measured(1.0), "stalled-1": Measured(0.0), "stalled-2": Measured(0.0)}


def test_latency_is_partial_while_a_replica_is_stalled(asked: Asked) -> None:
    reading = asked.read(STALLED).of("ttft", over=MINUTE)

    assert isinstance(reading, Distribution)
    assert reading.partial


def test_the_engines_of_one_replica_are_added_up(asked: Asked) -> None:
    readings = asked.read(ENGINES)

    assert readings.by_replica("running") == {"engines-0": Measured(4.0), "engines-1": Measured(2.0), "engines-2": Measured(4.0)}
    assert readings.of("waiting") == Measured(5.0)


def test_one_stuck_engine_stalls_its_replica_though_the_other_moves(asked: Asked) -> None:
    assert asked.read(ENGINES).by_replica("stalled_replicas")["engines-2"] == Measured(1.0)


def test_the_series_of_a_replica_that_is_gone_do_not_count(asked: Asked) -> None:
    readings = asked.read(GHOST)

    assert readings.of("running") == Measured(2.0)
    assert readings.by_replica("running", over=MINUTE) == {"ghost-0": Measured(2.0)}


def test_a_replica_with_old_samples_is_silent(asked: Asked) -> None:
    readings = asked.read(STALE)

    assert readings.of("running") == Measured(10.0, partial=True)
    assert _gap(readings.by_replica("running")["stale-old"]) is Gap.STALE


def test_a_fleet_under_the_quorum_of_targets_is_unknown_in_every_signal(asked: Asked) -> None:
    readings = asked.read(DOWN)
    hidden = {_gap(entry.reading) for entry in readings.entries if entry.signal != "up"}

    assert hidden == {Gap.BELOW_QUORUM}
    assert readings.by_replica("up") == {"down-0": Measured(1.0), "down-1": Measured(0.0)}


@pytest.mark.parametrize("over", [None, MINUTE], ids=["newest", "mean"])
def test_one_silent_replica_of_three_makes_a_series_partial(asked: Asked, over: timedelta | None) -> None:
    readings = asked.read(SILENT_ONE)

    assert readings.of("kv_usage", over=over) == Measured(about(0.4), partial=True)
    assert readings.of("running", over=over) == Measured(6.0)
    assert _gap(readings.by_replica("kv_usage", over=over)["kv-0"]) is Gap.ABSENT


def test_two_silent_replicas_of_three_make_a_series_unknown(asked: Asked) -> None:
    assert _gap(asked.read(SILENT_TWO).of("kv_usage")) is Gap.BELOW_QUORUM


def test_a_histogram_that_nobody_exports_is_absent_while_counters_move(asked: Asked) -> None:
    readings = asked.read(NO_HISTOGRAM)

    assert _gap(readings.of("ttft", over=MINUTE)) is Gap.ABSENT
    assert isinstance(readings.of("request_rate", over=MINUTE), Measured)


def _gap(reading: Reading) -> Gap | None:
    return reading.gap if isinstance(reading, Unknown) else None
