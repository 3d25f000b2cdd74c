"""A story played on the simulator, kept as the daemon keeps it: what the web and the command line are tested on."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path

from autopilot.adapters.journal import Retention, SqliteJournal, open_journal
from autopilot.control.audit import Documents, Record, notable
from autopilot.control.codec import encode
from autopilot.daemon.board import Board, Tick
from autopilot.daemon.history import History
from autopilot.daemon.looking import Sight
from autopilot.domain.reports import Report, Taken
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book, Entry
from autopilot.policy.values import Fleet, Policy
from autopilot.ports import Line, Overloaded
from autopilot.simulation.arrivals import steps
from autopilot.web.app import Doors, make_app
from autopilot.web.server import WebServer
from autopilot.web.webhook import AlertsDoor, Pace
from tests.support.clocks import NOON
from tests.support.policies import closed_loop
from tests.unit.control.stories.scenes import at, player, scene

SECOND = timedelta(seconds=1)
INTERVAL = 5 * SECOND
BURST = "llm/chat#1"  # the remediation of `burst`: `queued` fires at 5 min 15 s and is helped by 7 min
BURST_OPENS, BURST_CLOSES = at(315), at(420)
DOCUMENTS = "played"  # the hash under which the player's records name their documents


@dataclass(frozen=True, slots=True)
class Played:
    """A fleet, its policy and every record of its story."""

    fleet: Fleet
    policy: Policy | None
    records: tuple[Record, ...]

    @property
    def book(self) -> Book:
        return Book(entries=(Entry(self.fleet, self.policy),))

    def until(self, moment: timedelta) -> "Played":
        return Played(self.fleet, self.policy, tuple(record for record in self.records if record.seen.now <= moment))


@cache
def burst() -> Played:
    """One replica, then five times the load: an alert, a scale-out that helps, calm again."""
    story = player(closed_loop(), scene(steps((0.0, 3.0), (300.0, 14.0)), seconds=600)).run(at(600))
    return Played(story.fleet, story.policy, tuple(story.records))


@cache
def quiet() -> Played:
    """Two replicas with little to do."""
    story = player(closed_loop(), scene(steps((0.0, 3.0)), seconds=180, replicas=2)).run(at(180))
    return Played(story.fleet, story.policy, tuple(story.records))


def line(record: Record) -> Line:
    open_ = record.after.remediation
    return Line(
        record.fleet,
        record.seen.now,
        NOON + record.seen.now,
        encode(record, Record),
        open_.id if open_ is not None else "",
        notable(record),
    )


def lines(story: Played) -> tuple[Line, ...]:
    return tuple(line(record) for record in story.records)


@contextmanager
def journal_at(path: Path, story: Played) -> Iterator[SqliteJournal]:
    """The story in a journal: every tick, with its documents. It stays open, as it is beside a running daemon."""
    opened = open_journal(path, Retention(), on_failure=lambda _: None).journal
    opened.remember_policy(DOCUMENTS, encode(Documents(story.fleet, story.policy), Documents))
    opened.append(lines(story))
    try:
        yield opened
    finally:
        opened.close()


def posted(board: Board, story: Played, *, book: Book | None = None, sight: Sight | None = None) -> None:
    """The story's last tick on a board."""
    last = story.records[-1]
    seen = sight if sight is not None else Sight({}, {}, (), 7)
    board.post(book if book is not None else story.book, Tick([last], seen), wall=NOON + last.seen.now, now=last.seen.now)


def told(history: History, story: Played) -> None:
    """The story, tick by tick."""
    for record in story.records:
        history.keep(story.book, [record], wall=NOON + record.seen.now)


class NoJournal:
    """Port `Journal` where nothing is kept."""

    def append(self, lines: Sequence[Line]) -> None: ...

    def remember_policy(self, hash_: str, text: str) -> None: ...

    def policy(self, hash_: str) -> str | None:  # noqa: ARG002 - the signature is the port's
        return None

    def read(self, fleet: FleetRef | None = None, *, last: int = 100) -> Sequence[Line]:  # noqa: ARG002
        return ()


def nobody_hears(_: Sequence[Report]) -> "Future[Counter[Taken]]":
    """Nothing is kept here."""
    raise Overloaded("closed")


@dataclass(slots=True)
class House:
    """The doors of a daemon that is not there, and what can be turned about it."""

    board: Board
    history: History
    now: timedelta = timedelta()
    reasons: tuple[str, ...] = ()
    metrics: bytes = b"autopilot_ticks_total 3.0\n"
    lines: tuple[Line, ...] = ()
    error: Exception | None = None
    reader: Callable[[FleetRef | None, int], Sequence[Line]] | None = None
    enqueue: Callable[[Sequence[Report]], "Future[Counter[Taken]]"] = nobody_hears
    admits: Callable[[str], bool] = bool
    answers: list[int] = field(default_factory=list)
    taken: list[Mapping[Taken, int]] = field(default_factory=list)

    def doors(self) -> Doors:
        return Doors(
            board=self.board,
            history=self.history,
            now=lambda: self.now,
            interval=INTERVAL,
            metrics=lambda: self.metrics,
            ready=lambda: self.reasons,
            records=self._records,
            alerts=AlertsDoor(self.enqueue, self.admits, Pace(lambda: self.now), self.answers.append, self.taken.append),
        )

    def _records(self, fleet: FleetRef | None, last: int) -> Sequence[Line]:
        if self.error is not None:
            raise self.error
        if self.reader is not None:
            return self.reader(fleet, last)
        return [one for one in self.lines if fleet in (None, one.fleet)][-last:]


def house(story: Played | None = None) -> House:
    """A house in which a story was played, or in which nothing happened yet."""
    made = House(Board(), History(NoJournal()))
    if story is not None:
        posted(made.board, story)
        told(made.history, story)
        made.lines = lines(story)
        made.now = story.records[-1].seen.now
    return made


@contextmanager
def serving(inside: House) -> Iterator[str]:
    """A real server on a free port; its address."""
    server = WebServer(make_app(inside.doors()), "127.0.0.1", 0)
    server.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.stop(within_seconds=5)
