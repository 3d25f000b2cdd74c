"""The laws of design.md as questions to one record: each answers with what was broken, or nothing."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from autopilot.control.audit import Documents, Record, replay
from autopilot.control.codec import decode, encode, memory_to_json
from autopilot.control.cycle import bounds_now
from autopilot.control.ladder import VOIDS_KEPT, only_talks
from autopilot.domain.alerts import AlertState
from autopilot.domain.conditions import Truth
from autopilot.domain.operations import Cordon, SetReplicas
from autopilot.domain.remediations import Remediation, Verdict
from autopilot.domain.signals import Idle, Measured, Reading
from autopilot.domain.verbs import TALKING
from autopilot.domain.workloads import Replica, ReplicaState, Workload
from autopilot.policy.values import Policy
from tests.support.policies import CHAT

MINUTE = timedelta(minutes=1)
KIB_64 = 64 * 1024
READY_ONCE = {ReplicaState.SERVING, ReplicaState.CORDONED, ReplicaState.UNHEALTHY}

Statute = Callable[[Record, Policy], str]


def broken_by(records: list[Record], policy: Policy) -> list[str]:
    """Every law that a story breaks, and when."""
    found = [f"{each.seen.now}: {name}: {what}" for each in records for name, law in STATUTES.items() if (what := law(each, policy))]
    before = [each.seen.now for each in records]
    if before != sorted(before) or any(each.after.now != each.seen.now for each in records):
        found.append("time ran backwards")
    return found


def _counts(record: Record) -> Iterator[SetReplicas]:
    for decision in record.decisions:
        if decision.kind == "act" and isinstance(decision.operation.effect, SetReplicas):
            yield decision.operation.effect


def within_bounds(record: Record, policy: Policy) -> str:
    """Law 11: what is added is capped, what is below the minimum raised, and what is above comes down by the law alone."""
    bounds = bounds_now(policy, CHAT.pool, record.seen.windows)
    for effect in _counts(record):
        grows = effect.count > effect.before
        if grows and effect.count > bounds.maximum:
            return f"{effect} is over {bounds}"
        if not grows and effect.count < min(bounds.minimum, effect.before):
            return f"{effect} is under {bounds}"
        if not grows and len(effect.victims) != effect.before - effect.count:
            return f"{effect} does not name who goes"
    return ""


def compare_and_set(record: Record, policy: Policy) -> str:
    """Law 3: every change carries what was observed, and there is one at a time."""
    del policy
    effects = list(_counts(record))
    under_way = [intent for intent in record.after.intents if isinstance(intent.operation.effect, SetReplicas)]
    there = record.seen.workload
    stale = [one for one in effects if not isinstance(there, Workload) or (one.version, one.before) != (there.version, there.desired)]
    return f"stale: {stale}" if stale else f"at once: {under_way}" if len(under_way) > 1 else ""


def nothing_removed_in_the_dark(record: Record, policy: Policy) -> str:
    """Laws 1 and 13: capacity that was ever ready goes only when all is known, no symptom is there and no ladder is open."""
    going = [replica for replica in _going(record) if _was_ready(record, replica)]
    if not going or not isinstance(record.seen.workload, Workload):
        return ""
    names = [replica.name for replica in going]
    if not _all_known(record, record.seen.workload):
        return f"{names} go on a tick that is not wholly known"
    symptomatic = {rule.name for rule in policy.alerts}
    bad = [
        one for one in record.after.alerts if one.name in symptomatic and one.truth is Truth.YES and one.state is not AlertState.INACTIVE
    ]
    if bad:
        return f"{names} go while {bad[0].name} is {bad[0].state}"
    return f"{names} go while a ladder is open" if record.after.remediation is not None else ""


def _going(record: Record) -> list[Replica]:
    there = record.seen.workload
    names: set[str] = set()
    for decision in record.decisions:
        if decision.kind != "act":
            continue
        match decision.operation.effect:
            case SetReplicas(victims=victims):
                names |= set(victims)
            case Cordon(replicas=replicas):
                names |= set(replicas)
            case _:
                pass
    return [replica for replica in there.replicas if replica.name in names] if isinstance(there, Workload) else []


def _was_ready(record: Record, replica: Replica) -> bool:
    del record
    return replica.state in READY_ONCE


def _all_known(record: Record, there: Workload) -> bool:
    of = record.seen.readings.of
    since = dict(record.after.level.serving_since)
    due = [
        one.name for one in there.replicas if one.state in READY_ONCE and record.seen.now - since.get(one.name, record.seen.now) >= MINUTE
    ]
    told = [of(signal, replica=name) for name in due for signal in ("up", "running", "waiting")]
    return all(_whole(reading) for reading in (*told, of("in_flight")))


def _whole(reading: Reading) -> bool:
    return isinstance(reading, Idle) or (isinstance(reading, Measured) and not reading.partial)


def drained_first(record: Record, policy: Policy) -> str:
    """A replica that carries requests is never removed."""
    del policy
    names = {name for effect in _counts(record) for name in effect.victims}
    there = record.seen.workload
    for replica in there.replicas if isinstance(there, Workload) else ():
        if replica.name not in names or replica.state not in READY_ONCE:
            continue
        busy = [record.seen.readings.of(signal, replica=replica.name) for signal in ("running", "waiting")]
        if any(reading != Measured(0.0) for reading in busy):
            return f"{replica.name} goes with {busy}"
    return ""


def in_advise_nothing_is_touched(record: Record, policy: Policy) -> str:
    """Law 10."""
    touched = [one for one in record.decisions if one.kind == "act" and one.operation.verb not in TALKING]
    return str(touched) if touched and policy.modes.default.value != "act" else ""


def ladders_are_bounded(record: Record, policy: Policy) -> str:
    """R-27: a step is taken `repeat` times at most, disturbed attempts are not kept for ever, and talk beside a ladder changes nothing."""
    remedies = {remedy.alert: remedy for remedy in policy.remedies}
    for one in _remediations(record):
        for index, step in enumerate(remedies[one.alert].steps):
            tries = sum(attempt.step == index and attempt.verdict is not Verdict.VOID for attempt in one.attempts)
            if tries > step.repeat:
                return f"{one.id} took step {index} {tries} times of {step.repeat}"
        if sum(attempt.verdict is Verdict.VOID for attempt in one.attempts) > VOIDS_KEPT + 1:
            return f"{one.id} keeps {len(one.attempts)} attempts"
    mute = [talk.id for talk in record.after.talks if not only_talks(remedies[talk.alert])]
    return f"{mute} run beside the slot" if mute else ""


def _remediations(record: Record) -> list[Remediation]:
    memory = record.after
    return [one for one in (memory.remediation, *memory.talks, *memory.finished) if one is not None]


def remembered_in_little(record: Record, policy: Policy) -> str:
    """Memory is small enough for a ConfigMap, many fleets of them."""
    del policy
    if record.seen.now.total_seconds() % 100:
        return ""
    size = len(memory_to_json(record.after))
    return f"{size} bytes" if size > KIB_64 else ""


def replayed(record: Record, policy: Policy) -> str:
    """Law 7: from its JSON, every decision is made again bit for bit. Those that act or hear of acts, and one in eleven of the others."""
    quiet = all(one.kind == "hold" for one in record.decisions) and not record.seen.outcomes
    if quiet and record.seen.now.total_seconds() % 55:
        return ""
    documents = Documents(CHAT, policy if record.after.alerts else None)
    again = replay(decode(encode(record, Record), Record), decode(encode(documents, Documents), Documents))
    return "" if again.same else f"came out as {again.decisions}, was {record.decisions}"


STATUTES: dict[str, Statute] = {
    law.__name__: law
    for law in (
        within_bounds,
        compare_and_set,
        nothing_removed_in_the_dark,
        drained_first,
        in_advise_nothing_is_touched,
        ladders_are_bounded,
        remembered_in_little,
        replayed,
    )
}
