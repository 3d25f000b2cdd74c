"""Audit records made readable: what a tick saw, what it made of it, what it did and why it did not do more.

The API answers with these and `autopilot explain` prints them; from a file or from a server they are the same values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, assert_never

from autopilot.catalog.signals import SIGNALS
from autopilot.control.audit import Documents, Record
from autopilot.control.codec import decode, encode
from autopilot.control.slo_status import SloStatus, slos_of
from autopilot.control.status import REPORTED, SHOWN, Quantile, quantile_of
from autopilot.control.story import Event, story_of
from autopilot.domain.decisions import Act, Hold
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, Effect, SetReplicas, Tell, Uncordon
from autopilot.domain.remediations import Remediation
from autopilot.domain.reports import Claim
from autopilot.domain.signals import Distribution, Entry, Idle, Measured, Unknown
from autopilot.domain.workloads import ReplicaState, Workload
from autopilot.policy.values import Policy
from autopilot.ports import Line

LEAD_IN = timedelta(minutes=2)  # of what came before a remediation opened: the alert's own `for` is mostly 1 min
ACTS = (Event.CHANGE_DECIDED, Event.PEOPLE_TOLD)  # told with their reasons in `did`
FEWEST, MORE = 100, 4  # records looked through at first, and the factor for each further look


@dataclass(frozen=True, slots=True)
class SignalSeen:
    """One reading of the whole fleet. `value` is in `unit`, of a histogram the mean; `count` the requests behind it."""

    signal: str
    unit: str
    over_seconds: float | None
    state: Literal["measured", "idle", "unknown"]
    value: float | None = None
    count: float | None = None
    partial: bool = False
    detail: str = ""
    quantiles: tuple[Quantile, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertSeen:
    """One alert after the tick. `truth` is what its condition said: true, false or unknown."""

    name: str
    state: str
    truth: str
    blind: bool
    undecided: bool
    active_seconds: float


@dataclass(frozen=True, slots=True)
class Did:
    """One act, and why."""

    verb: str
    what: str
    why: str
    remediation: str


@dataclass(frozen=True, slots=True)
class Held:
    """One thing not done: the reason is the guard that spoke, `limit` what it ran against."""

    verb: str
    reason: str
    limit: str


@dataclass(frozen=True, slots=True)
class Replicas:
    """What was there; None while the backend could not be asked. `wanted` is the scaling level's result."""

    serving: int | None
    desired: int | None
    wanted: int | None
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """One record. `at_seconds` is logical time, `documents` the hash of the fleet and policy in force.

    `happened` is the story of the tick without its acts, which are `did`. `remediations` are those under way and those that ended on this tick, with every attempt's verdict and figures.
    `reported` is what webhooks claimed at that moment. `slos` are empty where the policy of that time is not kept.
    """

    fleet: str
    wall: datetime
    at_seconds: float
    documents: str
    notable: bool
    happened: tuple[str, ...]
    replicas: Replicas
    signals: tuple[SignalSeen, ...]
    alerts: tuple[AlertSeen, ...]
    did: tuple[Did, ...]
    held: tuple[Held, ...]
    came_back: tuple[str, ...]
    remediations: tuple[Remediation, ...]
    reported: tuple[Claim, ...] = ()
    slos: tuple[SloStatus, ...] = ()


@dataclass(frozen=True, slots=True)
class Decisions:
    """Records oldest first, and how many could not be read: another version of the autopilot wrote them."""

    records: tuple[Explained, ...]
    unreadable: int = 0


def explain_all(lines: Sequence[Line], documents: Callable[[str], str | None]) -> Decisions:
    """Every line that can be read. `documents` gives what was kept under a hash; it may raise StateLost."""
    records = [(line, record) for line in lines if (record := record_of(line)) is not None]
    policies = {hash_: _policy(documents(hash_)) for hash_ in {record.documents for _, record in records}}
    explained = tuple(explain(line, record, policies[record.documents]) for line, record in records)
    return Decisions(explained, len(lines) - len(explained))


def record_of(line: Line) -> Record | None:
    """The record of a line, None where it cannot be read."""
    try:
        return decode(line.body, Record)
    except ValueError:  # pydantic's, or a broken promise of a domain value
        return None


def _policy(text: str | None) -> Policy | None:
    if text is None:
        return None
    try:
        return decode(text, Documents).policy
    except ValueError:  # another version's
        return None


def explain(line: Line, record: Record, policy: Policy | None) -> Explained:
    """One record in plain figures."""
    seen, after = record.seen, record.after
    return Explained(
        fleet=str(record.fleet),
        wall=line.wall,
        at_seconds=seen.now.total_seconds(),
        documents=record.documents,
        notable=line.notable,
        happened=tuple(one.text for one in story_of(record) if one.event not in ACTS),
        replicas=_replicas(record),
        signals=tuple(_signal(entry) for entry in seen.readings.entries if entry.replica is None),
        alerts=tuple(
            AlertSeen(alert.name, alert.state, alert.truth, alert.blind, alert.undecided, alert.active.total_seconds())
            for alert in after.alerts
        ),
        did=tuple(_did(one) for one in record.decisions if isinstance(one, Act)),
        held=tuple(Held(one.verb, one.reason, one.limit) for one in record.decisions if isinstance(one, Hold)),
        came_back=tuple(f"{one.operation}: {one.kind}{': ' + one.detail if one.detail else ''}" for one in seen.outcomes),
        remediations=_concerned(record),
        reported=seen.reported[:REPORTED],
        slos=slos_of(policy, seen.readings),
    )


