"""What documents are checked against beside themselves: the catalogue, and the daemon's own file where it is given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from autopilot.catalog.signals import SIGNALS, SignalKind

LEAST_SCRAPES = 4  # Prometheus 3 reads a window left-open: two scrapes may hold one sample, and rate() is empty


@dataclass(frozen=True)
class Surroundings:
    """None where the daemon's file is not at hand: what it would say is then not checked."""

    signals: Mapping[str, SignalKind] = field(default_factory=lambda: SIGNALS)
    scrape_intervals: Mapping[str, timedelta] | None = None  # by the name of the source
    receivers: frozenset[str] | None = None
    local: bool | None = None  # whether the daemon can start fleets of processes
