"""The daemon: orders the effects of a tick. What is decided is decided by pure functions elsewhere."""

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from autopilot.adapters.telemetry import Telemetry
from autopilot.adapters.workers import ActWorkers, Report
from autopilot.control.audit import Record, notable, record
from autopilot.control.cycle import Cycled, propose, run_all
from autopilot.control.scale_in import after_restart
from autopilot.control.seen import Case, Seen
from autopilot.daemon.board import Board, Tick
from autopilot.daemon.history import History
from autopilot.daemon.inert import Listener
from autopilot.daemon.looking import Eyes, Sight, look
from autopilot.daemon.reporting import report
from autopilot.daemon.warm_ups import WarmUpWith, follow
from autopilot.domain.alerts import AlertState
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Operation, Tell
from autopilot.domain.reports import Report as Claimed
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book, Entry
from autopilot.ports import Clock, StateLost, Store

log = structlog.get_logger()

SAVE_EVERY = timedelta(seconds=30)  # logical time that a crash may lose at most
GRACE_SECONDS = 25.0  # for operations under way when the daemon is told to stop


class Documents(Protocol):
    """Where the fleets and policies in force come from."""

    def book(self) -> Book:
        """The documents in force now; what does not load keeps its last good version."""
        ...


class Calendar(Protocol):
    """Which calendar windows are open."""

    def open_windows(self, entry: Entry, at: datetime) -> tuple[str, ...]:
        """The names of the policy's windows that are open at wall time `at`."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """How the daemon itself runs. `storm_share` in [0, 1] of at least `storm_from` fleets firing is a storm."""

    interval: timedelta
    storm_share: float = 0.5
    storm_from: int = 3


@dataclass(frozen=True, slots=True)
class Rim:
    """Everything the daemon touches the world with."""

    clock: Clock
    eyes: Eyes
    documents: Documents
    calendar: Calendar
    store: Store
    history: History
    workers: ActWorkers
    telemetry: Telemetry
    board: Board
    warm_up_with: WarmUpWith
    claims: Callable[[], Sequence[Claimed]]


class Daemon:
    """One tick at a time, for all fleets."""

    def __init__(self, rim: Rim, settings: Settings, *, memory_lost: bool) -> None:
        self._rim = rim
        self._settings = settings
        self._began = rim.store.running()
        self._memories: dict[FleetRef, Memory] = {}
        self._unsaved_since: LogicalTime = self._began
        self._restarted: set[FleetRef] = set()
        self._seen_before: set[FleetRef] = set()
        self._lost = memory_lost
        self._listener = Listener()
        self._saves(ok=True)  # it was opened to be written
        self._one_at_a_time = threading.Lock()
        with contextlib.suppress(StateLost):
            self._memories = {ref: _woken(memory) for ref, memory in rim.store.load().items()}

    def now(self) -> LogicalTime:
        """Logical time."""
        return self._began + self._rim.clock.running()

    def tick(self) -> None:
        """Look, decide, save, act, record. Never two at once."""
        with self._one_at_a_time:
            self._tick()

    def _tick(self) -> None:
        rim, started = self._rim, self._rim.clock.running()
        book = rim.documents.book()
        back = rim.workers.report()  # before the look: a change that is reported is to be seen, or it looks like another hand's
        now, wall = self.now(), rim.clock.wall()
        fleets = [(entry.fleet, entry.policy) for entry in book.entries]
        sight = look(fleets, rim.eyes, at=wall.timestamp(), deadline=self._settings.interval / 2, reports=rim.claims())
        cases = self._cases(book, sight, back, now=now, wall=wall)
        results = self._decide(cases, book)
        saved = self._save(cases, results, now=now)
        records = [self._record(book, cases[ref], cycled, grant) for ref, (cycled, grant) in saved.items()]
        self._act(cases, saved)
        self._publish(book, records, sight, wall=wall)
        follow(book, sight.readings, rim.warm_up_with)
        rim.telemetry.ticked(rim.clock.running() - started)

    def _cases(self, book: Book, sight: Sight, back: Report, *, now: LogicalTime, wall: datetime) -> dict[FleetRef, Case]:
        storm = self._storm(book)
        cases = {}
        for entry in book.entries:
            ref = entry.fleet.ref
            if ref not in sight.workloads or ref not in sight.readings:
                continue
            seen = Seen(
                now=now,
                interval=self._settings.interval,
                scrape_interval=self._rim.eyes.scrape_intervals[entry.fleet.source],
                readings=sight.readings[ref],
                workload=sight.workloads[ref],
                outcomes=back.outcomes.get(ref, ()),
                executing=tuple(sorted(one for one in back.executing if one.startswith(f"{ref}/"))),
                windows=self._rim.calendar.open_windows(entry, wall),
                restarted=ref not in self._seen_before,
                storm=storm,
                reported=sight.claims.get(ref, ()),
            )
            self._seen_before.add(ref)
            cases[ref] = Case(entry.fleet, entry.policy, self._memory(ref, entry, now), seen)
        return cases

    def _decide(self, cases: Mapping[FleetRef, Case], book: Book) -> dict[FleetRef, tuple[Cycled, int | None]]:
        """Decide for all fleets. A defect that one fleet's story meets leaves that fleet as it is, and the others served."""
        try:
            return run_all(list(cases.values()), book.budgets)
        except Exception:
            log.exception("decision_failed")
            return run_all([case for case in cases.values() if _decidable(case)], book.budgets)

    def _memory(self, ref: FleetRef, entry: Entry, now: LogicalTime) -> Memory:
        known = self._memories.get(ref)
        if known is not None:
            return known
        cooldown = entry.policy.limits.cooldown if entry.policy is not None else ZERO
        return Memory(now=now, hold_until=now + cooldown if self._lost else None)

    def _storm(self, book: Book) -> bool:
        """Whether so many fleets fire at once that the cause must be shared."""
        firing = [self._firing(entry.fleet.ref) for entry in book.entries]
        enough = len(firing) >= self._settings.storm_from
        return enough and sum(firing) >= self._settings.storm_share * len(firing)

    def _firing(self, ref: FleetRef) -> bool:
        memory = self._memories.get(ref)
        return memory is not None and any(alert.state is AlertState.FIRING for alert in memory.alerts)

    def _save(
        self, cases: Mapping[FleetRef, Case], results: Mapping[FleetRef, tuple[Cycled, int | None]], *, now: LogicalTime
    ) -> dict[FleetRef, tuple[Cycled, int | None]]:
        """Save what changed, every intent before its act. If that fails nothing is done, and nothing is forgotten."""
        due = now - self._unsaved_since >= SAVE_EVERY
        changed = {
            ref: cycled.memory
            for ref, (cycled, grant) in results.items()
            if due or cycled.acts or notable(record(cases[ref], cycled, granted=grant, documents=""))
        }
        try:
            if changed or due:
                self._rim.store.save(changed, running=now)
                self._unsaved_since = now
                self._saves(ok=True)
        except StateLost as error:
            log.error(  # noqa: TRY400 - a full disk is no bug of ours: its own words are enough
                "state_unsaved", error=str(error), acts_dropped=sum(len(cycled.acts) for cycled, _ in results.values())
            )
            if self._saving:
                self._tell_unsaved(cases.values(), error, now=now)
            self._saves(ok=False)
            results = {ref: (cycled.unsaved(cases[ref].memory), grant) for ref, (cycled, grant) in results.items()}
        self._memories.update({ref: cycled.memory for ref, (cycled, _) in results.items()})
        return dict(results)

    def _saves(self, *, ok: bool) -> None:
        self._saving = ok
        self._rim.telemetry.state_saved(ok=ok)

    def _tell_unsaved(self, cases: Iterable[Case], error: StateLost, *, now: LogicalTime) -> None:
        """Tell people, once, that nothing is done any more. Without an intent: that could not be saved either."""
        key, title = f"state/unsaved/{now.total_seconds():.0f}", "the state cannot be saved: nothing is changed until it can"
        chosen = {case.policy.receivers: case.fleet for case in cases if case.policy is not None and case.policy.receivers}
        for receivers, fleet in chosen.items():
            message = Operation(f"{fleet.ref}/unsaved", fleet.ref, Verb.NOTIFY, Tell(receivers, key, title, str(error)))
            self._rim.workers.take(fleet.backend, [message])

    def _act(self, cases: Mapping[FleetRef, Case], results: Mapping[FleetRef, tuple[Cycled, int | None]]) -> None:
        for ref, (cycled, _) in results.items():
            if cycled.acts:
                self._rim.workers.take(cases[ref].fleet.backend, [act.operation for act in cycled.acts])

    def _record(self, book: Book, case: Case, cycled: Cycled, grant: int | None) -> Record:
        return record(case, cycled, granted=grant, documents=book.hash_of(case.fleet.ref))

    def _publish(self, book: Book, records: list[Record], sight: Sight, *, wall: datetime) -> None:
        self._rim.history.keep(book, records, wall=wall)
        inert = self._listener.take(book, records, frozenset(self._rim.eyes.backends))
        self._rim.board.post(book, Tick(records, sight, inert), wall=wall, now=self.now())
        report(self._rim.telemetry, book, records, sight, inert)

    def stop(self) -> None:
        """Start nothing more, finish what is under way, leave the fleets serving."""
        ended = self._rim.workers.close(within_seconds=GRACE_SECONDS)
        with self._one_at_a_time, contextlib.suppress(StateLost):
            self._rim.store.save(self._memories, running=self.now())
        log.info("stopped", operations_finished=ended)


def _decidable(case: Case) -> bool:
    try:
        propose(case)
    except Exception:
        log.exception("fleet_left_out", fleet=str(case.fleet.ref))
        return False
    return True


def _woken(memory: Memory) -> Memory:
    """A memory as a new process takes it up: what needs an unbroken look begins again."""
    return replace(memory, level=after_restart(memory.level))
