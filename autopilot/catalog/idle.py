"""Idle: nothing finished, nothing running, nothing waiting, measured over the whole window (design.md law 1)."""

from datetime import timedelta
from math import ceil

from autopilot.catalog.answers import Column
from autopilot.catalog.judging import Look

WHOLE = 0.75  # of the scrapes that fit into the window: one in four may be lost


def quiet_replicas(idleness: tuple[Column, ...], window: timedelta | None, look: Look) -> frozenset[str]:
    """The replicas that were seen to do nothing for the whole window, or for all of their life in it.

    `idleness` are the scrapes at which nothing ran or waited, and how many requests finished.
    """
    if window is None or not idleness:
        return frozenset()
    found = look.quiet.get(idleness)
    if found is None:
        found = look.quiet[idleness] = _quiet(idleness, window, look)
    return found


def _quiet(idleness: tuple[Column, ...], window: timedelta, look: Look) -> frozenset[str]:
    if any(column.gap is not None or column.warned for column in idleness):
        return frozenset()
    scrapes, finished = (column.of(look.identity) for column in idleness)
    reporting = look.coverage.reporting
    return frozenset(
        replica.name
        for replica in (look.coverage.live if scrapes else ())
        if replica.name in reporting
        and finished.get(replica.name) == 0.0
        and scrapes.get(replica.name, 0.0) >= enough(min(window, replica.ready_for), scrape_interval=look.scrape_interval)
    )


def is_idle(quiet: frozenset[str], look: Look) -> bool:
    """Whether the fleet is idle: everybody who should be heard is, and everybody heard is quiet."""
    return look.coverage.blind is None and look.coverage.whole and quiet.issuperset(look.coverage.reporting)


def enough(window: timedelta, *, scrape_interval: timedelta) -> int:
    """How many samples stand for a whole window."""
    return max(1, ceil(WHOLE * (window // scrape_interval)))
