"""Sharing GPUs: growth of many fleets against budgets, by priority, guarantees first. A budget holds at every instant."""

from collections.abc import Sequence
from dataclasses import dataclass

from autopilot.domain.budgets import Claim, GpuBudget
from autopilot.domain.workloads import FleetRef


@dataclass(frozen=True, slots=True)
class Growth:
    """A fleet holds `held` GPUs (asked for, pending ones included) and wants `replicas` more of `gpus` each."""

    fleet: FleetRef
    held: int
    replicas: int
    gpus: int


def arbitrate(growths: Sequence[Growth], budgets: Sequence[GpuBudget]) -> dict[FleetRef, int]:
    """How many more replicas each fleet may ask for now. A fleet without a budget gets all it wants."""
    granted = {growth.fleet: growth.replicas for growth in growths}
    for budget in budgets:
        claims = {claim.fleet: claim for claim in budget.claims}
        mine = [growth for growth in growths if growth.fleet in claims]
        shared = _share(mine, claims, budget.gpus)
        granted.update({fleet: min(granted[fleet], share) for fleet, share in shared.items()})  # every budget holds
    return granted


def _share(growths: Sequence[Growth], claims: dict[FleetRef, Claim], gpus: int) -> dict[FleetRef, int]:
    """First what is guaranteed, then by priority; equals by name, so that the answer is the same every time."""
    free = gpus - sum(growth.held for growth in growths)
    given = {growth.fleet: 0 for growth in growths}
    order = sorted(growths, key=lambda one: (-claims[one.fleet].priority, one.fleet))
    for guaranteed in (True, False):
        for growth in order:
            room = _room(growth, claims[growth.fleet], given[growth.fleet], only_guaranteed=guaranteed)
            more = min(room, growth.replicas - given[growth.fleet], free // growth.gpus if growth.gpus else growth.replicas)
            more = max(0, more)
            given[growth.fleet] += more
            free -= more * growth.gpus
    return given


def _room(growth: Growth, claim: Claim, given: int, *, only_guaranteed: bool) -> int:
    """How many replicas the fleet's own claim still leaves room for."""
    limit = claim.guaranteed if only_guaranteed else claim.maximum
    if limit is None or not growth.gpus:
        return growth.replicas
    return (limit - growth.held - given * growth.gpus) // growth.gpus