def find_remediation(read: Callable[[int], Sequence[Line]], wanted: str | None, *, at_most: int) -> tuple[Line, ...]:
    """The lines of one remediation, of the newest without a name. Looks through as few as will do, `at_most` in all."""
    last = min(FEWEST, at_most)
    while True:
        lines = read(last)
        found = of_remediation(lines, wanted)
        cut = bool(lines) and (not found or found[0] is lines[0]) and len(lines) >= last
        if not cut or last >= at_most:
            return found
        last = min(last * MORE, at_most)


def of_remediation(lines: Sequence[Line], wanted: str | None) -> tuple[Line, ...]:
    """The lines during which a remediation was open, with what was worth keeping shortly before it."""
    name = wanted if wanted is not None else next((line.remediation for line in reversed(lines) if line.remediation), None)
    if name is None:
        return ()
    during = _while_it_held_the_slot(lines, name) or _beside_the_slot(lines, name)
    if not during:
        return ()
    first = during[0]
    before = [line for line in lines if line.fleet == first.fleet and line.notable and first.at - LEAD_IN <= line.at < first.at]
    return (*before, *during)


def _while_it_held_the_slot(lines: Sequence[Line], name: str) -> list[Line]:
    """The lines marked with it, and the next one, on which it was closed: found without reading a body."""
    marked = [index for index, line in enumerate(lines) if line.remediation == name]
    if not marked:
        return []
    fleet = lines[marked[-1]].fleet
    closing = next((line for line in lines[marked[-1] + 1 :] if line.fleet == fleet), None)
    ends = [closing] if closing is not None and _is_about(closing, name) else []
    return [*(lines[index] for index in marked), *ends]


def _beside_the_slot(lines: Sequence[Line], name: str) -> list[Line]:
    """A ladder that only tells people, or one that ended on the tick on which it began, marks no line: the bodies know of it."""
    text = encode(name, str)  # as it stands in a body
    return [line for line in lines if text in line.body and _is_about(line, name)]


def _is_about(line: Line, remediation: str) -> bool:
    record = record_of(line)
    return record is not None and any(one.id == remediation for one in _concerned(record))


def _concerned(record: Record) -> tuple[Remediation, ...]:
    """What was open before or after the tick, as it stands after it."""
    open_before = {one.id for one in _open(record.before)}
    known = (*record.after.finished, *_open(record.after))
    new = {one.id for one in known} - {one.id for one in (*record.before.finished, *_open(record.before))}
    open_now = {one.id for one in _open(record.after)}
    return tuple(one for one in known if one.id in open_before | open_now | new)


def _open(memory: Memory) -> tuple[Remediation, ...]:
    return tuple(one for one in (memory.remediation, *memory.talks) if one is not None)


def _replicas(record: Record) -> Replicas:
    match record.seen.workload:
        case Workload() as workload:
            idle = [(one.name, one.state, one.message) for one in workload.replicas if one.state is not ReplicaState.SERVING]
            return Replicas(len(workload.serving), workload.desired, record.wanted, troubles_of(idle))
        case unobserved:
            return Replicas(None, None, record.wanted, (f"not observed: {unobserved.detail}",))


def troubles_of(replicas: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """Replicas that do not serve, by name, state and message: those with the same trouble in one line."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name, state, message in replicas:
        alike.setdefault((state, message), []).append(name)
    return tuple(f"{state}: {', '.join(names)}{': ' + message if message else ''}" for (state, message), names in alike.items())


def _signal(entry: Entry) -> SignalSeen:
    kind = SIGNALS.get(entry.signal)
    unit = kind.unit if kind is not None else ""
    over = entry.over.total_seconds() if entry.over is not None else None
    match entry.reading:
        case Measured(value=value, count=count, partial=partial):
            return SignalSeen(entry.signal, unit, over, "measured", value, count, partial)
        case Idle():
            return SignalSeen(entry.signal, unit, over, "idle")
        case Unknown(gap=gap, detail=detail):
            return SignalSeen(entry.signal, unit, over, "unknown", detail=f"{gap}{': ' + detail if detail else ''}")
        case Distribution() as histogram:
            quantiles = tuple(quantile_of(histogram, quantile) for quantile in SHOWN)
            return SignalSeen(entry.signal, unit, over, "measured", histogram.mean, histogram.count, histogram.partial, "", quantiles)
        case _ as never:
            assert_never(never)


def _did(act: Act) -> Did:
    return Did(act.operation.verb, effect_in_words(act.operation.effect), act.why, act.remediation)


def effect_in_words(effect: Effect) -> str:
    """What an act does."""
    match effect:
        case SetReplicas(count=count, before=before):
            return f"replicas {before} -> {count}"
        case Cordon(replicas=names):
            return f"out of traffic: {', '.join(names)}"
        case Uncordon(replicas=names):
            return f"back in traffic: {', '.join(names)}"
        case Tell(receivers=receivers, title=title):
            return f"tell {', '.join(receivers) or 'the log'}: {title}"
        case _ as never:
            assert_never(never)
