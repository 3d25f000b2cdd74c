"""Where simulated requests come from."""

import pytest

from autopilot.simulation.arrivals import Rate, Request, arrivals, burst, constant, diurnal, scaled, steps, trace_of
from tests.unit.simulation.chance import seeded


@pytest.mark.parametrize(
    ("rate", "at", "expected"),
    [
        (constant(3.0), 99.0, 3.0),
        (steps((0.0, 1.0), (60.0, 5.0)), 59.0, 1.0),
        (steps((0.0, 1.0), (60.0, 5.0)), 60.0, 5.0),
        (steps((10.0, 1.0)), 5.0, 0.0),
        (diurnal(low=1.0, high=9.0, period=100.0), 0.0, 1.0),
        (diurnal(low=1.0, high=9.0, period=100.0), 50.0, 9.0),
        (burst(usual=2.0, factor=10.0, begins=60.0, lasts=30.0), 59.0, 2.0),
        (burst(usual=2.0, factor=10.0, begins=60.0, lasts=30.0), 60.0, 20.0),
        (burst(usual=2.0, factor=10.0, begins=60.0, lasts=30.0), 90.0, 2.0),
    ],
)
def test_a_rate_is_what_it_is_called(rate: Rate, at: float, expected: float) -> None:
    assert rate(at) == pytest.approx(expected)


def test_arrivals_come_at_the_rate_in_order_of_time() -> None:
    requests = arrivals(constant(5.0), peak=10.0, seconds=1_000.0, rng=seeded(1))

    assert requests == sorted(requests)
    assert len(requests) == pytest.approx(5_000, rel=0.05)


def test_the_same_seed_gives_the_same_requests() -> None:
    once, again = (arrivals(constant(5.0), peak=5.0, seconds=60.0, rng=seeded(7)) for _ in range(2))

    assert once == again


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.5])
def test_a_scaled_trace_keeps_its_shape(factor: float) -> None:
    trace = [Request(float(second), 100, 10) for second in range(10_000)]

    louder = scaled(trace, factor=factor, rng=seeded(1))

    assert louder == sorted(louder)
    assert len(louder) == pytest.approx(factor * 10_000, rel=0.05)


def test_a_trace_begins_at_zero_and_is_in_order() -> None:
    assert trace_of([(1_010.0, 5, 0), (1_000.0, 7, 3)]) == [Request(0.0, 7, 3), Request(10.0, 5, 1)]
