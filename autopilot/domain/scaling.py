"""What the scaling level works with: limits that operators set, and loads that replicas have proven."""

from dataclasses import dataclass
from datetime import timedelta

from autopilot.domain.logical_time import LogicalTime


@dataclass(frozen=True, slots=True)
class Bound:
    """At least `minimum`, at most `maximum` replicas, always or while the named window is open.

    None leaves that side as earlier entries set it.
    """

    minimum: int | None = None
    maximum: int | None = None
    during: str | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits in force now. Raises ValueError when they cross."""

    minimum: int
    maximum: int

    def __post_init__(self) -> None:
        """Refuse limits that nothing can satisfy."""
        if not 0 <= self.minimum <= self.maximum:
            message = f"bounds must satisfy 0 <= min <= max, got min {self.minimum} and max {self.maximum}"
            raise ValueError(message)

    def cap(self, wanted: int, *, present: int) -> int:
        """Law 11: what is below the minimum is raised, what is added is capped; a count found above is kept."""
        return max(min(max(wanted, self.minimum), self.maximum), present)


@dataclass(frozen=True, slots=True)
class Demand:
    """A target of one's own: `per_replica` of a signal's unit is what one replica carries."""

    signal: str
    per_replica: float
    over: timedelta | None = None


@dataclass(frozen=True, slots=True)
class ScaleInLaw:
    """How capacity goes down: after `stable_for`, at most once per `every`, drained within `drain_within`."""

    stable_for: timedelta
    every: timedelta
    drain_within: timedelta
    by: int | None = None


@dataclass(frozen=True, slots=True)
class ScalingLaw:
    """The operator's part of the scaling level. Without `scale_in` nothing ever shrinks."""

    bounds: tuple[Bound, ...]
    start_within: timedelta | None = None  # None is `auto`: twice the measured p99 load time
    scale_in: ScaleInLaw | None = None
    demand: tuple[Demand, ...] = ()
    headroom: float = 0.0


@dataclass(frozen=True, slots=True)
class DayOfLoad:
    """The highest good and the lowest bad load seen on one day of logical time (day 0 is the first)."""

    day: int
    good: float | None = None
    bad: float | None = None


@dataclass(frozen=True, slots=True)
class ProvenLoad:
    """What one replica of one pod template has shown it can carry, in running requests.

    `days` holds the last seven; `seconds` is the time a request spent in the system when the load was
    last good; `load_seconds` the last measured start-up times, newest last.
    """

    template: str
    days: tuple[DayOfLoad, ...] = ()
    seconds: float | None = None
    load_seconds: tuple[float, ...] = ()

    @property
    def good(self) -> float | None:
        """The highest load of a minute whose latency was well within its limits."""
        return max((day.good for day in self.days if day.good is not None), default=None)

    @property
    def bad(self) -> float | None:
        """The lowest load at which a symptom began, at least 5 % over good."""
        lowest = min((day.bad for day in self.days if day.bad is not None), default=None)
        return None if lowest is None else max(lowest, 1.05 * (self.good or 0.0))


@dataclass(frozen=True, slots=True)
class Need:
    """What a tick would have kept, remembered for `stableFor`."""

    at: LogicalTime
    replicas: int


@dataclass(frozen=True, slots=True)
class Bar:
    """A rest after replicas that never started: counts over `above` are not asked for again before `until`.

    `rest` is its length, doubled the next time; `message` the backend's reason at the time: when that
    changes, the rest is over.
    """

    until: LogicalTime
    above: int
    rest: timedelta
    message: str = ""


@dataclass(frozen=True, slots=True)
class LevelState:
    """What the scaling level remembers between ticks.

    The scale-in clock: `stable` is how long everything that scale-in needs has been known, `calm_at` the last
    tick at which it was (None after one at which it was not), `unknown_run` how many ticks in a row it was
    not; `needs` the highest recent needs (a falling sequence: later entries are lower).
    Pending replicas: `waited` is how long each has been waited for, `seen_at` the last tick that was not blind
    (None after one that was), `given_up` those that are no longer waited for, `bar` the rest after them,
    `floor` the last floor of a remediation whose pending replicas are not settled yet.
    `serving_since` is when each replica was first seen serving; `count` the present count of the last tick,
    `shrunk_at` when it last fell; `wanted` the last result.
    """

    learned: tuple[ProvenLoad, ...] = ()
    stable: timedelta = timedelta(0)
    calm_at: LogicalTime | None = None
    unknown_run: int = 0
    needs: tuple[Need, ...] = ()
    count: int | None = None
    shrunk_at: LogicalTime | None = None
    waited: tuple[tuple[str, timedelta], ...] = ()
    seen_at: LogicalTime | None = None
    given_up: tuple[str, ...] = ()
    bar: Bar | None = None
    floor: int | None = None
    serving_since: tuple[tuple[str, LogicalTime], ...] = ()
    wanted: int | None = None

    def of(self, template: str) -> ProvenLoad:
        """The proven load of a template, empty for one that was never seen."""
        return next((load for load in self.learned if load.template == template), ProvenLoad(template))

    @property
    def barred_until(self) -> LogicalTime | None:
        """Until when more replicas are not asked for, because the last ones never started."""
        return None if self.bar is None else self.bar.until
