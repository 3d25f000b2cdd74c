"""Asking many queries at once under one deadline, so that one that hangs harms itself alone."""

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.sockets import Deadline, OutOfTimeError
from autopilot.domain.samples import Answer
from autopilot.ports import QueryFailed, QueryLate, Source

WORKERS = 4  # queries at once: enough to hide the network, few enough not to be the load
PATIENCE = 0.5  # of the shared deadline is the most that the last free worker is held, so that those who wait have their turn


class Query(Protocol):
    """A question for one named source. Equal questions are asked once."""

    @property
    def source(self) -> str:
        """The name of the source."""
        ...

    @property
    def promql(self) -> str:
        """The question."""
        ...


Q = TypeVar("Q", bound=Query)


def ask(
    sources: Mapping[str, Source], queries: Iterable[Q], *, at: float, deadline_seconds: float, workers: int = WORKERS
) -> Mapping[Q, Answer | QueryFailed]:
    """The answer or the failure of every query, in their order, at Unix time `at`.

    Returns within `deadline_seconds` (+0.2 s), with QueryLate for what was not answered by then. A query may take
    all of that while a worker is free for the others, and half of it on the last one: put the dearest first.
    Never raises. Its threads end when their sources keep their deadlines.
    """
    asked = dict.fromkeys(queries)
    workers = min(workers, len(asked))
    round_ = _Round(sources, asked, at=at, deadline_seconds=deadline_seconds, workers=workers)
    for number in range(workers):
        threading.Thread(target=round_.work, name=f"query {number}", daemon=True).start()
    answers = round_.wait()
    return {query: answers.get(query) or _late(query, deadline_seconds) for query in asked}


class _Round(Generic[Q]):
    """The queries of one call of `ask`, shared by its workers."""

    def __init__(self, sources: Mapping[str, Source], queries: Iterable[Q], *, at: float, deadline_seconds: float, workers: int) -> None:
        self._sources = sources
        self._waiting = list(queries)
        self._total = len(self._waiting)
        self._workers = workers
        self._busy: Counter[str] = Counter()
        self._late: Counter[str] = Counter()
        self._answers: dict[Q, Answer | QueryFailed] = {}
        self._news = threading.Condition()
        self._at = at
        self._seconds = deadline_seconds
        self._deadline = Deadline.after(deadline_seconds, SystemClock())

    def wait(self) -> Mapping[Q, Answer | QueryFailed]:
        """What was answered in time; nothing new is asked after that."""
        with self._news:
            self._news.wait_for(lambda: len(self._answers) == self._total, timeout=self._seconds)
            self._waiting.clear()
            return dict(self._answers)

    def work(self) -> None:
        """Ask until nothing is waiting."""
        while (turn := self._next()) is not None:
            query, patience = turn
            answer = self._ask(query, patience)
            with self._news:
                self._busy[query.source] -= 1
                self._late[query.source] += isinstance(answer, QueryLate)
                self._answers[query] = answer
                self._news.notify_all()

    def _next(self) -> tuple[Q, float] | None:
        """The first query of the source that was late least often, then has the fewest workers; and the seconds that it may take.

        A frozen source cannot hold all workers while another has work.
        """
        with self._news:
            if not self._waiting:
                return None
            query = min(self._waiting, key=lambda query: (self._late[query.source], self._busy[query.source]))
            self._waiting.remove(query)
            last = self._busy.total() >= self._workers - 1
            self._busy[query.source] += 1
            return query, self._seconds * (PATIENCE if last else 1.0)

    def _ask(self, query: Q, patience: float) -> Answer | QueryFailed:
        source = self._sources.get(query.source)
        if source is None:
            return QueryFailed(f"query {query.promql[:200]!r}: there is no source {query.source!r}; name one of {sorted(self._sources)}")
        try:
            seconds = min(self._deadline.remaining_seconds(), patience)
            return source.instant(query.promql, at=self._at, deadline_seconds=seconds)
        except OutOfTimeError:
            return _late(query, self._seconds)
        except QueryFailed as error:
            return error
        except Exception as error:  # noqa: BLE001 - a bug met in one answer must not blind the other fleets
            return QueryFailed(f"query {query.promql[:200]!r}: {type(error).__name__}: {error}; this is a defect of the program, report it")


def _late(query: Query, seconds: float) -> QueryLate:
    return QueryLate(f"query {query.promql[:200]!r}: not answered within {seconds:g} s; {query.source!r} is slow or asked too much")
