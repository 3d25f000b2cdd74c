"""What webhooks reported, on one machine: an SQLite file of its own, so that a flood never waits for the state's writer.

One thread writes. Everything that came in while it wrote goes into its next transaction (synchronous FULL): a
commit of one report costs as much as one of a thousand.
"""

import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from autopilot.adapters.single_writer import SingleWriter
from autopilot.adapters.sqlite import Change, Database, Layout, open_database, open_to_read
from autopilot.domain.reports import LIFE, Report, ReportStatus, Taken, take
from autopilot.ports import Clock, Overloaded, StateLost

_LAYOUT = Layout(
    version=1,
    tables=(
        """CREATE TABLE reports (fingerprint TEXT PRIMARY KEY, name TEXT NOT NULL, labels TEXT NOT NULL, status TEXT NOT NULL,
           starts_at TEXT NOT NULL, ends_at TEXT, sender TEXT NOT NULL, heard TEXT NOT NULL) WITHOUT ROWID""",
    ),
    synchronous="FULL",
)
_KEEP = "INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_DROP = "DELETE FROM reports WHERE fingerprint = ?"
_ALL = "SELECT fingerprint, name, labels, status, starts_at, ends_at, sender, heard FROM reports ORDER BY heard"

MOST_KEPT = 10_000  # alerts; some 1 kB each in memory
MOST_WAITING = 20_000  # alerts that wait to be written; beyond it the sender is told to come back
SWEEP_EVERY = timedelta(minutes=1)
RENEW = timedelta(minutes=10)  # a repeated claim is written again only that often: it lives for a day


@dataclass(frozen=True, slots=True)
class Kept:
    """A report and when it was last heard, by the wall clock."""

    report: Report
    heard: datetime

    def over(self, at: datetime) -> bool:
        """Whether nobody repeated it for too long. A clock that was set back makes nothing old."""
        return at - self.heard > LIFE


Counted: TypeAlias = "Counter[Taken]"


@dataclass(frozen=True, slots=True)
class _Waiting:
    reports: tuple[Report, ...]
    answer: "Future[Counted]" = field(default_factory=Future)


class SqliteWakes:
    """A hint each: it brings the next look forward, and decides nothing (law 12). Made by `open_wakes`; safe to use from several threads. `on_fresh` is called from the writer's thread.

    Of each alert the newest episode is kept; the alert heard longest ago goes when there are too many, those that are over first.
    """

    def __init__(self, database: Database, writer: SingleWriter, clock: Clock, on_fresh: Callable[[Sequence[Report]], object]) -> None:
        self._database = database
        self._writer = writer
        self._clock = clock
        self._on_fresh = on_fresh
        self._kept = {kept.report.fingerprint: kept for kept in _read(database)}
        self._swept = clock.wall()
        self._queue: deque[_Waiting] = deque()
        self._waiting = 0
        self._closed = False
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="wakes", daemon=True)
        self._thread.start()

    def enqueue(self, reports: Sequence[Report]) -> "Future[Counted]":
        """Take reports in. The future ends once they are on disk, with how many of them came to what, or with StateLost.

        Never waits. Raises Overloaded when too many wait to be written.
        """
        waiting = _Waiting(tuple(reports))
        with self._news:
            if self._closed or self._waiting + len(reports) > MOST_WAITING:
                message = f"{self._waiting} alerts wait to be written; send it again"
                raise Overloaded(message)
            self._waiting += len(reports)
            self._queue.append(waiting)
            self._news.notify()
        return waiting.answer

    def claims(self) -> tuple[Report, ...]:
        """What is claimed to fire, and is not too old to count."""
        return _claims(list(self._kept.values()), self._clock.wall())  # the list is made in one go: the writer goes on

    def waiting(self) -> int:
        """How many alerts wait to be written."""
        return self._waiting

    def close(self) -> None:
        """Write what waits, close the file and let another process have it."""
        with self._news:
            self._closed = True
            self._news.notify()
        self._thread.join()
        self._database.close()
        self._writer.release()

    def _work(self) -> None:
        while batch := self._next():
            # From here on nobody can give up an answer: ending one that was given up would end this thread.
            batch = [waiting for waiting in batch if waiting.answer.set_running_or_notify_cancel()]
            try:
                self._take(batch)
            except StateLost as error:
                for waiting in batch:
                    waiting.answer.set_exception(error)

    def _next(self) -> list[_Waiting]:
        """Everything that waits; nothing once it is closed and written."""
        with self._news:
            self._news.wait_for(lambda: bool(self._queue) or self._closed)
            batch = list(self._queue)
            self._queue.clear()
            self._waiting = 0
            return batch

    def _take(self, batch: Sequence[_Waiting]) -> None:
        """Work out what is new, write it, and only then tell anybody. Raises StateLost."""
        now = self._clock.wall()
        changes: dict[str, Kept] = {}
        counts = [self._count(waiting.reports, changes, now) for waiting in batch]
        fresh = [kept.report for kept in changes.values() if kept.report.status is ReportStatus.FIRING]
        if changes:
            self._write(changes, now)
        if any(count[Taken.FRESH] for count in counts):
            self._on_fresh(fresh)
        for waiting, count in zip(batch, counts, strict=True):
            waiting.answer.set_result(count)

    def _count(self, reports: Iterable[Report], changes: dict[str, Kept], now: datetime) -> Counted:
        count: Counted = Counter()
        for report in reports:
            known = changes.get(report.fingerprint) or self._kept.get(report.fingerprint)
            taken = take(report, known.report if known is not None else None)
            count[taken] += 1
            if taken in (Taken.FRESH, Taken.CLOSED):
                changes[report.fingerprint] = Kept(report, now)
            elif taken is Taken.DUPLICATE and known is not None and now - known.heard > RENEW:
                changes[report.fingerprint] = replace(known, heard=now)
        return count

    def _write(self, changes: dict[str, Kept], now: datetime) -> None:
        gone = self._superfluous(changes, now)
        rows = [_row(kept) for fingerprint, kept in changes.items() if fingerprint not in gone]
        statements: list[Change] = [(_KEEP, rows), (_DROP, [(fingerprint,) for fingerprint in gone])]
        self._database.write([statement for statement in statements if statement[1]])
        self._kept.update(changes)
        for fingerprint in gone:
            del self._kept[fingerprint]

    def _superfluous(self, changes: Mapping[str, Kept], now: datetime) -> set[str]:
        """What has to go: looked for once a minute, and when there is too much."""
        if len(self._kept) + len(changes) <= MOST_KEPT and timedelta() <= now - self._swept < SWEEP_EVERY:
            return set()
        self._swept = now
        return superfluous({**self._kept, **changes}, now)


