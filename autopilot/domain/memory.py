"""What a fleet's autopilot remembers between two ticks: the only thing that correctness needs.

One small value per fleet, saved whole, with every intent in it before anything is touched.
"""

from dataclasses import dataclass, field

from autopilot.domain.alerts import Alert
from autopilot.domain.logical_time import ZERO, LogicalTime
from autopilot.domain.operations import Intent
from autopilot.domain.remediations import Remediation, Score
from autopilot.domain.scaling import LevelState
from autopilot.domain.verbs import Verb

SCHEMA = 1  # raised when an old Memory can no longer be read


@dataclass(frozen=True, slots=True)
class Removal:
    """Replicas on their way out: cordoned, draining, then removed. `returning` once they are called back to traffic."""

    victims: tuple[str, ...]
    began: LogicalTime
    returning: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """People hold the autopilot back: these verbs (all when empty) until a moment of logical time."""

    until: LogicalTime
    reason: str
    by: str
    verbs: tuple[Verb, ...] = ()


@dataclass(frozen=True, slots=True)
class Failing:
    """A kind of change failed so many times in a row; it is not tried again before `until`. `detail` is for people."""

    verb: Verb
    tries: int
    until: LogicalTime
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ForeignWrite:
    """Somebody else changed the replica count, and in which direction."""

    at: LogicalTime
    before: int
    after: int
    writer: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """Alert states, open remediation, open intents, learned values."""

    now: LogicalTime = ZERO
    alerts: tuple[Alert, ...] = ()
    remediation: Remediation | None = None
    talks: tuple[Remediation, ...] = ()  # ladders of diagnose and notify alone run beside the slot
    finished: tuple[Remediation, ...] = ()  # the last closed ones, for cooldowns and for people
    intents: tuple[Intent, ...] = ()
    level: LevelState = field(default_factory=LevelState)
    removal: Removal | None = None
    accepted: int | None = None  # the replica count that we know was last accepted or met
    foreign: tuple[ForeignWrite, ...] = ()
    contested: bool = False
    zeroed_elsewhere: bool = False  # another hand set the count to 0: it stays
    pauses: tuple[Pause, ...] = ()
    scores: tuple[Score, ...] = ()
    landed_at: LogicalTime | None = None  # the last ladder step of this fleet that landed
    sequence: int = 0  # numbers remediations and operations of this fleet
    hold_until: LogicalTime | None = None  # a lost memory starts blank, in hold for one cooldown
    failing: tuple[Failing, ...] = ()  # kinds of change that rest after failures
    schema: int = SCHEMA
