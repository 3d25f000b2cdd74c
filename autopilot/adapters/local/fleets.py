"""What the daemon hands the local backend: fleets of this machine, and how to run them."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from autopilot.domain.workloads import FleetRef
from autopilot.fleet.edges import Edges, with_edges
from autopilot.fleet.engine import EngineSpec

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")  # it becomes a folder


@dataclass(frozen=True, slots=True)
class WarmUp:
    """So many prompts go through a replica before it gets traffic, their lengths in turn; no request is no warm-up."""

    requests: int = 8
    prompt_tokens: tuple[int, ...] = (512,)

    def __post_init__(self) -> None:
        """Refuse what cannot be sent."""
        if self.requests < 0 or not self.prompt_tokens or min(self.prompt_tokens) < 1:
            message = f"a warm-up is at least 0 requests of at least 1 token each, got {self.requests} of {self.prompt_tokens}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class LocalFleet:
    """One fleet of engines on this machine.

    `minimum` and `maximum` are what may ever exist; `labels` are put on every target for Prometheus, beside
    `instance`; a `router_port` of None is chosen once and kept. `edges` are what its histograms should have where
    its engines are yet to be started. Raises ValueError for what could not run.
    """

    ref: FleetRef
    engine: EngineSpec
    minimum: int
    maximum: int
    gpus_per_replica: int = 0
    warm_up: WarmUp = field(default_factory=WarmUp)
    labels: tuple[tuple[str, str], ...] = ()
    router_port: int | None = None
    edges: Edges = ()

    def __post_init__(self) -> None:
        """Refuse limits that cross and names that are no folder."""
        if not 0 <= self.minimum <= self.maximum:
            message = f"{self.ref}: replicas must satisfy 0 <= min <= max, got min {self.minimum} and max {self.maximum}"
            raise ValueError(message)
        if self.gpus_per_replica < 0:
            message = f"{self.ref}: a replica takes 0 GPUs or more, got {self.gpus_per_replica}"
            raise ValueError(message)
        for part in (self.ref.namespace, self.ref.name):
            if not _PLAIN_NAME.fullmatch(part):
                message = f'"{self.ref}": the name of a local fleet is made of letters, digits, ".", "_" and "-"'
                raise ValueError(message)

    def with_edges(self, edges: Edges) -> "LocalFleet":
        """With engines that have these edges."""
        return replace(self, engine=with_edges(self.engine, edges))


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """How long things may take, in seconds."""

    look: float = 1.0  # between two looks at everything when nothing wakes the supervisor
    answer: float = 2.0  # for /health, /metrics and the router's list
    start_unknown: float = 600.0  # until a template has served once
    start_at_least: float = 60.0  # twice a start of seconds would fail when several load at once
    stall: float = 60.0  # without an engine step although there is work (design law 1)
    probe: float = 30.0  # for one token from an engine that looks stalled
    stop_margin: float = 10.0  # over the engine's own drain, until SIGKILL
    retry_first: float = 30.0  # after a failed start; doubles
    retry_most: float = 600.0
    steady: float = 300.0  # who served this long was no crash loop
    blind_after: float = 30.0  # without a completed look, nothing is known of a fleet


@dataclass(frozen=True, slots=True)
class LocalOptions:
    """How engines and routers are started, and where this backend keeps its own.

    `launch` and `router` are argv prefixes; `gpus` the indexes of the GPUs that are ours to give, none on a
    machine without; `ports` lies below what Linux hands out to outgoing connections.
    """

    launch: tuple[str, ...]
    router: tuple[str, ...]
    state_dir: Path
    file_sd: Path
    gpus: tuple[int, ...] = ()
    times: LocalTimes = field(default_factory=LocalTimes)
    ports: range = range(20_000, 29_000)
