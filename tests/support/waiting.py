"""Waiting for a condition instead of for a time."""

import threading
from collections.abc import Callable

from autopilot.adapters.clock import SystemClock

_GLANCE_SECONDS = 0.02  # short against anything a test waits for, long against what one look costs


def eventually(predicate: Callable[[], object], *, within: float) -> bool:
    """Whether the predicate came true within so many seconds; asked at least once."""
    clock, pause = SystemClock(), threading.Event()
    while not predicate():
        if clock.running().total_seconds() > within:
            return False
        pause.wait(_GLANCE_SECONDS)
    return True
