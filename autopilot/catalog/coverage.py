"""Who of a fleet can be heard: the quorum of targets, freshness, and what one series tells with some silent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
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


@dataclass(frozen=True, slots=True)
class Scrapes:
    """What is known about the scrapes of a group of fleets: when each last worked, who gave samples, whose are old.

    `at` is the Unix time of the questions, `interval` the time between two scrapes.
    """

    up: Column
    running: Column
    old: Column
    at: float
    interval: timedelta

    def recent(self, sampled_at: float) -> bool:
        """Whether a sample of this Unix time still counts."""
        return self.at - sampled_at <= STALE_AFTER * self.interval.total_seconds()


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
    up = {replica.name: _up(replica.name, scrapes, identity) for replica in live}
    settled = frozenset(replica.name for replica in live if replica.ready_for > SETTLED_AFTER * scrapes.interval)
    unasked = scrapes.up.gap is not None
    works = [name for name, reading in up.items() if isinstance(reading, Measured) and reading.value > 0]
    expected = settled if unasked else settled.intersection(works)
    # a replica that has just become ready may not be a target yet
    maybe = [name for name, reading in up.items() if reading == _NO_TARGET and name not in settled]
    targets = list(up) if unasked else works + maybe
    unheard = {name: reason for name in up if (reason := _unheard(name, targets, scrapes, identity)) is not None}
    return Coverage(
        live=tuple(live),
        up=up,
        settled=settled,
        expected=expected,
        reporting=tuple(name for name in targets if name not in unheard),
        unheard=unheard,
        blind=_blind(live, settled, expected),
        shaky=any(column.gap is not None or column.warned for column in (scrapes.up, scrapes.running, scrapes.old)),
    )


_NO_TARGET = Unknown(Gap.ABSENT, "no such target")


def _up(name: str, scrapes: Scrapes, identity: Identity) -> Measured | Unknown:
    """`up`: the row is the time of the last scrape, 0 where it failed."""
    if scrapes.up.gap is not None:
        return scrapes.up.gap
    at = scrapes.up.of(identity).get(name)
    if at is None:
        return _NO_TARGET
    if at > 0 and not scrapes.recent(at):
        return Unknown(Gap.STALE, f"{name} was last scraped {scrapes.at - at:.0f} s ago")
    return Measured(1.0 if at > 0 else 0.0, partial=scrapes.up.warned) if 0 <= at < inf else Unknown(Gap.NON_FINITE, name)


def _unheard(name: str, targets: Sequence[str], scrapes: Scrapes, identity: Identity) -> Unknown | None:
    """Why nothing of a replica counts. An engine always shows how many requests run: who does not, shows nothing."""
    if name not in targets:
        return Unknown(Gap.STALE, f"the target of {name} is not up")
    if name in scrapes.old.of(identity):
        return Unknown(Gap.STALE, f"the newest sample of {name} is {scrapes.old.of(identity)[name]:.0f} s old")
    if scrapes.running.gap is None and name not in scrapes.running.of(identity):
        return Unknown(Gap.ABSENT, f"{name} does not show its running requests")
    return None


def _blind(live: Sequence[LiveReplica], settled: frozenset[str], expected: frozenset[str]) -> Unknown | None:
    if not live:
        return Unknown(Gap.ABSENT, "no replica is ready")
    if 100 * len(expected) >= QUORUM_PERCENT * len(settled):
        return None
    missing = sorted(settled - expected)
    return Unknown(Gap.BELOW_QUORUM, f"{len(missing)} of {len(settled)} targets are not up: {', '.join(missing[:5])}")
