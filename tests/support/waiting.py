"""Waiting for a condition instead of for a time."""

import threading
from collections.abc import Callable

from autopilot.adapters.clock import SystemClock

_GLANCE_SECONDS = 0.02  # short against anything a test waits for, long against what one look costs


def eventually(predicate: Callable[[], object], *, within: float, glance: float = _GLANCE_SECONDS) -> bool:
    """Whether the predicate came true within so many seconds; asked at least once, and again every `glance` seconds."""
    clock, pause = SystemClock(), threading.Event()
    while not predicate():
        if clock.running().total_seconds() > within:
            return False
        pause.wait(glance)
    return True
