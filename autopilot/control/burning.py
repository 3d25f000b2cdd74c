"""How fast the error budgets of a fleet burn, as one look at its source shows it."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import TypeAlias, assert_never

from autopilot.domain.reasons import Reason
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.slos import HOLDS_ABOVE, HOUR, Slo, Tally, may_burn, tally

# What `alsoBad` names, and the signal that counts it. Together they are every 4xx and every 5xx, each once.
ALSO_BAD: Mapping[str, str] = MappingProxyType({"server_errors": "server_errors", "rejected": "refused"})

_NOT_THERE = frozenset({Gap.ABSENT, Gap.NOT_SUPPORTED})

Counted: TypeAlias = Tally | Idle | Unknown


def counted(slo: Slo, readings: Readings, *, over: timedelta) -> Counted:
    """The requests of a window, good and bad. Idle only where nobody was turned away either.

    Where requests that count as bad cannot be counted the tally is partial: it may show that the budget burns, never
    that it does not.
    """
    extras = [readings.of(ALSO_BAD[name], over=over) for name in slo.also_bad]
    known = [count for count in map(_requests, extras) if count is not None]
    base = _base(slo, readings.of(slo.signal, over=over), turned_away=sum(known) > 0)
    if not isinstance(base, Tally):
        return base
    whole = base.with_bad(sum(known))
    gaps = len(known) < len(extras) or any(isinstance(extra, Measured) and extra.partial for extra in extras)
    return Tally(whole.total, whole.certainly, whole.possibly, whole.partial or gaps)


def _base(slo: Slo, reading: Reading, *, turned_away: bool) -> Counted:
    match reading:
        case Distribution():
            return tally(reading, slo.threshold)
        case Idle():
            return Tally(0.0, 0.0, 0.0) if turned_away else reading
        case Measured():
            return Unknown(Gap.MISSHAPEN, f"{slo.signal} is no histogram")
        case Unknown():
            return reading
    assert_never(reading)


def _requests(reading: Reading) -> float | None:
    """How many requests a reading counts, None while it cannot be told."""
    match reading:
        case Measured(count=count):
            return count
        case Idle():
            return 0.0
        case Distribution() | Unknown():
            return None
    assert_never(reading)


def made_of(slo: Slo, overs: Iterable[timedelta]) -> Iterator[tuple[str, timedelta]]:
    """Every (signal, window) that an SLO is read from over these windows."""
    for over in overs:
        yield slo.signal, over
        for name in slo.also_bad:
            yield ALSO_BAD[name], over


def held_by(slos: Iterable[Slo], readings: Readings) -> tuple[Reason, str] | None:
    """Why capacity must not be taken away now, and for which SLO; None where none objects.

    Of two readings of an undecided threshold the worse one counts. What the source does not have at all forbids
    nothing (a quantile does not either), what it should have told and did not does.
    """
    for slo in slos:
        found = counted(slo, readings, over=HOUR)
        if isinstance(found, Unknown) and found.gap not in _NOT_THERE:
            return Reason.BLIND, f"{slo.name}: unknown over 1h ({found.gap})"
        if isinstance(found, Tally) and may_burn(found, slo.objective, above=HOLDS_ABOVE):
            return Reason.BUDGET_BURNING, f"{slo.name}: {found.possibly:.0f} of {found.total:.0f} requests of 1h are bad"
    return None
