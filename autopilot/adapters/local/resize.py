"""What a wanted count, a cordon or a release makes of a fleet's record: pure, or refused."""

from collections.abc import Iterable
from dataclasses import replace

from autopilot.adapters.local.fleets import LocalFleet
from autopilot.adapters.local.record import FleetRecord, Phase
from autopilot.domain.operations import SetReplicas
from autopilot.ports import Conflict, Refused


def resized(record: FleetRecord, effect: SetReplicas, fleet: LocalFleet) -> FleetRecord:
    """The record after the count was set. Raises Conflict or Refused."""
    if effect.version != str(record.version) or effect.before != record.desired:
        message = (
            f"{fleet.ref}: planned at version {effect.version} with {effect.before} replicas, "
            f"found {record.version} with {record.desired}; look and decide again"
        )
        raise Conflict(message)
    _check_limits(effect, fleet)
    _check_victims(effect, record)
    if effect.count == record.desired:
        return record
    kept = tuple(replace(each, phase=Phase.LEAVING) if each.name in effect.victims else each for each in record.replicas)
    return replace(record, desired=effect.count, version=record.version + 1, down=record.down and effect.count == 0, replicas=kept)


def released(record: FleetRecord) -> FleetRecord:
    """The record of a fleet that is to go, router and all."""
    leaving = tuple(replace(each, phase=Phase.LEAVING) for each in record.replicas)
    return replace(record, desired=0, version=record.version + 1, down=True, replicas=leaving)


def cordoned(record: FleetRecord, names: Iterable[str], *, out: bool) -> FleetRecord:
    """The record with these replicas out of traffic, or back in it. Raises Refused for one that is not there."""
    there = {replica.name for replica in record.counted}
    if missing := sorted(set(names) - there):
        message = f"{record.ref}: {', '.join(missing)} is not a replica of this fleet; there are {', '.join(sorted(there)) or 'none'}"
        raise Refused(message)
    chosen = frozenset(names)
    changed = tuple(replace(each, cordoned=out) if each.name in chosen else each for each in record.replicas)
    return replace(record, replicas=changed)


def check_gpus(fleets: Iterable[tuple[LocalFleet, int]], gpus: int) -> None:
    """Object to counts that together need more than `gpus`. Raises Refused."""
    needed = sum(fleet.gpus_per_replica * count for fleet, count in fleets)
    if needed > gpus:
        message = f"{needed} GPUs would be needed by all fleets of this machine, it has {gpus} for them"
        raise Refused(message)


def _check_limits(effect: SetReplicas, fleet: LocalFleet) -> None:
    if effect.count > max(fleet.maximum, effect.before):
        message = f"{fleet.ref}: {effect.count} replicas are more than its limit of {fleet.maximum}"
        raise Refused(message)
    if effect.count < min(fleet.minimum, effect.before):
        message = f"{fleet.ref}: {effect.count} replicas are fewer than its minimum of {fleet.minimum}"
        raise Refused(message)


def _check_victims(effect: SetReplicas, record: FleetRecord) -> None:
    falls_by = max(0, effect.before - effect.count)
    there = {replica.name for replica in record.counted}
    if len(effect.victims) != falls_by or len(set(effect.victims)) != falls_by or not there.issuperset(effect.victims):
        message = (
            f"{record.ref}: from {effect.before} to {effect.count} replicas, {falls_by} of {', '.join(sorted(there)) or 'none'} "
            f"must be named to go, got {', '.join(effect.victims) or 'none'}"
        )
        raise Refused(message)
