"""Answers that are used again for a while: what changes with a rollout only need not be asked every few seconds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

from autopilot.adapters.queries import Query, ask
from autopilot.domain.samples import Answer
from autopilot.ports import QueryFailed, Source


class KeptQuery(Query, Protocol):
    """A question that says for how long its answer may be used again instead of asking; zero for never."""

    @property
    def keep(self) -> timedelta:
        """How long."""
        ...


# A question that is seldom asked is a dear one: a server that cannot answer it is not asked again on the next tick.
DEAR = timedelta(minutes=1)
AGAIN = timedelta(seconds=30)

Q = TypeVar("Q", bound=KeptQuery)


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer of Unix time `at`."""

    answer: Answer | QueryFailed
    at: float
    keep: timedelta

    def good(self, now: float) -> bool:
        """Whether it may be used again. Not by a clock that was set back: nobody knows how old it is then."""
        return 0 <= now - self.at < self.keep.total_seconds()


class KeptAnswers(Generic[Q]):
    """Asks what is not known already. For one thread at a time."""

    def __init__(self) -> None:
        self._kept: dict[Q, _Kept] = {}

    def ask(
        self, sources: Mapping[str, Source], queries: Iterable[Q], *, at: float, deadline_seconds: float
    ) -> Mapping[Q, Answer | QueryFailed]:
        """As `queries.ask`. An answer with warnings is never used again, and neither is a failure, but for `AGAIN` that of a dear question."""
        asked = dict.fromkeys(queries)
        known = {query: kept for query, kept in self._kept.items() if query in asked and kept.good(at)}
        fresh = ask(sources, [query for query in asked if query not in known], at=at, deadline_seconds=deadline_seconds)
        self._kept = known | {query: _Kept(answer, at, _worth(answer, query.keep)) for query, answer in fresh.items()}
        return {query: known[query].answer if query in known else fresh[query] for query in asked}


def _worth(answer: Answer | QueryFailed, keep: timedelta) -> timedelta:
    """For how long an answer may be used again."""
    if isinstance(answer, QueryFailed):
        return AGAIN if keep > DEAR else timedelta(0)
    return timedelta(0) if answer.warnings else keep
