"""Which named windows are open at a moment of wall time."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import assert_never

from autopilot.adapters.scheduler import CronTimes
from autopilot.domain.crontab import valid_cron
from autopilot.domain.windows import CronWindow, SpanWindow, Window

__all__ = ["is_open", "open_windows", "valid_cron", "valid_time_zone"]


def open_windows(windows: Mapping[str, Window], at: datetime) -> frozenset[str]:
    """The names of the windows open at `at`, which is aware. Raises ValueError for a line or zone that cannot be read."""
    return frozenset(name for name, window in windows.items() if is_open(window, at))


def is_open(window: Window, at: datetime) -> bool:
    """Whether a window is open: from its beginning, without its end."""
    match window:
        case SpanWindow(begins=begins, ends=ends):
            return begins <= at < ends
        case CronWindow(cron=line, lasts=lasts, time_zone=zone):
            # It opened after `at - lasts`, or it is not open. `lasts` is time that passes, not what clocks show.
            opened = _times(line, zone)(at - lasts)
            return opened is not None and opened <= at
    assert_never(window)


def valid_time_zone(name: str) -> str | None:
    """What is wrong with the name of a time zone; None when nothing is."""
    try:
        _times("0 0 * * *", name)
    except ValueError as error:
        return str(error)
    return None


@lru_cache(maxsize=4096)
def _times(line: str, zone: str) -> CronTimes:
    return CronTimes(line, zone)
