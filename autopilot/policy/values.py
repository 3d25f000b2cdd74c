"""A policy and a fleet as the core uses them: checked, in base units, with every default filled in."""

from dataclasses import dataclass, field
from datetime import timedelta

from autopilot.actions import Action
from autopilot.domain.alerts import AlertRule
from autopilot.domain.conditions import Condition
from autopilot.domain.scaling import ScalingLaw
from autopilot.domain.slos import Slo
from autopilot.domain.verbs import Modes
from autopilot.domain.windows import Window
from autopilot.domain.workloads import FleetRef


@dataclass(frozen=True, slots=True)
class Verify:
    """When a step has helped: the symptom (or `when`) is no for `held_for`, within `within` of its landing.

    `held_for` None is two ticks.
    """

    within: timedelta
    held_for: timedelta | None = None
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One rung: what to do, how often in all, how its effect is judged. `cause` asks for a cause to be diagnosed."""

    do: Action
    repeat: int = 1
    verify: Verify | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Remedy:
    """The ladder that an alert climbs."""

    alert: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Scheduled:
    """An action on a calendar, not on an alert."""

    name: str
    every: timedelta
    do: Action


@dataclass(frozen=True, slots=True)
class Limits:
    """At most `disruptions` of relocate, retune and traffic per `per`; `cooldown` between ladder steps."""

    disruptions: int = 3
    per: timedelta = timedelta(hours=1)
    cooldown: timedelta = timedelta(minutes=1)
    freeze: tuple[str, ...] = ()  # names of windows in which nothing disruptive is done


@dataclass(frozen=True, slots=True)
class Policy:
    """What one policy document says. `hash` names its content."""

    ref: FleetRef  # the policy's own namespace/name
    hash: str
    modes: Modes = field(default_factory=Modes)
    scaling: ScalingLaw | None = None
    alerts: tuple[AlertRule, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    schedule: tuple[Scheduled, ...] = ()
    slos: tuple[Slo, ...] = ()
    windows: tuple[tuple[str, Window], ...] = ()
    limits: Limits = field(default_factory=Limits)
    notify_on: tuple[str, ...] = ()
    receivers: tuple[str, ...] = ()
    fleet_names: tuple[str, ...] = ()
    fleet_labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Prompts sent to a replica before it takes traffic. `prompt_tokens` None is `auto`."""

    requests: int = 8
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """What the autopilot launches: `args` in vLLM's own spelling, values as YAML gave them."""

    model: str
    served_names: tuple[str, ...] = ()
    image: str = ""
    args: tuple[tuple[str, str | int | float | bool], ...] = ()
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """The replicas of one fleet on one kind of GPU. `gpus` is GPUs per replica, None is `auto`."""

    name: str
    minimum: int
    maximum: int
    engine: Engine | None = None  # None: an adopted workload
    adopted: tuple[str, str, str] | None = None  # apiVersion, kind, name
    gpu_type: str = ""
    gpus: int | None = None
    replicas_writer: str = "autopilot"
    template_writer: str = "autopilot"
    warm_up: WarmUp = field(default_factory=WarmUp)
    warm_pool: int = 0
    max_pods_per_node: int | None = None
    memory_factor: float = 1.2  # GPU memory to ask for, as a multiple of what the weights need


@dataclass(frozen=True, slots=True)
class Fleet:
    """One fleet document."""

    ref: FleetRef
    backend: str
    source: str
    identity: tuple[tuple[str, str], ...]  # label pairs that every series of this fleet carries
    replica_label: str
    pools: tuple[Pool, ...]
    labels: tuple[tuple[str, str], ...] = ()
    service: str = ""
    hash: str = ""

    @property
    def pool(self) -> Pool:
        """The serving pool: there is exactly one yet."""
        return self.pools[0]
