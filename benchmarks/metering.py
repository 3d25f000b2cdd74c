"""The daemon's own parts with a meter on each, so that one tick can be told apart by what it does."""

import resource
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from autopilot.adapters.kept import KeptAnswers
from autopilot.catalog.queries import Query
from autopilot.control.audit import Record
from autopilot.daemon.board import Board, Tick
from autopilot.daemon.history import History
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.memory import Memory
from autopilot.domain.samples import Answer
from autopilot.domain.signals import Distribution
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book
from autopilot.ports import Journal, QueryFailed, Source, Store

MINUTE = timedelta(minutes=1)


@dataclass(slots=True)
class Meter:
    """CPU seconds of this process in the parts of one tick, and what was asked and heard in it."""

    cpu: dict[str, float] = field(default_factory=dict)
    queries: int = 0
    late: int = 0
    histograms: int = 0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what is done inside to a part."""
        before = time.process_time()
        yield
        self.cpu[name] = self.cpu.get(name, 0.0) + time.process_time() - before


class MeteredAnswers(KeptAnswers[Query]):
    """The questions of a tick."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    def ask(
        self, sources: Mapping[str, Source], queries: Iterable[Query], *, at: float, deadline_seconds: float
    ) -> Mapping[Query, Answer | QueryFailed]:
        """Ask."""
        with self._meter.part("ask"):
            answers = super().ask(sources, queries, at=at, deadline_seconds=deadline_seconds)
        self._meter.queries = len(answers)
        self._meter.late = sum(isinstance(answer, QueryFailed) for answer in answers.values())
        return answers


class MeteredStore:
    """The memories that a tick saves."""

    def __init__(self, store: Store, meter: Meter) -> None:
        self._store, self._meter = store, meter

    def load(self) -> Mapping[FleetRef, Memory]:
        """Load."""
        return self._store.load()

    def save(self, memories: Mapping[FleetRef, Memory], *, running: timedelta) -> None:
        """Save."""
        with self._meter.part("save"):
            self._store.save(memories, running=running)

    def running(self) -> timedelta:
        """The logical time saved last."""
        return self._store.running()


class MeteredHistory(History):
    """The records that a tick keeps."""

    def __init__(self, journal: Journal, meter: Meter) -> None:
        super().__init__(journal)
        self._meter = meter

    def keep(self, book: Book, records: Sequence[Record], *, wall: datetime) -> None:
        """Keep."""
        with self._meter.part("journal"):
            super().keep(book, records, wall=wall)


class MeteredBoard(Board):
    """What a tick shows. One that heard nothing would be cheap, so that is counted here as well."""

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    def post(self, book: Book, tick: Tick, *, wall: datetime, now: LogicalTime) -> None:
        """Post."""
        with self._meter.part("show"):
            super().post(book, tick, wall=wall, now=now)
        self._meter.histograms = sum(isinstance(one.of("ttft", over=MINUTE), Distribution) for one in tick.sight.readings.values())


def resident_megabytes() -> float:
    """The memory of this process now, in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6


def most_megabytes() -> float:
    """The most memory that this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
