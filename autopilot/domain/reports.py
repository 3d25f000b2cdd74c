"""What another evaluator reports of its alerts: a hint, taken in once, never believed without a look of our own (law 12)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import assert_never

LIFE = timedelta(days=1)  # a claim that was not repeated for so long is over: Alertmanager repeats it every 4 h unless told otherwise


class ReportStatus(StrEnum):
    """As Alertmanager writes it."""

    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True)
class Report:
    """One alert of one webhook. `labels` are sorted; `by` is the address of the Alertmanager that sent it.

    `ends_at` is None while it fires.
    """

    fingerprint: str
    name: str
    labels: tuple[tuple[str, str], ...]
    status: ReportStatus
    starts_at: datetime
    ends_at: datetime | None = None
    by: str = ""

    def carries(self, identity: Iterable[tuple[str, str]]) -> bool:
        """Whether it is about the fleet whose series carry these label pairs, every one of them."""
        mine = dict(self.labels)
        return all(mine.get(name) == value for name, value in identity)


class Taken(StrEnum):
    """What became of a report."""

    FRESH = "fresh"  # it fires, and nobody had said so
    CLOSED = "closed"  # it ended what was claimed to fire, or came before the claim that it ends
    DUPLICATE = "duplicate"
    STALE = "stale"  # of an episode that is over


def take(report: Report, known: Report | None) -> Taken:
    """Take a report in against the newest one of the same alert. Reports may come twice and in any order.

    An episode is told by its start, and one that was closed stays closed: a *firing* that comes after its
    *resolved* is old news. A *resolved* also closes an episode that began while its own still lasted: two
    Alertmanagers may know one episode by two starts.
    """
    if known is None:
        return _first(report)
    if report.starts_at > known.starts_at:
        return _first(report)
    if report.starts_at == known.starts_at and report.status is known.status:
        return Taken.DUPLICATE
    if report.status is ReportStatus.RESOLVED and known.status is ReportStatus.FIRING and _ends(report, known):
        return Taken.CLOSED
    return Taken.STALE


def _first(report: Report) -> Taken:
    match report.status:
        case ReportStatus.FIRING:
            return Taken.FRESH
        case ReportStatus.RESOLVED:
            return Taken.CLOSED
    assert_never(report.status)


def _ends(resolved: Report, known: Report) -> bool:
    same = resolved.starts_at == known.starts_at
    return same or (resolved.ends_at is not None and resolved.ends_at > known.starts_at)


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody claims of one fleet: this alert fires since then. `by` is who said so."""

    name: str
    since: datetime
    by: str = ""


def claims_on(reports: Iterable[Report], identity: Mapping[str, str] | tuple[tuple[str, str], ...]) -> tuple[Claim, ...]:
    """The claims among these reports that are about one fleet, each once, in a stable order."""
    pairs = tuple(identity.items()) if isinstance(identity, Mapping) else identity
    found = {
        Claim(report.name, report.starts_at, report.by)
        for report in reports
        if report.status is ReportStatus.FIRING and report.carries(pairs)
    }
    return tuple(sorted(found, key=lambda claim: (claim.name, claim.since, claim.by)))
