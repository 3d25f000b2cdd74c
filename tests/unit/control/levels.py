"""Ticks of a small fleet, in the words of the scaling level."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from autopilot.control.level import Level, advance_level
from autopilot.control.load import LevelView
from autopilot.domain.conditions import Truth
from autopilot.domain.scaling import Bounds, DayOfLoad, LevelState, ProvenLoad, ScaleInLaw, ScalingLaw
from autopilot.domain.signals import Entry, Measured, Reading, Readings
from autopilot.domain.workloads import Replica, ReplicaState, Workload

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
TICK = 5 * SECOND
NOON = timedelta(hours=12)
TEMPLATE = "t1"
SHRINKS = ScalingLaw(bounds=(), scale_in=ScaleInLaw(stable_for=10 * MINUTE, every=MINUTE, drain_within=2 * MINUTE))
NOTHING_KNOWN = Readings()
PROVEN = LevelState(learned=(ProvenLoad(TEMPLATE, days=(DayOfLoad(0, good=10.0),), seconds=5.0),))


@dataclass(frozen=True)
class Traffic:
    """What the replicas say. `finished` and `growth` are per second, of the whole fleet; `waiting` is on the first replica."""

    running: Mapping[str, float]
    mean: Mapping[str, float] | None = None
    waiting: float = 0.0
    finished: float = 1.0
    growth: float = 0.0
    partial: bool = False
    more: tuple[Entry, ...] = ()

    def readings(self) -> Readings:
        """As the catalogue would name them."""
        mean = self.mean or self.running
        entries = [entry for name in self.running for entry in self._of(name, mean[name])]
        total, last_minute = sum(self.running.values()), sum(mean.values())
        entries += [
            Entry("in_flight", None, None, self._told(total + self.waiting)),
            Entry("running", MINUTE, None, self._told(last_minute)),
            Entry("request_rate", MINUTE, None, self._told(self.finished)),
            Entry("in_flight_growth", MINUTE, None, self._told(self.growth)),
        ]
        return Readings((*entries, *self.more))

    def _of(self, name: str, mean: float) -> Iterable[Entry]:
        waiting = self.waiting if name == next(iter(self.running)) else 0.0
        yield Entry("up", None, name, Measured(1.0))
        yield Entry("running", None, name, Measured(self.running[name]))
        yield Entry("running", MINUTE, name, Measured(mean))
        yield Entry("waiting", None, name, Measured(waiting))
        yield Entry("request_rate", MINUTE, name, Measured(self.finished / len(self.running)))

    def _told(self, value: float) -> Reading:
        return Measured(value, partial=self.partial)


def evenly(replicas: int, total: float, **more: float) -> Traffic:
    """A load spread over a, b, c…"""
    return Traffic(dict.fromkeys(names(replicas), total / replicas), **more)  # type: ignore[arg-type]  # numbers only


def names(count: int) -> tuple[str, ...]:
    """The names of so many replicas: a, b, c…"""
    return tuple(chr(ord("a") + index) for index in range(count))


def serving(count: int) -> tuple[Replica, ...]:
    """So many replicas that serve."""
    return tuple(Replica(name, ReplicaState.SERVING, TEMPLATE) for name in names(count))


def pending(*called: str, message: str = "") -> tuple[Replica, ...]:
    """Replicas that load."""
    return tuple(Replica(name, ReplicaState.STARTING, TEMPLATE, message=message) for name in called)


def workload(*replicas: Replica, desired: int | None = None, can_cordon: bool = True) -> Workload:
    """These replicas, as many as were asked for unless said otherwise."""
    return Workload(len(replicas) if desired is None else desired, "1", TEMPLATE, replicas, can_cordon)


def view_of(traffic: Traffic | None, there: Workload, *, now: timedelta = NOON, bounds: Bounds | None = None) -> LevelView:
    """A quiet tick: no symptom, no remediation; nothing is told where `traffic` is None."""
    return LevelView(
        now=now,
        readings=NOTHING_KNOWN if traffic is None else traffic.readings(),
        workload=there,
        law=SHRINKS,
        bounds=bounds or Bounds(1, 8),
        latency=Truth.NO if traffic is not None else Truth.UNKNOWN,
    )


def after(state: LevelState, view: LevelView, *, passed: timedelta, tick: timedelta = TICK) -> Level:
    """The level after the same view was seen on every tick of a stretch of time, the first one at `view.now`."""
    level = advance_level(state, view)
    for _ in range(round(passed / tick)):
        view = replace(view, now=view.now + tick)
        level = advance_level(level.state, view)
    return level
