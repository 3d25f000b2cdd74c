"""Our own look at alerts that somebody else evaluates: their series in the fleet's source, never the webhook's word.

A question is made of the names in policies and of the fleets' own labels alone. What a webhook said decides
only whether the past is asked for, and how an absent series is read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from autopilot.catalog.answers import NOT_ASKED, Column, Failure, column
from autopilot.catalog.queries import Query
from autopilot.catalog.selectors import checked_label, matcher
from autopilot.catalog.series import Series
from autopilot.domain.reports import LIFE, Claim
from autopilot.domain.samples import Answer
from autopilot.domain.signals import Entry, Gap, Measured, Reading, Unknown
from autopilot.domain.workloads import FleetRef

ALERT_NAME = "alertname"
# Prometheus stamps samples with whole milliseconds, and Alertmanager writes nanoseconds.
MILLISECOND = 0.001


@dataclass(frozen=True, slots=True)
class Watched:
    """A fleet, and the alerts of other evaluators that its policy names.

    `claims` are what webhooks say about the fleet. Raises ValueError for labels that Prometheus would not take.
    """

    fleet: FleetRef
    source: str
    identity: tuple[tuple[str, str], ...]
    alerts: frozenset[str]
    claims: tuple[Claim, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Refuse what would match everything."""
        if not [checked_label(name) for name, _ in self.identity] or not self.alerts:
            message = f"{self.fleet}: an alert is looked for by its name and by at least one label of the fleet"
            raise ValueError(message)

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that tell the fleet apart."""
        return tuple(sorted(name for name, _ in self.identity))

    @property
    def values(self) -> tuple[str, ...]:
        """Their values, in the same order."""
        pairs = dict(self.identity)
        return tuple(pairs[name] for name in self.names)

    @property
    def claimed(self) -> frozenset[str]:
        """The alerts it names that somebody claims to fire."""
        return self.alerts & {claim.name for claim in self.claims}


@dataclass(frozen=True, slots=True)
class _Asked:
    """Two questions for fleets that can share them: what fires, and when what is claimed to fire last did."""

    firing: Query
    past: Query | None


def alert_queries(watched: Sequence[Watched]) -> tuple[Query, ...]:
    """One question for all fleets of a source that are told apart by the same labels; a second while there are claims."""
    asked = [_asked(members) for members in _alike(watched)]
    return tuple(query for pair in asked for query in (pair.firing, pair.past) if query is not None)


def alert_entries(watched: Sequence[Watched], answers: Mapping[Query, Answer | Failure]) -> Mapping[FleetRef, tuple[Entry, ...]]:
    """What every named alert reads: 1 fires, 0 does not, or unknown."""
    found: dict[FleetRef, tuple[Entry, ...]] = {}
    for members in _alike(watched):
        asked = _asked(members)
        firing = column(asked.firing, answers.get(asked.firing))
        past = column(asked.past, answers.get(asked.past)) if asked.past is not None else NOT_ASKED
        for one in members:
            found[one.fleet] = tuple(Entry(entry_name(name), None, None, _reading(one, name, firing, past)) for name in sorted(one.alerts))
    return found


def entry_name(alert: str) -> str:
    """Under what name the reading of an alert is kept. No signal has a colon in its name."""
    return f"alertmanager:{alert}"


def _alike(watched: Iterable[Watched]) -> list[tuple[Watched, ...]]:
    found: dict[tuple[str, tuple[str, ...]], list[Watched]] = {}
    for one in watched:
        found.setdefault((one.source, one.names), []).append(one)
    return [tuple(members) for members in found.values()]


def _asked(members: Sequence[Watched]) -> _Asked:
    claimed = [one for one in members if one.claimed]
    firing = _query(members, frozenset().union(*(one.alerts for one in members)), "ALERTS{MATCH}")
    if not claimed:
        return _Asked(firing, None)
    # A step of a minute: an episode that no step met stays unknown until Alertmanager calls it resolved.
    last = f"max_over_time(timestamp(ALERTS{{MATCH}})[{LIFE.total_seconds():.0f}s:1m])"
    return _Asked(firing, _query(claimed, frozenset().union(*(one.claimed for one in claimed)), last))


def _query(members: Sequence[Watched], alerts: frozenset[str], text: str) -> Query:
    names = members[0].names
    pairs = [dict(one.identity) for one in members]
    fleets = [matcher(name, (pair[name] for pair in pairs)) for name in names]
    match = ", ".join([*fleets, matcher(ALERT_NAME, alerts), 'alertstate="firing"'])
    # `replace`, not a template: a label's value may hold whatever a placeholder looks like, but never comes before it
    promql = f"max by ({', '.join([*names, ALERT_NAME])}) ({text.replace('MATCH', match)})"
    return Query(members[0].source, promql, (*names, ALERT_NAME), Series(promql))


def _reading(one: Watched, name: str, firing: Column, past: Column) -> Reading:
    """A series that is there says yes. Its absence says no, but not against a claim about a time that was not looked at."""
    if firing.gap is not None:
        return firing.gap
    if name in firing.of(one.values):
        return Measured(1.0, partial=firing.warned)
    claim = max((claim for claim in one.claims if claim.name == name), key=lambda claim: claim.since, default=None)
    if claim is None or past.of(one.values).get(name, 0.0) >= claim.since.timestamp() - MILLISECOND:
        return Measured(0.0, partial=firing.warned)
    said = f"{claim.by or 'a webhook'} says that it fires since {claim.since.isoformat()}, and {one.source} has not shown it since"
    return Unknown(Gap.ABSENT, said)
