import pytest

from autopilot.doctor.backtest import STEPS_AT_ONCE, Span


@pytest.mark.parametrize("steps", [0, 1, STEPS_AT_ONCE - 1, STEPS_AT_ONCE, STEPS_AT_ONCE + 1, 3 * STEPS_AT_ONCE])
def test_chunks_hold_every_step_once(steps: int) -> None:
    span = Span(1000.0, 1000.0 + 60.0 * steps, 60.0)

    assert [at for chunk in span.chunks() for at in chunk.times()] == list(span.times())
    assert len(list(span.times())) == steps + 1
