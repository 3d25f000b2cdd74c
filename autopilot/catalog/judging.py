"""One series of one fleet: the numbers that may be used, what is missing, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf, nan
from typing import NamedTuple

from autopilot.catalog.answers import Column, Identity
from autopilot.catalog.coverage import Coverage
from autopilot.domain.signals import Gap, Reading, Unknown


@dataclass(frozen=True, slots=True)
class Look:
    """One fleet at one moment. `stalled` are the replicas that have requests and make no step, None while that cannot be seen.

    `judged` and `quiet` hold what was worked out already: several signals are made of one series.
    """

    identity: Identity
    coverage: Coverage
    scrape_interval: timedelta
    stalled: frozenset[str] | None = frozenset()
    peak_bandwidth: float | None = None
    judged: "dict[tuple[Column, float], Judged]" = field(default_factory=dict, compare=False)
    quiet: dict[tuple[Column, ...], frozenset[str]] = field(default_factory=dict, compare=False)


class Judged(NamedTuple):
    """The usable values by replica.

    `partial`: somebody who should be there is not. `doubtful`: even those that are there are not certain.
    `gap` is why the fleet as a whole has no value.
    """

    values: Mapping[str, float]
    partial: bool
    doubtful: bool
    gap: Unknown | None


class Readout(NamedTuple):
    """What one signal reads, for the fleet and by replica."""

    fleet: Reading
    replicas: Mapping[str, Reading]


def judge(column: Column, look: Look, *, least: float = 0.0) -> Judged:
    """Take the numbers that count: of live replicas that report, finite and not under `least`."""
    key = column, least
    found = look.judged.get(key)
    if found is None:
        found = look.judged[key] = _judged(column, look, least)
    return found


def _judged(column: Column, look: Look, least: float) -> Judged:
    coverage = look.coverage
    gap = coverage.blind or column.gap
    if gap is not None:
        return Judged({}, partial=True, doubtful=True, gap=gap)
    row = column.of(look.identity).get
    # written so that NaN is out as well
    values = {name: value for name in coverage.reporting if least <= (value := row(name, nan)) < inf}
    doubtful = column.warned or coverage.shaky
    partial = doubtful or not values.keys() >= coverage.settled
    return Judged(values, partial, doubtful, _gap(values, column, look))


def joined(part: Judged, other: Judged) -> Judged:
    """Two series added replica by replica; who lacks one of them has no sum."""
    summed = ((name, value + other.values[name]) for name, value in part.values.items() if name in other.values)
    values = {name: value for name, value in summed if -inf < value < inf}  # two numbers near the largest have no sum
    uneven = len(values) != len(part.values) or len(values) != len(other.values)
    gap = part.gap or other.gap or (None if values else Unknown(Gap.BELOW_QUORUM, "no replica has all the series"))
    return Judged(values, part.partial or other.partial or uneven, part.doubtful or other.doubtful, gap)


def silence(name: str, column: Column, look: Look) -> Unknown:
    """Why one replica has no value in a column."""
    gap = look.coverage.blind or column.gap
    if gap is not None:
        return gap
    row = column.of(look.identity).get(name)
    if row is None:
        return Unknown(Gap.ABSENT, f"{name} does not export it")
    return look.coverage.unheard.get(name) or Unknown(Gap.NON_FINITE, f"{name} reads {row}")


def _gap(values: Mapping[str, float], column: Column, look: Look) -> Unknown | None:
    """A series that more than half of the targets give stands for the fleet; none or fewer do not."""
    if not values:
        reasons = [silence(replica.name, column, look) for replica in look.coverage.live]
        order = (Gap.NON_FINITE, Gap.STALE, Gap.ABSENT)
        return min(reasons, key=lambda reason: order.index(reason.gap))
    expected = look.coverage.expected
    missing = expected - values.keys()
    if missing and 2 * len(missing) >= len(expected):
        return Unknown(Gap.BELOW_QUORUM, f"{len(missing)} of {len(expected)} do not give it: {', '.join(sorted(missing)[:5])}")
    return None
