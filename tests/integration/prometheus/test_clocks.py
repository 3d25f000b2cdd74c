"""The clocks: the machine's, and the one that tests move."""

from datetime import UTC, timedelta

import pytest

from autopilot.adapters.clock import SystemClock
from tests.support.clocks import NOON, ManualClock


def test_the_wall_clock_is_aware_and_in_utc() -> None:
    assert SystemClock().wall().tzinfo is UTC


def test_running_time_begins_at_zero_and_never_goes_back() -> None:
    clock = SystemClock()
    readings = [clock.running() for _ in range(100)]

    assert readings == sorted(readings)
    assert timedelta() <= readings[0] < timedelta(seconds=10)


def test_a_manual_clock_moves_both_readings() -> None:
    clock = ManualClock()
    clock.advance(timedelta(seconds=5))

    assert (clock.wall(), clock.running()) == (NOON + timedelta(seconds=5), timedelta(seconds=5))


def test_a_jump_of_the_wall_clock_is_no_time() -> None:
    clock = ManualClock()
    clock.jump(timedelta(hours=-1))

    assert (clock.wall(), clock.running()) == (NOON - timedelta(hours=1), timedelta())


def test_a_manual_clock_does_not_go_back() -> None:
    with pytest.raises(ValueError, match=r".+"):
        ManualClock().advance(timedelta(seconds=-1))
