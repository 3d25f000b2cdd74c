"""GPUs that fleets share, and what each may ask of them."""

from dataclasses import dataclass

from autopilot.domain.workloads import FleetRef


@dataclass(frozen=True, slots=True)
class Claim:
    """What a fleet may ask of a pool: `guaranteed` GPUs come before anybody's priority, `maximum` None is no limit of its own."""

    fleet: FleetRef
    priority: int = 0
    guaranteed: int = 0
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class GpuBudget:
    """GPUs that several fleets share."""

    name: str
    gpus: int
    claims: tuple[Claim, ...]
