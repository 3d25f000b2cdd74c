"""What one tick tells the scaling level: its view, and the load in it."""

from dataclasses import dataclass
from datetime import timedelta

from autopilot.domain.conditions import Truth
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.scaling import Bounds, LevelState, ScalingLaw
from autopilot.domain.signals import Distribution, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.workloads import Replica, ReplicaState, Workload

MINUTE = timedelta(minutes=1)  # the window of the law: proven-load.md


@dataclass(frozen=True, slots=True)
class LevelView:
    """Everything that the scaling level looks at in one tick.

    `bounds` are those in force now, open windows resolved. `latency` says whether any latency leaf of the policy's
    alerts is yes: unknown where the policy has none, or every load would count as proven. `symptom_yes`
    says that an alert with a yes symptom is pending or firing, `symptom_blind` that one cannot see,
    `began_firing` that one began to fire on this very tick. `floor` belongs to an open remediation. `foreign_zero` says that another hand set
    the count of 0 that is there.
    """

    now: LogicalTime
    readings: Readings
    workload: Workload
    law: ScalingLaw
    bounds: Bounds
    latency: Truth
    symptom_yes: bool = False
    symptom_blind: bool = False
    began_firing: bool = False
    floor: int | None = None
    remediation_open: bool = False
    foreign_zero: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """The load of one tick. None is unknown.

    `mean` and `newest` are running requests per ready replica, over the last minute and now, and known only
    when every ready replica tells. `in_flight` counts requests now: `at_least` so many even where some replicas
    are silent. `running` is the fleet's mean of the last minute; `finished` and `growth` (of what is in flight)
    are per second.
    """

    mean: float | None
    newest: float | None
    in_flight: float | None
    at_least: float | None
    running: float | None
    finished: float | None
    growth: float | None


def load_of(view: LevelView) -> Load:
    """Read the load out of a tick."""
    readings = view.readings
    return Load(
        mean=_per_ready(view, over=MINUTE),
        newest=_per_ready(view, over=None),
        in_flight=whole(readings.of("in_flight")),
        at_least=number(readings.of("in_flight")),
        running=whole(readings.of("running", over=MINUTE)),
        finished=whole(readings.of("request_rate", over=MINUTE)),
        growth=whole(readings.of("in_flight_growth", over=MINUTE)),
    )


def whole(reading: Reading) -> float | None:
    """The number, when none of its data was missing. An idle fleet's is 0."""
    match reading:
        case Measured(value=value, partial=False):
            return value
        case Idle():
            return 0.0
        case Measured() | Unknown() | Distribution():
            return None


def number(reading: Reading) -> float | None:
    """The number, even where some of its data was missing. An idle fleet's is 0."""
    match reading:
        case Measured(value=value):
            return value
        case Idle():
            return 0.0
        case Unknown() | Distribution():
            return None


def blind(view: LevelView) -> bool:
    """Whether replicas serve and nobody tells what they carry. Where none serves there is nothing to be told."""
    return bool(view.workload.serving) and number(view.readings.of("in_flight")) is None


def known_throughout(view: LevelView, state: LevelState) -> bool:
    """Whether every replica that should tells all that scale-in needs.

    One that has just become ready is no gap while it is silent.
    """
    since = dict(state.serving_since)
    return all(_tells(view, replica, since.get(replica.name, view.now)) for replica in live(view.workload))


def live(workload: Workload) -> tuple[Replica, ...]:
    """The replicas that serve, or did and may again: the only ones that carry requests."""
    return workload.in_state(ReplicaState.SERVING, ReplicaState.CORDONED, ReplicaState.UNHEALTHY)


def _tells(view: LevelView, replica: Replica, since: LogicalTime) -> bool:
    of, name = view.readings.of, replica.name
    told = (
        whole(of("up", replica=name)),
        whole(of("running", replica=name)),
        whole(of("waiting", replica=name)),
        whole(of("request_rate", over=MINUTE, replica=name)),
    )
    if None not in told:
        return told[0] == 1.0
    # Its first scrapes are still to come, and a rate needs two of them: four of 15 s are a minute.
    return replica.state is ReplicaState.SERVING and view.now - since < MINUTE


def _per_ready(view: LevelView, *, over: timedelta | None) -> float | None:
    told = [whole(view.readings.of("running", over=over, replica=replica.name)) for replica in view.workload.serving]
    values = [value for value in told if value is not None]
    return sum(values) / len(values) if values and len(values) == len(told) else None
