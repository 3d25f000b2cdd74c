"""Notices a loop that no longer ticks, whatever stopped it, by the monotonic clock."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from autopilot.ports import Clock

DEAD = 70  # the exit code for "a part of this process is dead, start it again" (sysexits.h: EX_SOFTWARE)

_DRIFT = timedelta(seconds=2)  # between two looks: an adjusted clock drifts by milliseconds, a set one jumps
_PATIENCE = 3  # attempts to get it going again, one interval apart

_log = structlog.get_logger(__name__)


class Ticking(Protocol):
    """What brings the ticks: `Ticker`."""

    def alive(self) -> bool:
        """Whether its thread lives."""
        ...

    def reschedule(self) -> None:
        """Plan afresh, tick now. May raise anything."""
        ...


class Watchdog:
    """Reschedules when no tick was completed for two intervals, the wall clock was set, or the scheduler is dead.

    When three attempts in a row have brought no tick it calls `on_dead`, once, from its own thread: the process
    should end with the exit code DEAD, so that whatever supervises it starts it again.
    """

    def __init__(self, ticking: Ticking, interval: timedelta, clock: Clock, on_dead: Callable[[], None]) -> None:
        self._ticking = ticking
        self._interval = interval
        self._clock = clock
        self._on_dead = on_dead
        self._completed = clock.running()
        self._offset = self._measured_offset()
        self._attempts = 0
        self._attempted = clock.running()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def tick_completed(self) -> None:
        """A tick went through. Call it from the loop, after the last thing a tick does."""
        self._completed = self._clock.running()

    def age(self) -> timedelta:
        """How long ago the last tick was completed; before the first, how long this has been waiting for one."""
        return self._clock.running() - self._completed

    def start(self) -> None:
        """Watch, twice per interval. The first tick is waited for from now on."""
        self.tick_completed()
        self._thread.start()

    def stop(self, within: timedelta) -> bool:
        """End; whether it did within this time."""
        self._ended.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join(within.total_seconds())
        return not self._thread.is_alive()

    def check(self) -> None:
        """Look once, and do what is to be done. Nothing after the end."""
        if self._ended.is_set():
            return
        if self._clock_was_set():
            self._reschedule("clock_was_set")
        late = self.age() > 2 * self._interval
        if not late and self._ticking.alive():
            self._attempts = 0
        elif self._attempts == 0 or self._clock.running() - self._attempted >= self._interval:
            self._attempt("no_tick" if late else "scheduler_dead")

    def _attempt(self, trouble: str) -> None:
        if self._attempts >= _PATIENCE:
            _log.critical("loop_is_dead", trouble=trouble, attempts=self._attempts, tick_age_seconds=self.age().total_seconds())
            self._ended.set()
            self._on_dead()
            return
        self._attempts += 1
        self._attempted = self._clock.running()
        self._reschedule(trouble)

    def _reschedule(self, trouble: str) -> None:
        _log.warning("rescheduled", trouble=trouble, attempt=self._attempts, tick_age_seconds=self.age().total_seconds())
        try:
            self._ticking.reschedule()
        except Exception:  # noqa: BLE001 - a trigger raises what it likes; the attempts are counted
            _log.exception("reschedule_failed", trouble=trouble)

    def _clock_was_set(self) -> bool:
        before, self._offset = self._offset, self._measured_offset()
        return abs(self._offset - before) > _DRIFT

    def _measured_offset(self) -> datetime:
        """The wall time at which this process's running time was zero: it stands still while nobody sets the clock."""
        return self._clock.wall() - self._clock.running()

    def _watch(self) -> None:
        while not self._ended.wait(self._interval.total_seconds() / 2):
            self.check()
