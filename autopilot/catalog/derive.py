"""From answers to readings, for every fleet at once."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import chain

from autopilot.catalog import series
from autopilot.catalog.answers import NOT_ASKED, Column, Failure, columns
from autopilot.catalog.coverage import LiveReplica, Scrapes, cover
from autopilot.catalog.judging import Look
from autopilot.catalog.numbers import Line, read
from autopilot.catalog.queries import BASE, MINUTE, Group, Need, Query, Target, groups, idleness, needed
from autopilot.catalog.recipes import RECIPES
from autopilot.catalog.series import Series
from autopilot.catalog.signals import RUNNING
from autopilot.domain.samples import Answer
from autopilot.domain.signals import Entry, Readings
from autopilot.domain.workloads import FleetRef

__all__ = ["Failure", "LiveReplica", "derive"]

# Of the base set, what control and status read replica by replica; readings that nobody takes would be a third of the cost.
_BY_REPLICA = frozenset({Need("up"), Need("running"), Need("running", MINUTE), Need("waiting"), Need("request_rate", MINUTE)})


def derive(
    targets: Sequence[Target],
    answers: Mapping[Query, Answer | Failure],
    live: Mapping[FleetRef, Sequence[LiveReplica]],
    at: float,
) -> Mapping[FleetRef, Readings]:
    """What every fleet's signals read at Unix time `at`: `BASE` and the fleet's own needs.

    `live` are the replicas that the backend calls ready. A query without an answer is a failed one.
    """
    return dict(chain.from_iterable(_group(group, answers, live, at) for group in groups(targets)))


def _group(
    group: Group, answers: Mapping[Query, Answer | Failure], live: Mapping[FleetRef, Sequence[LiveReplica]], at: float
) -> Iterable[tuple[FleetRef, Readings]]:
    found = columns(group, answers)
    scrapes = Scrapes(found[series.UP], found[series.newest(RUNNING)], found[series.OLD], at, group.scrape_interval)
    standing = found[series.stalled(group.scrape_interval)]
    lines: dict[tuple[frozenset[Need], frozenset[Need]], tuple[Line, ...]] = {}
    for target in group.targets:
        alike = target.needs, target.by_replica
        if alike not in lines:
            lines[alike] = tuple(_line(need, target, group, found) for need in sorted(target.wanted, key=_order))
        look = _look(target, group, scrapes, live=live.get(target.fleet, ()), standing=standing)
        yield target.fleet, Readings(tuple(_entries(lines[alike], look)))


def _look(target: Target, group: Group, scrapes: Scrapes, *, live: Sequence[LiveReplica], standing: Column) -> Look:
    pairs = dict(target.identity)
    identity = tuple(pairs[name] for name in group.names)
    coverage = cover(live, scrapes, identity)
    stalled = frozenset(name for name in standing.of(identity) if name in coverage.reporting)
    unseen = standing.gap is not None or standing.warned
    return Look(identity, coverage, group.scrape_interval, None if unseen else stalled, target.peak_bandwidth)


def _line(need: Need, target: Target, group: Group, found: Mapping[Series, Column]) -> Line:
    return Line(
        need=need,
        recipe=RECIPES[need.signal],
        parts=tuple(found.get(wanted, NOT_ASKED) for wanted in needed(need, group)),
        idleness=tuple(found.get(wanted, NOT_ASKED) for wanted in idleness(need, group)),
        window=group.window(need.over) if need.over is not None else None,
        by_replica=need in _BY_REPLICA or need in target.by_replica or need not in BASE,
    )


def _order(need: Need) -> tuple[str, timedelta]:
    return need.signal, need.over or timedelta(0)


def _entries(lines: Iterable[Line], look: Look) -> list[Entry]:
    entries = []
    for line in lines:
        signal, over = line.need.signal, line.need.over
        fleet, replicas = read(line, look)
        entries.append(Entry(signal, over, None, fleet))
        entries += [Entry(signal, over, name, reading) for name, reading in replicas.items()]
    return entries
