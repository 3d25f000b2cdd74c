"""One ladder of remedies until its effect is known."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from autopilot.domain.alerts import Severity
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import Verb


class Verdict(StrEnum):
    """What became of a step."""

    RUNNING = "running"
    HELPED = "helped"
    INSUFFICIENT = "insufficient"  # still bad but better, or the load rose: the same step again
    INEFFECTIVE = "ineffective"  # next step
    HARMFUL = "harmful"  # worse after relocate, retune or traffic: rolled back once
    INCONCLUSIVE = "inconclusive"  # the effect could not be seen
    ERROR = "error"  # it did not land in time, or was refused for good
    VOID = "void"  # something else changed in between: look again
    NOT_TAKEN = "not_taken"  # a mode, a bound or a guard did not let it


class Phase(StrEnum):
    """Where an attempt stands."""

    WAITING = "waiting"  # it may not start yet: cooldown, GPUs, approval, an unknown condition
    STARTED = "started"  # its intent is saved
    LANDED = "landed"  # its effect can show
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Gauged:
    """A symptom, measured: what two windows are compared by.

    `shares` are the shares certainly above their thresholds, `means` the means (of a histogram, or of a gauge
    over its window), leaf by leaf; None where unknown. `arrivals` is requests per second.
    """

    shares: tuple[float | None, ...] = ()
    means: tuple[float | None, ...] = ()
    arrivals: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One taking of one step.

    `number` counts from 1 up to the step's `repeat`. `waited` is how long it waited in its phase, without the
    time that was `blind`; `quiet` how long the symptom has been no since it landed; `target` the replicas it
    is about and `ready` how many served when it started; `extended` whether an inconclusive verification
    already got its one more `within`.
    """

    step: int
    number: int
    verb: Verb
    began: LogicalTime
    phase: Phase = Phase.WAITING
    verdict: Verdict = Verdict.RUNNING
    reason: Reason | None = None
    waited: timedelta = ZERO
    quiet: timedelta | None = None
    landed_at: LogicalTime | None = None
    ended_at: LogicalTime | None = None
    target: int | None = None
    ready: int | None = None
    blind: timedelta = ZERO
    template: str = ""
    before: Gauged | None = None
    after: Gauged | None = None
    extended: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Remediation:
    """What one firing alert set in motion. `floor` is the least number of replicas while it is open."""

    id: str
    alert: str
    severity: Severity
    opened_at: LogicalTime
    attempts: tuple[Attempt, ...] = ()
    floor: int | None = None
    exhausted: bool = False
    verdict: Verdict = Verdict.RUNNING
    closed_at: LogicalTime | None = None

    @property
    def current(self) -> Attempt | None:
        """The attempt that is under way, if one is."""
        last = self.attempts[-1] if self.attempts else None
        return last if last is not None and last.phase is not Phase.ENDED else None

    @property
    def open(self) -> bool:
        """Whether it is still under way."""
        return self.closed_at is None

    @property
    def landed_at(self) -> LogicalTime | None:
        """When its last step landed."""
        landings = [attempt.landed_at for attempt in self.attempts if attempt.landed_at is not None]
        return max(landings, default=None)


@dataclass(frozen=True, slots=True)
class Score:
    """How an action has done on a fleet so far."""

    verb: Verb
    tried: int = 0
    helped: int = 0
    harmed: int = 0
