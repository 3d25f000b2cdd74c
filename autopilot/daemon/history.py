"""History: records go to the journal, what happened goes to the log line by line and to whoever follows the story."""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from autopilot.control.audit import Documents, Record, notable
from autopilot.control.codec import encode
from autopilot.control.story import StoryLine, story_of
from autopilot.domain.decisions import Hold
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book
from autopilot.ports import Journal, Line

log = structlog.get_logger()

QUIET_EVERY = timedelta(minutes=1)  # of ticks on which nothing changed, one a minute is kept
TOLD = 2000  # story lines kept for followers


@dataclass(frozen=True, slots=True)
class Told:
    """One line of one fleet's story. `number` rises by one with each line, so that followers can ask for what is new."""

    number: int
    wall: datetime
    fleet: str
    line: StoryLine


class History:
    """Keeps records and tells the story."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept_at: dict[FleetRef, LogicalTime] = {}
        self._reasons: dict[FleetRef, tuple[tuple[Verb, Reason], ...]] = {}
        self._documents: set[str] = set()
        self._lock = threading.Lock()
        self._told: deque[Told] = deque(maxlen=TOLD)
        self._number = 0

    def keep(self, book: Book, records: Sequence[Record], *, wall: datetime) -> None:
        """Keep what is worth keeping of a tick. Never raises: history must not stop the loop."""
        worth = [record for record in records if self._worth_keeping(record)]
        for record in worth:
            self._remember_documents(book, record)
            self._kept_at[record.fleet] = record.seen.now
            self._tell(record, wall)
        self._journal.append([_line(record, wall) for record in worth])

    def story(self, fleet: str | None = None, *, after: int = 0) -> tuple[Told, ...]:
        """The lines that are newer than number `after`, oldest first."""
        with self._lock:
            return tuple(told for told in self._told if told.number > after and fleet in (None, told.fleet))

    def documents(self, hash_: str) -> str | None:
        """The documents that records refer to by this hash. Raises StateLost."""
        return self._journal.policy(hash_)

    def _worth_keeping(self, record: Record) -> bool:
        kept = self._kept_at.get(record.fleet)
        reasons = tuple((hold.verb, hold.reason) for hold in record.decisions if isinstance(hold, Hold))
        changed = reasons != self._reasons.get(record.fleet)
        self._reasons[record.fleet] = reasons
        return kept is None or changed or notable(record) or record.seen.now - kept >= QUIET_EVERY

    def _remember_documents(self, book: Book, record: Record) -> None:
        if record.documents in self._documents:
            return
        entry = book.by_fleet[record.fleet]
        self._journal.remember_policy(record.documents, encode(Documents(entry.fleet, entry.policy), Documents))
        self._documents.add(record.documents)

    def _tell(self, record: Record, wall: datetime) -> None:
        for line in story_of(record):
            log.info(line.event, fleet=str(record.fleet), remediation=line.remediation, story=line.text)
            with self._lock:
                self._number += 1
                self._told.append(Told(self._number, wall, str(record.fleet), line))


def _line(record: Record, wall: datetime) -> Line:
    remediation = next(iter(_touched(record)), "")
    return Line(record.fleet, record.seen.now, wall, encode(record, Record), remediation, notable(record))


def _touched(record: Record) -> list[str]:
    """The remediations that the tick was about: the open one first, then those that only talk, then those it closed."""
    after = record.after
    known = {one.id for one in record.before.finished}
    closed = [one for one in after.finished if one.id not in known]
    return [one.id for one in (after.remediation, *after.talks, *closed) if one is not None]
