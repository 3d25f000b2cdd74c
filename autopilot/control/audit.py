"""Audit records: everything a decision rested on, so that it can be explained, and made again bit for bit (law 7)."""

from dataclasses import dataclass

from autopilot.control.cycle import Cycled, run_one
from autopilot.control.seen import Case, Seen
from autopilot.domain.decisions import Act, Decision
from autopilot.domain.memory import Memory
from autopilot.domain.workloads import FleetRef
from autopilot.policy.values import Fleet, Policy


@dataclass(frozen=True, slots=True)
class Documents:
    """The fleet and the policy in force, kept once under their common hash."""

    fleet: Fleet
    policy: Policy | None


@dataclass(frozen=True, slots=True)
class Record:
    """One tick of one fleet. `documents` is the hash under which its `Documents` are kept.

    `granted` is how many more replicas the GPU budgets allowed; `wanted` the scaling level's result.
    """

    fleet: FleetRef
    documents: str
    before: Memory
    seen: Seen
    granted: int | None
    decisions: tuple[Decision, ...]
    wanted: int | None
    after: Memory


@dataclass(frozen=True, slots=True)
class Replayed:
    """A decision made again. `same` is whether it came out as recorded, memory and all."""

    same: bool
    decisions: tuple[Decision, ...]


def record(case: Case, cycled: Cycled, *, granted: int | None, documents: str) -> Record:
    """What is kept of a tick."""
    return Record(case.fleet.ref, documents, case.memory, case.seen, granted, cycled.decisions, cycled.wanted, cycled.memory)


def notable(record: Record) -> bool:
    """Whether a state, a reason or a decision changed: such a record is kept, of the others one a minute."""
    before, after = record.before, record.after
    acted = any(isinstance(decision, Act) for decision in record.decisions)
    return acted or bool(record.seen.outcomes) or _outline(before) != _outline(after)


def _outline(memory: Memory) -> tuple[object, ...]:
    """The states in a memory, without its clocks."""
    remediations = [one for one in (memory.remediation, *memory.talks, *memory.finished) if one is not None]
    return (
        tuple((alert.name, alert.state, alert.truth) for alert in memory.alerts),
        tuple((one.id, one.closed_at, tuple((a.step, a.phase, a.verdict, a.reason) for a in one.attempts)) for one in remediations),
        memory.removal,
        memory.contested,
        len(memory.foreign),
    )


def replay(record: Record, documents: Documents) -> Replayed:
    """Make a recorded decision again from what it rested on."""
    case = Case(documents.fleet, documents.policy, record.before, record.seen)
    cycled = run_one(case, granted=record.granted)
    unsaved = cycled.unsaved(record.before)  # a tick whose memory could not be saved is on record as what was left of it
    made = unsaved if _same(unsaved, record) else cycled
    return Replayed(_same(made, record), made.decisions)


def _same(cycled: Cycled, record: Record) -> bool:
    return cycled.decisions == record.decisions and cycled.memory == record.after and cycled.wanted == record.wanted
