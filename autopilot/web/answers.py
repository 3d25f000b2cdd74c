"""What the API answers with. Durations are seconds; what is not known is null; a number that is none is null too."""

from collections.abc import Mapping
from datetime import datetime
from typing import Self

from pydantic import BaseModel, ConfigDict, RootModel

from autopilot.control.status import FleetStatus
from autopilot.daemon.board import DaemonStatus
from autopilot.daemon.history import Told
from autopilot.domain.reports import Taken
from autopilot.web.explained import Decisions

_CONFIG = ConfigDict(ser_json_timedelta="float", frozen=True)


class Answer(BaseModel):
    """One answer; its configuration holds for the values within it too."""

    model_config = _CONFIG


class Health(Answer):
    """Whether the loop goes round. Before the first tick, `age_seconds` counts from the start of this process."""

    healthy: bool
    ticked: bool
    age_seconds: float
    limit_seconds: float


class Readiness(Answer):
    """Why the daemon is not ready; no reasons when it is."""

    ready: bool
    reasons: tuple[str, ...]


class StatusAnswer(Answer):
    """The last completed tick."""

    daemon: DaemonStatus
    fleets: tuple[FleetStatus, ...]


class FleetAnswer(RootModel[FleetStatus]):
    """One fleet as of its last tick."""

    model_config = _CONFIG


class StoryLineAnswer(Answer):
    """One line of the story; `number` rises by one with each, whatever the fleet."""

    number: int
    wall: datetime
    fleet: str
    event: str
    text: str
    remediation: str

    @classmethod
    def of(cls, told: Told) -> "StoryLineAnswer":
        """A line as it was told."""
        line = told.line
        return cls(
            number=told.number, wall=told.wall, fleet=told.fleet, event=line.event.value, text=line.text, remediation=line.remediation
        )


class StoryAnswer(Answer):
    """Lines oldest first. `newest` is the number of the last line told of any fleet: lower than `after` once the daemon was restarted."""

    newest: int
    lines: tuple[StoryLineAnswer, ...]


class DecisionsAnswer(RootModel[Decisions]):
    """Records explained, oldest first."""

    model_config = _CONFIG


class UnknownFleet(Answer):
    """No fleet is called so; these are."""

    detail: str
    known: tuple[str, ...]


class Accepted(Answer):
    """How many alerts of a message came to what: fresh ones hurry the next look, the others change nothing."""

    fresh: int
    closed: int
    duplicate: int
    stale: int

    @classmethod
    def of(cls, counts: Mapping[Taken, int]) -> Self:
        """As an answer."""
        return cls(**{taken.value: counts.get(taken, 0) for taken in Taken})


class Refused(Answer):
    """Why a message was not taken."""

    detail: str


class Unavailable(Answer):
    """It cannot be told now, and why."""

    detail: str
