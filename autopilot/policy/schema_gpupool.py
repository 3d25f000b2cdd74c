"""`kind: GpuPool`: a budget of GPUs that several fleets share."""

from typing import Annotated, Literal

from pydantic import Field

from autopilot.policy.shapes import Count, FleetName, Labels, Metadata, Positive, Shape


class Nodes(Shape):
    """Which nodes the budget covers."""

    match_labels: Labels = Field(default_factory=dict)


class Claim(Shape):
    """What one fleet may take. A higher priority is served first."""

    fleet: FleetName
    priority: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = 0
    guaranteed: Count = 0
    max: Positive


class GpuPoolSpec(Shape):
    """A pool's `spec`."""

    gpus: Positive
    nodes: Nodes = Nodes()
    claims: tuple[Claim, ...] = Field(min_length=1)


class GpuPoolDocument(Shape):
    """A budget of GPUs that several fleets share."""

    api_version: Literal["autopilot.dev/v1alpha1"]
    kind: Literal["GpuPool"]
    metadata: Metadata
    spec: GpuPoolSpec
