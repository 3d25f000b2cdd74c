from collections.abc import Callable

import pytest

from autopilot.adapters.clock import SystemClock


@pytest.fixture
def elapsed() -> Callable[[], float]:
    """Seconds since the test began."""
    clock = SystemClock()
    return lambda: clock.running().total_seconds()