def open_wakes(path: Path, clock: Clock, on_fresh: Callable[[Sequence[Report]], object]) -> SqliteWakes:
    """Open or create; a file that cannot be read is moved aside: Alertmanager says again what still fires. Raises StateInUse or StateLost."""
    path = path.resolve()
    writer = SingleWriter(path)
    try:
        return SqliteWakes(open_database(path, _LAYOUT).database, writer, clock, on_fresh)
    except BaseException:
        writer.release()
        raise


def read_claims(path: Path, clock: Clock) -> tuple[Report, ...]:
    """What a file claims to fire that a daemon may be writing, changing nothing; nothing where there is none. Raises StateLost."""
    if not path.exists():
        return ()
    now = clock.wall()
    with closing(open_to_read(path, _LAYOUT)) as database:
        return _claims(_read(database), now)


def _claims(kept: Iterable[Kept], now: datetime) -> tuple[Report, ...]:
    return tuple(one.report for one in kept if one.report.status is ReportStatus.FIRING and not one.over(now))


def superfluous(kept: Mapping[str, Kept], now: datetime) -> set[str]:
    """What is too old, and of the rest what is too much: what is over first, then what was heard longest ago.

    Where there is too much a tenth goes at once, so that a flood does not sort them all for every alert.
    """
    gone = {fingerprint for fingerprint, one in kept.items() if one.over(now)}
    spare = len(kept) - len(gone) - MOST_KEPT
    if spare > 0:
        spare += MOST_KEPT // 10
        left = (fingerprint for fingerprint in kept if fingerprint not in gone)
        ordered = sorted(left, key=lambda one: (kept[one].report.status is ReportStatus.FIRING, kept[one].heard))
        gone.update(ordered[:spare])
    return gone


def _row(kept: Kept) -> tuple[str | None, ...]:
    report = kept.report
    ends = report.ends_at.isoformat() if report.ends_at is not None else None
    begins = report.starts_at.isoformat()
    labels = json.dumps(report.labels)
    return report.fingerprint, report.name, labels, report.status.value, begins, ends, report.by, kept.heard.isoformat()


def _read(database: Database) -> list[Kept]:
    try:
        return [_kept(*row) for row in database.rows(_ALL)]
    except (ValueError, TypeError) as error:
        message = f"a report that is kept cannot be read: {error}"
        raise StateLost(message) from error


def _kept(*row: Any) -> Kept:
    fingerprint, name, labels, status, starts_at, ends_at, by, heard = row
    pairs = tuple((str(key), str(value)) for key, value in json.loads(labels))
    ends = datetime.fromisoformat(ends_at) if ends_at is not None else None
    report = Report(fingerprint, name, pairs, ReportStatus(status), datetime.fromisoformat(starts_at), ends, by)
    return Kept(report, datetime.fromisoformat(heard))
