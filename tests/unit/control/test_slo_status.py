"""Error budgets in plain figures: what is not known says so, and never reads as zero."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autopilot.control.slo_status import SloRate, SloStatus, slos_of
from autopilot.domain.signals import Entry, Gap, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.slos import Slo
from tests.support.policies import closed_loop
from tests.unit.control.looks import times

HOUR = timedelta(hours=1)
SLO = Slo("first-token", "ttft", 0.5, 0.99, timedelta(days=28), ("rejected",))


def seen(reading: Reading, *, refused: Reading = Measured(0.0, count=0.0), slo: Slo = SLO) -> SloStatus:  # noqa: B008 - a frozen value
    entries = [Entry(signal, over, None, one) for over in (HOUR, SLO.window) for signal, one in (("ttft", reading), ("refused", refused))]
    (status,) = slos_of(replace(closed_loop(), slos=(slo,)), Readings(tuple(entries)))
    return status


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (times(0, 995, 5), SloRate(3600.0, "measured", 0.5, 0.5, 1000.0)),
        (times(0, 995, 5, partial=True), SloRate(3600.0, "measured", 0.5, None, 1000.0, partial=True)),
        (times(), SloRate(3600.0, "unknown", requests=0.0, detail="no request was counted")),
        (Idle(), SloRate(3600.0, "idle")),
        (Unknown(Gap.LATE, "10 s"), SloRate(3600.0, "unknown", detail="late: 10 s")),
    ],
    ids=["measured", "somebody-does-not-tell", "nobody-came", "idle", "unknown"],
)
def test_a_burn_rate_is_shown_with_what_is_known_of_it(reading: Reading, expected: SloRate) -> None:
    rate = seen(reading).rates[0]

    assert replace(rate, low=rate.low and round(rate.low, 9), high=rate.high and round(rate.high, 9)) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (seen(times(0, 995, 5)), (0.5, 0.5)),
        (seen(times(0, 960, 40)), (-3.0, -3.0)),
        (seen(times(0, 990, 10), slo=replace(SLO, threshold=0.7)), (0.0, 1.0)),
        (seen(times(0, 995, 5, partial=True)), (None, 0.5)),
        (seen(times(0, 995, 5), refused=Unknown(Gap.ABSENT)), (None, 0.5)),
        (seen(Unknown(Gap.LATE)), (None, None)),
        (seen(Idle()), (None, None)),
    ],
    ids=["half", "overdrawn", "undecided", "at-most", "refusals-unknown", "unknown", "idle"],
)
def test_what_is_left_of_a_budget_is_as_certain_as_its_counts(status: SloStatus, expected: tuple[float | None, float | None]) -> None:
    assert (status.left_low, status.left_high) == pytest.approx(expected, abs=1e-9)


def test_windows_are_shown_from_the_shortest_to_the_longest() -> None:
    assert [rate.over_seconds for rate in seen(times(0, 995, 5)).rates] == [3600.0, 28 * 86400.0]


def test_a_fleet_without_a_policy_has_no_slo() -> None:
    assert slos_of(None, Readings()) == ()
