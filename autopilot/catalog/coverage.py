"""Who of a fleet can be heard: the quorum of targets, freshness, and what one series tells with some silent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from math import inf

from autopilot.catalog.answers import Column, Identity
from autopilot.catalog.queries import STALE_AFTER
from autopilot.domain.signals import Gap, Measured, Unknown

SETTLED_AFTER = 3  # scrape intervals: a younger replica is no gap
QUORUM_PERCENT = 80  # of the settled replicas, else the whole fleet is unknown


@dataclass(frozen=True, slots=True)
class LiveReplica:
    """A replica that the backend calls ready, under the name its series carry, and for how long it has been."""

    name: str
    ready_for: timedelta


@dataclass(frozen=True)
class Scrapes:
    """What is known about the scrapes of a group of fleets: when each last worked, who gave samples, whose are old.

    `at` is the Unix time of the questions, `interval` the time between two scrapes.
    """

    up: Column
    running: Column
    old: Column
    at: float
    interval: timedelta

    @cached_property
    def stale_before(self) -> float:
        """The Unix time before which a sample no longer counts."""
        return self.at - STALE_AFTER * self.interval.total_seconds()

    @cached_property
    def settled_after(self) -> timedelta:
        """For how long a replica must have been ready before its silence is a gap."""
        return SETTLED_AFTER * self.interval

    @cached_property
    def shaky(self) -> bool:
        """Whether the coverage itself cannot be seen for certain."""
        return any(column.gap is not None or column.warned for column in (self.up, self.running, self.old))


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which replicas are heard.

    `settled` should be heard, `expected` are those of them whose target is up, `reporting` gave samples that are
    recent; `unheard` is why the other live ones are not. `blind` is why nothing about this fleet is known; `shaky` that the coverage itself could not be seen.
    """

    live: tuple[LiveReplica, ...]
    up: Mapping[str, Measured | Unknown]
    settled: frozenset[str]
    expected: frozenset[str]
    reporting: tuple[str, ...]
    unheard: Mapping[str, Unknown]
    blind: Unknown | None
    shaky: bool

    @property
    def whole(self) -> bool:
        """Whether everybody is heard who should be."""
        return bool(self.reporting) and not self.shaky and self.settled.issubset(self.reporting)


def cover(live: Sequence[LiveReplica], scrapes: Scrapes, identity: Identity) -> Coverage:
    """Judge who is heard. Rows of replicas that are not live are ghosts and never looked at."""
    scraped = scrapes.up.of(identity)
    up = {replica.name: _up(replica.name, scraped.get(replica.name), scrapes) for replica in live}
    settled = frozenset(replica.name for replica in live if replica.ready_for > scrapes.settled_after)
    unasked = scrapes.up.gap is not None
    works = [name for name, reading in up.items() if isinstance(reading, Measured) and reading.value > 0]
    expected = settled if unasked else settled.intersection(works)
    # a replica that has just become ready may not be a target yet
    maybe = [name for name, reading in up.items() if reading is _NO_TARGET and name not in settled]
    targets = list(up) if unasked else works + maybe
    unheard = _unheard(up, targets, scrapes, identity)
    return Coverage(
        live=tuple(live),
        up=up,
        settled=settled,
        expected=expected,
        reporting=tuple(name for name in targets if name not in unheard),
        unheard=unheard,
        blind=_blind(live, settled, expected),
        shaky=scrapes.shaky,
    )


_WORKS, _FAILS = Measured(1.0), Measured(0.0)
_NO_TARGET = Unknown(Gap.ABSENT, "no such target")


def _up(name: str, at: float | None, scrapes: Scrapes) -> Measured | Unknown:
    """`up`: the row is the time of the last scrape, 0 where it failed."""
    if scrapes.up.gap is not None:
        return scrapes.up.gap
    if at is None:
        return _NO_TARGET
    if not 0 <= at < inf:
        return Unknown(Gap.NON_FINITE, name)
    if 0 < at < scrapes.stale_before:
        return Unknown(Gap.STALE, f"{name} was last scraped {scrapes.at - at:.0f} s ago")
    works = _WORKS if at > 0 else _FAILS
    return replace(works, partial=True) if scrapes.up.warned else works


def _unheard(names: Iterable[str], targets: Sequence[str], scrapes: Scrapes, identity: Identity) -> dict[str, Unknown]:
    """Why nothing of a replica counts. An engine always shows how many requests run: who does not, shows nothing."""
    asked, old, running = frozenset(targets), scrapes.old.of(identity), scrapes.running.of(identity)
    unheard = {}
    for name in names:
        if name not in asked:
            unheard[name] = Unknown(Gap.STALE, f"the target of {name} is not up")
        elif name in old:
            unheard[name] = Unknown(Gap.STALE, f"the newest sample of {name} is {old[name]:.0f} s old")
        elif name not in running and scrapes.running.gap is None:
            unheard[name] = Unknown(Gap.ABSENT, f"{name} does not show its running requests")
    return unheard


def _blind(live: Sequence[LiveReplica], settled: frozenset[str], expected: frozenset[str]) -> Unknown | None:
    if not live:
        return Unknown(Gap.ABSENT, "no replica is ready")
    if 100 * len(expected) >= QUORUM_PERCENT * len(settled):
        return None
    missing = sorted(settled - expected)
    return Unknown(Gap.BELOW_QUORUM, f"{len(missing)} of {len(settled)} targets are not up: {', '.join(missing[:5])}")
