"""Ticks and calendars as tokens on a queue: the only importer of APScheduler, which is trusted with nothing else.

It reads the wall clock, stops when that is set back, and can die without a word: `Watchdog` watches it.
"""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import TypeAlias
from zoneinfo import ZoneInfo

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.executors.debug import DebugExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger

from autopilot.domain.crontab import Crontab, parse_crontab

TICK = "tick"

_GRACE = timedelta(seconds=1)  # then an old scheduler is left behind; what it still puts on the queue coalesces
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANT = timedelta(microseconds=1)
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")  # by name: APScheduler's numbers begin with Monday

Due: TypeAlias = Callable[[datetime], datetime | None]
"""The first moment after a moment, None when there is none."""


class Trouble(StrEnum):
    """What APScheduler says went wrong with a job."""

    MISSED = "missed"
    SKIPPED = "skipped"
    ERROR = "error"


_TROUBLES = {EVENT_JOB_MISSED: Trouble.MISSED, EVENT_JOB_MAX_INSTANCES: Trouble.SKIPPED, EVENT_JOB_ERROR: Trouble.ERROR}


class Tokens:
    """A queue that holds each name at most once: what is already asked for is not asked for twice."""

    def __init__(self, limit: int = 1024) -> None:
        self._limit = limit
        self._names: dict[str, None] = {}
        self._changed = threading.Condition()

    def put(self, name: str) -> bool:
        """Ask for a run of `name`. False when the queue is full and it was left out. Never waits."""
        with self._changed:
            if name not in self._names and len(self._names) >= self._limit:
                return False
            self._names[name] = None
            self._changed.notify()
            return True

    def take(self, within: timedelta) -> str | None:
        """The name asked for first, None when there is none within this time."""
        with self._changed:
            if not self._changed.wait_for(lambda: bool(self._names), within.total_seconds()):
                return None
            name = next(iter(self._names))
            del self._names[name]
            return name


class Ticker:
    """Puts `TICK` on the queue every interval, on the same slots of the wall clock after every start, and other names when due.

    `on_trouble` is called from the scheduler's thread.
    """

    def __init__(self, interval: timedelta, tokens: Tokens, on_trouble: Callable[[Trouble], None]) -> None:
        self._tokens = tokens
        self._on_trouble = on_trouble
        self._jobs: dict[str, Due] = {TICK: every(interval)}
        self._scheduler: BackgroundScheduler | None = None
        self._turn = threading.Lock()

    def add(self, name: str, due: Due) -> None:
        """From the next start on, put `name` on the queue whenever it is due; see `every` and `CronTimes`."""
        self._jobs[name] = due

    def start(self) -> None:
        """Begin, with a tick at once."""
        with self._turn:
            self._begin()

    def wake(self) -> None:
        """Bring the next tick forward to now. Never waits."""
        self._tokens.put(TICK)

    def alive(self) -> bool:
        """Whether the scheduler's thread lives: its own `running` stays true when it has died."""
        scheduler = self._scheduler
        thread = None if scheduler is None else getattr(scheduler, "_thread", None)
        return thread is not None and thread.is_alive()

    def reschedule(self) -> None:
        """Tick now and plan every job afresh by the wall clock as it is, on a new scheduler: the old one may be dead or stuck.

        Raises whatever a `Due` raises. Does nothing after `stop`.
        """
        with self._turn:
            if self._scheduler is not None:
                self._end(_GRACE)
                self._begin()

    def stop(self, within: timedelta) -> bool:
        """End. Whether the scheduler's thread ended within this time; it keeps no process alive either way."""
        with self._turn:
            return self._end(within)

    def _begin(self) -> None:
        scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": DebugExecutor()},  # in its own thread: a job is one `put`, and there is no pool to starve
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
        )
        scheduler.add_listener(self._heard, EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES | EVENT_JOB_ERROR)
        for name, due in self._jobs.items():
            scheduler.add_job(self._tokens.put, _Upcoming(due), args=(name,), id=name, name=name)
        self._scheduler = scheduler
        self._tokens.put(TICK)
        scheduler.start()

    def _end(self, within: timedelta) -> bool:
        scheduler, self._scheduler = self._scheduler, None
        if scheduler is None or not scheduler.running:
            return True
        # APScheduler's shutdown waits for its thread without a limit.
        closer = threading.Thread(target=scheduler.shutdown, kwargs={"wait": False}, name="scheduler-end", daemon=True)
        closer.start()
        closer.join(within.total_seconds())
        return not closer.is_alive()

    def _heard(self, event: JobEvent) -> None:
        self._on_trouble(_TROUBLES[event.code])


class _Upcoming(BaseTrigger):  # type: ignore[misc]  # APScheduler has no types
    """Always the first moment after now: however far the clock jumps forward, one run makes up for all."""

    def __init__(self, due: Due) -> None:
        self._due = due

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:  # noqa: ARG002 - APScheduler's
        return self._due(now)


def every(interval: timedelta) -> Due:
    """Due at whole multiples of `interval` since 1970, so that restarts do not shift the slots. Raises ValueError unless positive."""
    if interval <= timedelta():
        message = f"an interval must be positive, got {interval}"
        raise ValueError(message)
    return lambda moment: _EPOCH + ((moment - _EPOCH) // interval + 1) * interval


class CronTimes:
    """When a crontab line comes due in a time zone. A `Due`.

    What the clock skips in spring comes due as much later; what it shows twice in autumn comes due twice.
    """

    def __init__(self, line: str, time_zone: str) -> None:
        """Raises ValueError when either cannot be read."""
        self._triggers = _triggers(parse_crontab(line), _zone(time_zone))

    def __call__(self, moment: datetime) -> datetime | None:
        """The first time after `moment`, in UTC."""
        # From an instant later: a trigger may answer with the very moment it is asked for.
        found = (trigger.get_next_fire_time(None, moment.astimezone(UTC) + _INSTANT) for trigger in self._triggers)
        return min((time.astimezone(UTC) for time in found if time is not None), default=None)


@cache
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # what it raises depends on what the name looks like on disk
        message = f'"{name}" is not a time zone, write it like Europe/Berlin or UTC'
        raise ValueError(message) from error


def _triggers(line: Crontab, zone: ZoneInfo) -> tuple[CronTrigger, ...]:
    days = _expression(line.days, whole=31)
    weekdays = "*" if len(line.weekdays) == 7 else ",".join(_WEEKDAYS[day] for day in sorted(line.weekdays))
    # APScheduler wants both day fields to match; crontab(5) wants either, where both are narrowed.
    choices = [{"day": days}, {"day_of_week": weekdays}] if line.either_day else [{"day": days, "day_of_week": weekdays}]
    month, hour, minute = (_expression(values, whole=whole) for values, whole in ((line.months, 12), (line.hours, 24), (line.minutes, 60)))
    return tuple(CronTrigger(month=month, hour=hour, minute=minute, second="0", timezone=zone, **choice) for choice in choices)


def _expression(values: frozenset[int], *, whole: int) -> str:
    return "*" if len(values) == whole else ",".join(map(str, sorted(values)))
