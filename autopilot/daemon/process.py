"""The process: threads, signals, the web server, and an exit code that says how it ended."""

import gc
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from types import FrameType

import structlog

from autopilot.adapters.scheduler import Ticker
from autopilot.adapters.token_file import TokenFile
from autopilot.adapters.watchdog import DEAD, Watchdog
from autopilot.daemon.assembly import Assembled
from autopilot.policy.daemon import DaemonConfig
from autopilot.web.app import Doors, make_app
from autopilot.web.server import WebServer
from autopilot.web.webhook import AlertsDoor, Pace

log = structlog.get_logger()

SHORTLY = timedelta(seconds=5)  # for a thread to end
GC_THRESHOLD = 1_000_000  # objects: a tick of 1,000 fleets has 400,000 at once, and looking for cycles is a seventh of its cost
SWEEP_EVERY = timedelta(minutes=1)  # between ticks instead, when little is alive: 0.1 s at that size
BREATH = timedelta(seconds=0.5)  # between two ticks at least: a flood of hints must not keep the loop going round
LISTEN = timedelta(seconds=0.5)  # how soon a signal is noticed between two ticks


@dataclass(frozen=True, slots=True)
class Process:
    """A daemon with everything that keeps it running."""

    assembled: Assembled
    config: DaemonConfig
    on_listening: Callable[[str, int], None]

    def run(self) -> int:
        """Run until a signal. Returns the exit code: 0 after SIGTERM or SIGINT; a dead loop leaves with 70."""
        with self.assembled.closing:
            web = WebServer(make_app(self._doors()), self.config.http.host, self.config.http.port)
            web.start()
            self.on_listening(self.config.http.host, web.port)
            try:
                self._loop()
            finally:
                web.stop(SHORTLY.total_seconds())
        return 0

    def _loop(self) -> None:
        stopping = threading.Event()
        _on_signal(stopping)
        gc.set_threshold(GC_THRESHOLD)
        tokens = self.assembled.tokens
        ticker = Ticker(self.config.interval, tokens, self.assembled.rim.telemetry.scheduler_trouble)
        watchdog = Watchdog(ticker, self.config.interval, self.assembled.rim.clock, _dead)
        ticker.start()
        watchdog.start()
        swept = self.assembled.rim.clock.running()
        breath = min(BREATH, self.config.interval / 4).total_seconds()
        log.info("started", interval_seconds=self.config.interval.total_seconds(), policies=list(self.config.policies))
        try:
            while not stopping.is_set():
                if tokens.take(LISTEN) is not None and not stopping.is_set():
                    self._tick(watchdog)
                    stopping.wait(breath)
                    swept = self._swept(swept)
        finally:
            watchdog.stop(SHORTLY)
            ticker.stop(SHORTLY)
            self.assembled.daemon.stop()

    def _tick(self, watchdog: Watchdog) -> None:
        """A tick that fails for a bug of ours is not completed: the watchdog counts, health goes bad, and the fleet serves on."""
        try:
            self.assembled.daemon.tick()
        except Exception:
            log.exception("tick_failed")
        else:
            watchdog.tick_completed()

    def _swept(self, before: timedelta) -> timedelta:
        """Drop what only cycles keep alive, once a minute. Returns when that was done last."""
        now = self.assembled.rim.clock.running()
        if now - before < SWEEP_EVERY:
            return before
        gc.collect()
        return now

    def _doors(self) -> Doors:
        rim, daemon = self.assembled.rim, self.assembled.daemon
        return Doors(
            board=rim.board,
            history=rim.history,
            now=daemon.now,
            interval=self.config.interval,
            metrics=rim.telemetry.render,
            ready=self._not_ready,
            records=lambda fleet, last: self.assembled.journal.read(fleet, last=last),
            alerts=self._alerts_door(),
        )

    def _alerts_door(self) -> AlertsDoor:
        rim, file = self.assembled.rim, self.config.http.alerts_token_file
        admits = TokenFile(Path(file)).accepts if file is not None else _only_if(open_to_all=_is_loopback(self.config.http.host))
        telemetry = rim.telemetry
        return AlertsDoor(
            self.assembled.reports.enqueue, admits, Pace(rim.clock.running), telemetry.webhook_answered, telemetry.reports_taken
        )

    def _not_ready(self) -> tuple[str, ...]:
        """Why the daemon cannot do its work yet."""
        status = self.assembled.rim.board.read().daemon
        reasons = [] if status.ticks else ["no tick was completed yet"]
        reasons += [f"source {name} does not answer" for name, source in self.assembled.sources.items() if not source.ready()]
        return tuple(reasons)


def _only_if(*, open_to_all: bool) -> Callable[[str], bool]:
    """Without tokens: everybody on this machine, or nobody at all."""
    return lambda _: open_to_all


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _on_signal(stopping: threading.Event) -> None:
    def stop(number: int, _: FrameType | None) -> None:
        log.info("stopping", signal=signal.Signals(number).name)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def _dead() -> None:
    """The loop cannot be got going again: leave at once, so that a supervisor starts a new process. The fleet serves on."""
    os._exit(DEAD)
