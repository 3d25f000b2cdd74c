"""What the scaling level is compared with, and the few lines that drive each on a simulated fleet.

The alerts here are the two plain ones of the shipped policies (a latency p99, and `queued`), the ladder is a
scale step by the shortfall: enough to compare laws, no replacement for the whole loop.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from typing import Protocol

from autopilot.actions.scale import Scale, floor_of
from autopilot.control.level import Grow, Level, Shrink, advance_level
from autopilot.control.load import MINUTE, LevelView, number, whole
from autopilot.domain.alerts import Alert, AlertRule, Severity, advance
from autopilot.domain.conditions import Comparison, Leaf, Truth, any_of
from autopilot.domain.operations import Cordon, SetReplicas, Uncordon
from autopilot.domain.quantiles import full_size, share_above, surely_exceeds
from autopilot.domain.scaling import Bounds, LevelState, ScaleInLaw, ScalingLaw
from autopilot.domain.signals import Distribution, Idle, Readings
from autopilot.domain.workloads import FleetRef, ReplicaState, Workload
from autopilot.simulation.fleet import SimulatedFleet

FLEET = FleetRef("simulated", "chat")
SLO_SECONDS = 0.5
OBJECTIVE = 0.99
TICK = timedelta(seconds=5)
COOLDOWN = timedelta(minutes=1)
DRAIN_WITHIN = timedelta(minutes=2)
LAW = ScalingLaw(bounds=(), scale_in=ScaleInLaw(stable_for=timedelta(minutes=10), every=MINUTE, drain_within=DRAIN_WITHIN))
TTFT = Leaf("ttft", Comparison.ABOVE, SLO_SECONDS, over=MINUTE, quantile=OBJECTIVE, symptom=True, latency=True)
WAITING = Leaf("waiting_per_replica", Comparison.ABOVE, 1.0, symptom=True)


class Rule(Protocol):
    """Whatever decides about the count, once per tick."""

    def tick(self, fleet: SimulatedFleet) -> None:
        """Look at the fleet and act on it."""
        ...


def play(fleet: SimulatedFleet, rule: Rule, *, until: timedelta) -> None:
    """Let a rule drive a fleet to the end of its story."""
    while fleet.now < until:
        fleet.advance(fleet.now + TICK)
        rule.tick(fleet)


class Fixed:
    """Nobody scales."""

    def tick(self, fleet: SimulatedFleet) -> None:
        """Leave everything as it is."""


def latency(readings: Readings) -> Truth:
    """Whether more than 1 % of the first tokens of the last minute took longer than the SLO, judged on bucket counts."""
    ttft = readings.of("ttft", over=MINUTE)
    if isinstance(ttft, Idle):
        return Truth.NO
    if not isinstance(ttft, Distribution):
        return Truth.UNKNOWN
    share = share_above(ttft, SLO_SECONDS)
    allowed = 1.0 - OBJECTIVE
    if share.count >= full_size(OBJECTIVE):
        return Truth.YES if share.certain_ratio > allowed else Truth.NO
    if surely_exceeds(hits=share.certainly, count=share.count, share=allowed):
        return Truth.YES
    return Truth.NO if share.count >= 10 and share.possibly == 0 else Truth.UNKNOWN


def queued(readings: Readings) -> Truth:
    """Whether a request or more per replica waits."""
    waiting = number(readings.of("waiting_per_replica"))
    if waiting is None:
        return Truth.UNKNOWN
    return Truth.YES if waiting >= 1.0 else Truth.NO


@dataclass
class ProvenLoad:
    """The scaling level, driven by the two alerts and a ladder of one step."""

    bounds: Bounds
    hold: timedelta = MINUTE
    law: ScalingLaw = LAW
    state: LevelState = field(default_factory=LevelState)
    level: Level | None = None
    floor: int | None = None
    landed_at: timedelta | None = None
    leaving: tuple[str, ...] = ()
    left_at: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        """Set up the two alerts."""
        self.rules = (
            AlertRule("slow-first-token", Severity.PAGE, TTFT, hold=self.hold),
            AlertRule("queued", Severity.TICKET, WAITING, hold=timedelta(seconds=10)),
        )
        self.alerts = tuple(Alert(rule.name) for rule in self.rules)

    def tick(self, fleet: SimulatedFleet) -> None:
        """Judge, climb, level, act."""
        readings, workload, now = fleet.readings(), fleet.observe(FLEET), fleet.now
        truths = (latency(readings), queued(readings))
        before = self.alerts
        self.alerts = tuple(advance(alert, rule, truth, now=now) for alert, rule, truth in zip(before, self.rules, truths, strict=True))
        self._climb(readings, workload, now)
        view = LevelView(
            now=now,
            readings=readings,
            workload=workload,
            law=self.law,
            bounds=self.bounds,
            latency=truths[0],
            symptom_yes=any_of(list(truths)) is Truth.YES,
            began_firing=any(new.firing and not old.firing for new, old in zip(self.alerts, before, strict=True)),
            floor=self.floor,
            remediation_open=self.floor is not None,
        )
        self.level = advance_level(self.state, view)
        self.state = self.level.state
        self._act(fleet, view, self.level)

    def _climb(self, readings: Readings, workload: Workload, now: timedelta) -> None:
        """One scale step by the shortfall; again a cooldown after it landed; gone when the alerts resolve."""
        if not any(alert.firing for alert in self.alerts):
            self.floor = self.landed_at = None
            return
        serving, good = len(workload.serving), self.state.of(workload.template).good
        in_flight = number(readings.of("in_flight"))
        if self.floor is not None and serving < self.floor:
            follow = floor_of(Scale(), ready=0, in_flight=in_flight, good=good)
            self.floor = min(max(self.floor, follow), self.bounds.maximum)
            return
        if self.floor is not None and self.landed_at is None:
            self.landed_at = now
        if self.landed_at is None or now - self.landed_at >= COOLDOWN:
            asked = floor_of(Scale(), ready=serving, in_flight=in_flight, good=good)
            self.floor, self.landed_at = min(asked, self.bounds.maximum), None

    def _act(self, fleet: SimulatedFleet, view: LevelView, level: Level) -> None:
        workload = view.workload
        if self.leaving:
            self._carry_on(fleet, view, level)
        elif level.retract:
            fleet.set_replicas(FLEET, _change(workload, workload.desired - len(level.retract), level.retract))
        elif isinstance(level.move, Shrink):
            self.leaving, self.left_at = level.move.victims, view.now
            fleet.cordon(FLEET, Cordon(self.leaving))
        elif isinstance(level.move, Grow):
            fleet.set_replicas(FLEET, _change(workload, level.move.to))

    def _carry_on(self, fleet: SimulatedFleet, view: LevelView, level: Level) -> None:
        workload, left = view.workload, view.workload.desired - len(self.leaving)
        grown = level.move.to if isinstance(level.move, Grow) else 0
        if max(level.needed or 0, grown) > left or view.now - self.left_at > DRAIN_WITHIN:
            fleet.uncordon(FLEET, Uncordon(self.leaving))
            self.leaving = ()
        elif level.needed is not None and view.now - self.left_at > timedelta(seconds=30) and self._drained(view.readings):
            fleet.set_replicas(FLEET, _change(workload, left, self.leaving))
            self.leaving = ()

    def _drained(self, readings: Readings) -> bool:
        counts = [whole(readings.of(signal, replica=name)) for signal in ("running", "waiting") for name in self.leaving]
        return all(count == 0 for count in counts)


@dataclass
class Autoscaler:
    """Kubernetes' horizontal autoscaler on one external quantity with an average target per replica.

    Every 15 s; 10 % tolerance; up at most to the double or by four pods per 15 s; down to the highest
    recommendation of the last five minutes. `signal` is `in_flight` for the HPA, `waiting` as people use it with KEDA.
    """

    bounds: Bounds
    signal: str
    target: float
    asked_at: timedelta = timedelta(0)
    recommended: list[tuple[timedelta, int]] = field(default_factory=list)

    def tick(self, fleet: SimulatedFleet) -> None:
        """Recommend, stabilise, set."""
        if fleet.now - self.asked_at < timedelta(seconds=15):
            return
        self.asked_at = fleet.now
        total = number(fleet.readings().of(self.signal))
        workload = fleet.observe(FLEET)
        if total is None:
            return
        count = self._stabilised(fleet.now, self._recommend(total, workload.desired))
        count = min(count, max(2 * workload.desired, workload.desired + 4))
        count = min(max(count, self.bounds.minimum), self.bounds.maximum)
        if count != workload.desired:
            self._set(fleet, workload, count)

    def _recommend(self, total: float, present: int) -> int:
        ratio = total / (self.target * max(present, 1))
        return present if abs(ratio - 1.0) <= 0.1 else ceil(total / self.target)

    def _stabilised(self, now: timedelta, count: int) -> int:
        recent = [entry for entry in self.recommended if now - entry[0] <= timedelta(minutes=5)]
        self.recommended = [*recent, (now, count)]
        return max(entry[1] for entry in self.recommended)

    def _set(self, fleet: SimulatedFleet, workload: Workload, count: int) -> None:
        """Whoever goes is not chosen: Kubernetes takes those that are not ready, then the youngest."""
        ranked = sorted(workload.replicas, key=lambda replica: (replica.state is ReplicaState.SERVING, replica.age))
        victims = tuple(replica.name for replica in ranked[: max(0, workload.desired - count)])
        fleet.set_replicas(FLEET, _change(workload, count, victims))


def _change(workload: Workload, count: int, victims: tuple[str, ...] = ()) -> SetReplicas:
    return SetReplicas(count, workload.desired, workload.version, victims)
