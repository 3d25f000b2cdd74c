"""`kind: Fleet`: the replicas that serve one model, where they live, and what may ever exist."""

import math
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from autopilot.policy.shapes import Count, LabelName, Metadata, Name, Positive, PositiveNumber, Shape, Text, Whole, Word

ArgumentName = Annotated[str, Field(pattern=r"^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*(\.[a-zA-Z0-9_.-]+)?$", max_length=200)]


def _argument(value: object) -> object:
    """Keep a single value as it is. Raises ValueError for what a command line cannot hold."""
    finite = not isinstance(value, float) or math.isfinite(value)
    if isinstance(value, str | bool | int | float) and finite and len(str(value)) <= LONGEST_ARGUMENT:
        return value
    raise ValueError("an argument has one value; write lists and mappings as vLLM reads them, as one quoted text of JSON")


LONGEST_ARGUMENT = 65_536
ArgumentValue = Annotated[
    bool | int | float | str,
    BeforeValidator(_argument),
    WithJsonSchema({"type": ["boolean", "integer", "number", "string"]}),
]
# A name here says who else writes a field; anybody's name will do, these are the ones people mean.
Writer = Word


class Metrics(Shape):
    """Where a fleet's series are, and how they are told from other fleets'."""

    source: Word = "default"
    """A name of `sources` in the daemon's own file."""
    identity: dict[LabelName, Text] = Field(min_length=1)
    """Label pairs that every series of this fleet carries."""
    replica: LabelName | None = None
    """The label that names a replica: `pod` on Kubernetes, `instance` locally."""


class Traffic(Shape):
    """How traffic reaches the replicas."""

    service: Name


class Model(Shape):
    """What is served."""

    source: Text
    """A directory or a model's name, as vLLM takes it."""
    served_name: tuple[Text, ...] = ()


class EngineShape(Shape):
    """How vLLM is started. Keys and values of `args` in vLLM's own spelling."""

    image: Text | None = None
    args: dict[ArgumentName, ArgumentValue] = Field(default_factory=dict)
    env: dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = Field(default_factory=dict)


class Gpu(Shape):
    """What one replica needs of GPUs. `auto` is worked out from the model's size, once."""

    type: Text = ""
    per_replica: Positive | Literal["auto"] = Field(default="auto", union_mode="left_to_right")
    max_pods_per_node: Positive | None = None
    memory_factor: Annotated[PositiveNumber, Field(ge=1, le=10)] = 1.2


class Render(Shape):
    """The autopilot owns the template and writes it from this."""

    model: Model
    engine: EngineShape = EngineShape()
    gpu: Gpu = Gpu()


class WorkloadName(Shape):
    """A workload that is there already."""

    api_version: Text = "apps/v1"
    kind: Literal["Deployment", "StatefulSet", "LeaderWorkerSet"]
    name: Name


class WorkloadShape(Shape):
    """Either rendered or adopted."""

    render: Render | None = None
    ref: WorkloadName | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.render is None) == (self.ref is None):
            raise ValueError("write either render (the autopilot owns the template) or ref (it adopts what is there)")
        return self


class Writers(Shape):
    """Who writes the replica count and the template: autopilot, or the name of somebody else."""

    replicas: Writer = "autopilot"
    template: Writer = "autopilot"


class Replicas(Shape):
    """What may ever exist."""

    min: Count
    max: Positive

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}, write min at or under max")
        return self


class WarmPoolShape(Shape):
    """Replicas that are loaded, ready and not in traffic."""

    size: Count = 0
    asleep: Count = 0


class WarmUpShape(Shape):
    """Prompts sent to a replica before it takes traffic."""

    requests: Annotated[Count, Field(le=1000)] = 8
    prompt_tokens: Whole | Literal["auto"] = Field(default="auto", union_mode="left_to_right")


class PoolShape(Shape):
    """Replicas on one kind of GPU."""

    name: Name
    role: Literal["serve"] = "serve"
    workload: WorkloadShape
    writers: Writers = Writers()
    replicas: Replicas
    warm_pool: WarmPoolShape = WarmPoolShape()
    warm_up: WarmUpShape = WarmUpShape()


class FleetSpec(Shape):
    """A fleet's `spec`."""

    backend: Literal["kubernetes", "local"]
    metrics: Metrics
    traffic: Traffic | None = None
    pools: tuple[PoolShape, ...] = Field(min_length=1)


class FleetDocument(Shape):
    """A fleet of vLLM servers."""

    api_version: Literal["autopilot.dev/v1alpha1"]
    kind: Literal["Fleet"]
    metadata: Metadata
    spec: FleetSpec
