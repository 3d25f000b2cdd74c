"""Answers, sorted by fleet: each row is looked at once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

from autopilot.catalog.queries import Group, Query
from autopilot.catalog.series import Series, Split
from autopilot.domain.samples import Answer, NativeSample
from autopilot.domain.signals import Gap, Unknown

Identity: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a query has no answer. `detail` is for people."""

    gap: Gap
    detail: str = ""


@dataclass(frozen=True, slots=True, eq=False)  # told apart by identity: what was made of one is found again by it
class Column:
    """The answer to one query: for each fleet its rows by replica or by edge, and its native histogram.

    `gap` is set when there is no answer; `warned` says that the source itself calls the answer incomplete.
    """

    rows: Mapping[Identity, Mapping[str, float]] = field(default_factory=dict)
    gap: Unknown | None = None
    warned: bool = False
    natives: Mapping[Identity, NativeSample] = field(default_factory=dict)

    def of(self, identity: Identity) -> Mapping[str, float]:
        """The rows of one fleet."""
        return self.rows.get(identity, _NONE)


_NONE: Mapping[str, float] = {}
NOT_ASKED = Column(gap=Unknown(Gap.QUERY_FAILED, "was not asked"))


def columns(group: Group, answers: Mapping[Query, Answer | Failure]) -> Mapping[Series, Column]:
    """Every answer that belongs to these fleets."""
    return {series: column(query, answers.get(query)) for series, query in group.queries().items()}


def column(query: Query, answer: Answer | Failure | None) -> Column:
    """One answer, sorted."""
    match answer:
        case None:
            return NOT_ASKED
        case Failure(gap=gap, detail=detail):
            return Column(gap=Unknown(gap, detail))
        case Answer():
            return _read(query, answer)


def _read(query: Query, answer: Answer) -> Column:
    """Native histograms stand beside the rows by edge; where observations are counted, each is a row with their number."""
    labels = query.labels
    rows = _sorted(labels, ((found, value) for found, value, _ in answer.samples))
    natives: dict[Identity, NativeSample] = {}
    if query.series.split is Split.OBSERVATIONS:
        for replica, row in _sorted(labels, ((native.labels, native.observations) for native in answer.natives)).items():
            rows.setdefault(replica, {}).update(row)
    elif query.series.split is Split.EDGE:
        natives = {tuple(native.labels.get(label, "") for label in labels[:-1]): native for native in answer.natives}
    return Column(rows=rows, warned=bool(answer.warnings), natives=natives)


def _sorted(labels: tuple[str, ...], found: Iterable[tuple[Mapping[str, str], float]]) -> dict[Identity, dict[str, float]]:
    rows: defaultdict[Identity, dict[str, float]] = defaultdict(dict)
    pick = itemgetter(*labels)  # of at least two labels: always a tuple
    for pairs, value in found:
        try:
            key: tuple[str, ...] = pick(pairs)
        except KeyError:  # Prometheus leaves out a label whose value is empty
            key = tuple(pairs.get(label, "") for label in labels)
        rows[key[:-1]][key[-1]] = value
    return rows
