"""Documents that are free of complaints into the values that the core works with."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from autopilot.actions import Action
from autopilot.catalog.signals import SignalKind
from autopilot.domain.alerts import AlertRule, Severity
from autopilot.domain.budgets import Claim, GpuBudget
from autopilot.domain.scaling import Bound, Demand, ScaleInLaw, ScalingLaw
from autopilot.domain.slos import Slo
from autopilot.domain.verbs import Modes, Verb
from autopilot.domain.windows import CronWindow, SpanWindow, Window
from autopilot.domain.workloads import FleetRef
from autopilot.policy.compile_conditions import compiled
from autopilot.policy.schema_fleet import FleetDocument, PoolShape
from autopilot.policy.schema_gpupool import GpuPoolDocument
from autopilot.policy.schema_policy import Do, LimitsShape, ModesShape, PolicyDocument, ScalingShape, SloShape, StepShape, WindowShape
from autopilot.policy.shapes import Metadata
from autopilot.policy.units import parse_threshold
from autopilot.policy.values import Engine, Fleet, Limits, Policy, Pool, Remedy, Scheduled, Step, Verify, WarmUp

Signals = Mapping[str, SignalKind]


def content_hash(data: Any) -> str:
    """Sixteen hex digits that name a document's content: comments, spacing and the order of keys do not count."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def compile_policy(document: PolicyDocument, *, digest: str, signals: Signals) -> Policy:
    """The policy with every default filled in."""
    spec = document.spec
    return Policy(
        ref=_ref(document.metadata),
        hash=digest,
        modes=_modes(spec.modes),
        scaling=None if spec.scaling is None else _scaling(spec.scaling),
        alerts=tuple(
            AlertRule(alert.name, Severity(alert.severity), compiled(alert.when, signals), alert.for_, alert.keep_firing_for)
            for alert in spec.alerts
        ),
        remedies=tuple(Remedy(remedy.alert, tuple(_step(step, signals) for step in remedy.steps)) for remedy in spec.remedies),
        schedule=tuple(Scheduled(scheduled.name, scheduled.every, _action(scheduled.do)) for scheduled in spec.schedule),
        slos=tuple(_slo(slo, signals) for slo in spec.slos),
        windows=tuple((name, _window(window)) for name, window in spec.windows.items()),
        limits=_limits(spec.limits),
        notify_on=() if spec.notify is None else spec.notify.on,
        receivers=() if spec.notify is None else spec.notify.receivers,
        fleet_names=spec.fleets.names,
        fleet_labels=tuple(sorted(spec.fleets.match_labels.items())),
    )


def _ref(metadata: Metadata) -> FleetRef:
    return FleetRef(metadata.namespace, metadata.name)


def _modes(modes: ModesShape) -> Modes:
    named = {
        Verb.SCALE_OUT: modes.scale_out,
        Verb.SCALE_IN: modes.scale_in,
        Verb.RELOCATE: modes.relocate,
        Verb.RETUNE: modes.retune,
        Verb.TRAFFIC: modes.traffic,
        Verb.DIAGNOSE: modes.diagnose,
        Verb.NOTIFY: modes.notify,
    }
    return Modes(modes.default, tuple((verb, mode) for verb, mode in named.items() if mode is not None))


def _scaling(scaling: ScalingShape) -> ScalingLaw:
    shrink = scaling.in_
    return ScalingLaw(
        bounds=tuple(Bound(bound.min, bound.max, bound.during) for bound in scaling.bounds),
        start_within=None if isinstance(scaling.out.start_within, str) else scaling.out.start_within,
        scale_in=None if shrink is None else ScaleInLaw(shrink.stable_for, shrink.every, shrink.drain_within, shrink.by),
        demand=tuple(Demand(demand.signal, demand.per_replica, demand.over) for demand in scaling.demand),
        headroom=scaling.headroom,
    )


def _action(do: Do) -> Action:
    (action,) = do.written
    return action


def _step(step: StepShape, signals: Signals) -> Step:
    verify = None
    if step.verify is not None:
        when = None if step.verify.when is None else compiled(step.verify.when, signals)
        verify = Verify(step.verify.within, step.verify.held_for, when)
    return Step(_action(step.do), step.repeat, verify, None if step.when is None else step.when.cause)


def _slo(slo: SloShape, signals: Signals) -> Slo:
    threshold = parse_threshold(slo.threshold, signals[slo.signal].unit)
    return Slo(slo.name, slo.signal, threshold, slo.objective, slo.window, slo.also_bad)


def _window(window: WindowShape) -> Window:
    if window.from_ is not None and window.to is not None:
        return SpanWindow(window.from_, window.to)
    if window.cron is None or window.lasts is None or window.time_zone is None:
        raise ValueError("a window is either recurring or a span")
    return CronWindow(window.cron, window.lasts, window.time_zone)


def _limits(limits: LimitsShape) -> Limits:
    usual = Limits()
    disruptions = limits.disruptions
    return Limits(
        disruptions=usual.disruptions if disruptions is None else disruptions.max,
        per=usual.per if disruptions is None else disruptions.per,
        cooldown=usual.cooldown if limits.cooldown is None else limits.cooldown,
        freeze=tuple(freeze.during for freeze in limits.freeze),
    )


def compile_fleet(document: FleetDocument, *, digest: str) -> Fleet:
    """The fleet with every default filled in."""
    spec = document.spec
    usual_label = "instance" if spec.backend == "local" else "pod"
    return Fleet(
        ref=_ref(document.metadata),
        backend=spec.backend,
        source=spec.metrics.source,
        identity=tuple(sorted(spec.metrics.identity.items())),
        replica_label=spec.metrics.replica or usual_label,
        pools=tuple(_pool(pool) for pool in spec.pools),
        labels=tuple(sorted(document.metadata.labels.items())),
        service="" if spec.traffic is None else spec.traffic.service,
        hash=digest,
    )


def _pool(pool: PoolShape) -> Pool:
    ref = pool.workload.ref
    gpu = None if pool.workload.render is None else pool.workload.render.gpu
    tokens = pool.warm_up.prompt_tokens
    return Pool(
        name=pool.name,
        minimum=pool.replicas.min,
        maximum=pool.replicas.max,
        engine=_engine(pool),
        adopted=None if ref is None else (ref.api_version, ref.kind, ref.name),
        gpu_type="" if gpu is None else gpu.type,
        gpus=None if gpu is None or isinstance(gpu.per_replica, str) else gpu.per_replica,
        replicas_writer=pool.writers.replicas,
        template_writer=pool.writers.template,
        warm_up=WarmUp(pool.warm_up.requests, None if isinstance(tokens, str) else tokens),
        warm_pool=pool.warm_pool.size,
        max_pods_per_node=None if gpu is None else gpu.max_pods_per_node,
        memory_factor=1.2 if gpu is None else gpu.memory_factor,
    )


def _engine(pool: PoolShape) -> Engine | None:
    render = pool.workload.render
    if render is None:
        return None
    engine = render.engine
    return Engine(render.model.source, render.model.served_name, engine.image or "", tuple(engine.args.items()), tuple(engine.env.items()))


def compile_gpu_pool(document: GpuPoolDocument) -> GpuBudget:
    """The budget of GPUs."""
    spec = document.spec
    claims = tuple(Claim(FleetRef.parse(claim.fleet), claim.priority, claim.guaranteed, claim.max) for claim in spec.claims)
    return GpuBudget(document.metadata.name, spec.gpus, claims)
