"""Policies and fleets as values, for tests of the core."""

from dataclasses import replace
from datetime import timedelta

from autopilot.actions import Notify, Relocate, Scale
from autopilot.domain.alerts import AlertRule, Severity
from autopilot.domain.conditions import All, Comparison, Condition, Leaf, Truth
from autopilot.domain.scaling import Bound, ScaleInLaw, ScalingLaw
from autopilot.domain.verbs import Mode, Modes
from autopilot.domain.workloads import FleetRef
from autopilot.policy.values import Fleet, Limits, Policy, Pool, Remedy, Step, Verify

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)

CHAT = Fleet(
    ref=FleetRef("llm", "chat"),
    backend="simulated",
    source="default",
    identity=(("fleet", "chat"),),
    replica_label="instance",
    pools=(Pool("main", minimum=1, maximum=8),),
    hash="fleet",
)

SLOW = Leaf("ttft", Comparison.ABOVE, 0.5, over=MINUTE, quantile=0.99, symptom=True, latency=True)
STARVED = Leaf("bandwidth_utilization", Comparison.BELOW, 0.6, over=MINUTE, on_unknown=Truth.YES)
QUEUED = Leaf("waiting_per_replica", Comparison.ABOVE, 1.0, symptom=True)


def rule(name: str, condition: Condition, *, hold: timedelta = MINUTE, severity: Severity = Severity.TICKET) -> AlertRule:
    return AlertRule(name, severity, condition, hold=hold, keep_firing_for=timedelta(0))


def closed_loop(*, mode: Mode = Mode.ACT, maximum: int = 8, minimum: int = 1) -> Policy:
    """The ladder of the design: scale by the shortfall, relocate, tell people."""
    scale = Step(Scale(by="shortfall"), repeat=3, verify=Verify(within=2 * MINUTE))
    ladder = (scale, Step(Relocate(), verify=Verify(within=10 * MINUTE)), Step(Notify(receivers=("oncall",))))
    return Policy(
        ref=FleetRef("llm", "chat"),
        hash="policy",
        modes=Modes(default=mode),
        scaling=ScalingLaw(
            bounds=(Bound(minimum, maximum),),
            scale_in=ScaleInLaw(stable_for=10 * MINUTE, every=MINUTE, drain_within=2 * MINUTE),
        ),
        alerts=(rule("slow", All((SLOW, STARVED))), rule("queued", QUEUED, hold=10 * SECOND)),
        remedies=(Remedy("queued", (scale,)), Remedy("slow", ladder)),
        limits=Limits(),
        receivers=("oncall",),
        fleet_names=("chat",),
    )


def only(policy: Policy, alert: str) -> Policy:
    """The same policy with one alert alone."""
    return replace(
        policy,
        alerts=tuple(one for one in policy.alerts if one.name == alert),
        remedies=tuple(one for one in policy.remedies if one.alert == alert),
    )
