"""What would be done now: the daemon's own look and its own functions, on a copy of its memory, with no effect."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.engine_version import installed_version
from autopilot.adapters.local.reading import RecordedFleets
from autopilot.adapters.state import read_state
from autopilot.adapters.wakes import read_claims
from autopilot.control.cycle import Cycled, run_all
from autopilot.control.seen import Case, Seen
from autopilot.control.status import describe
from autopilot.daemon.assembly import CODEC, eyes_of
from autopilot.daemon.documents import PolicyCalendar
from autopilot.daemon.local_fleets import local_fleets, local_options
from autopilot.daemon.looking import look
from autopilot.domain.decisions import Act
from autopilot.domain.memory import Memory
from autopilot.domain.signals import Unknown
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book, Entry
from autopilot.policy.daemon import DaemonConfig
from autopilot.ports import Backend


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be done for one fleet, what speaks against doing more, and what could not be seen."""

    fleet: str
    acts: tuple[str, ...]
    holds: tuple[str, ...]
    gaps: tuple[str, ...]


def planned(config: DaemonConfig, book: Book) -> tuple[Planned, ...]:
    """One look, one decision for every fleet. Raises StateLost when the memory cannot be read."""
    clock = SystemClock()
    state = read_state(Path(config.state), CODEC)
    eyes = eyes_of(config, recorded_backends(config, book, clock))
    wall = clock.wall()
    fleets = [(entry.fleet, entry.policy) for entry in book.entries]
    sight = look(fleets, eyes, at=wall.timestamp(), deadline=config.interval / 2, reports=read_claims(config.reports, clock))
    calendar = PolicyCalendar()
    now = state.running + clock.running()
    cases = []
    for entry in book.entries:
        ref = entry.fleet.ref
        if ref in sight.workloads and ref in sight.readings:
            seen = Seen(
                now=now,
                interval=config.interval,
                scrape_interval=eyes.scrape_intervals[entry.fleet.source],
                readings=sight.readings[ref],
                workload=sight.workloads[ref],
                windows=calendar.open_windows(entry, wall),
                reported=sight.claims.get(ref, ()),
            )
            cases.append(Case(entry.fleet, entry.policy, _memory(entry, state.memories), seen))
    results = run_all(cases, book.budgets)
    return tuple(_planned(case, results[case.fleet.ref][0]) for case in cases)


def recorded_backends(config: DaemonConfig, book: Book, clock: SystemClock) -> dict[str, Backend]:
    """Every backend as its records show it, for whoever may look and not touch."""
    if config.local is None:
        return {}
    fleets = tuple(local_fleets(((entry.fleet, entry.policy) for entry in book.entries), version=installed_version(config.local.launch)))
    return {"local": RecordedFleets(local_options(config.local).state_dir, fleets, clock)}


def _memory(entry: Entry, memories: Mapping[FleetRef, Memory]) -> Memory:
    return memories.get(entry.fleet.ref, Memory())


def _planned(case: Case, cycled: Cycled) -> Planned:
    gaps = [entry for entry in case.seen.readings.entries if entry.replica is None and isinstance(entry.reading, Unknown)]
    return Planned(
        fleet=str(case.fleet.ref),
        acts=tuple(describe(act) for act in cycled.acts),
        holds=tuple(describe(decision) for decision in cycled.decisions if not isinstance(decision, Act)),
        gaps=tuple(dict.fromkeys(f"{entry.signal}: {entry.reading.gap}" for entry in gaps if isinstance(entry.reading, Unknown))),
    )
