"""Answers that are used again for a while: what changes with a rollout only need not be asked every few seconds."""

from collections.abc import Iterable, Mapping
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


Q = TypeVar("Q", bound=KeptQuery)


class KeptAnswers(Generic[Q]):
    """Asks what is not known already. For one thread at a time."""

    def __init__(self) -> None:
        self._kept: dict[Q, tuple[float, Answer]] = {}

    def ask(
        self, sources: Mapping[str, Source], queries: Iterable[Q], *, at: float, deadline_seconds: float
    ) -> Mapping[Q, Answer | QueryFailed]:
        """As `queries.ask`. A failure, and an answer with warnings, is never used again."""
        asked = dict.fromkeys(queries)
        known = {query: kept for query in asked if (kept := self._kept.get(query)) is not None and 0 <= at - kept[0] < _seconds(query)}
        fresh = ask(sources, [query for query in asked if query not in known], at=at, deadline_seconds=deadline_seconds)
        whole = {query: (at, answer) for query, answer in fresh.items() if _may_be_kept(query, answer) and isinstance(answer, Answer)}
        self._kept = known | whole
        return {query: known[query][1] if query in known else fresh[query] for query in asked}


def _seconds(query: KeptQuery) -> float:
    return query.keep.total_seconds()


def _may_be_kept(query: KeptQuery, answer: Answer | QueryFailed) -> bool:
    return query.keep > timedelta(0) and isinstance(answer, Answer) and not answer.warnings
