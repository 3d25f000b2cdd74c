"""What a tick decides for a fleet: to act, or to hold for a reason."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from autopilot.domain.operations import Operation
from autopilot.domain.reasons import Reason
from autopilot.domain.verbs import Verb


@dataclass(frozen=True, slots=True)
class Act:
    """Carry this out. `why` is one sentence for people with the numbers behind it."""

    operation: Operation
    why: str = ""
    remediation: str = ""
    kind: Literal["act"] = "act"


@dataclass(frozen=True, slots=True)
class Hold:
    """Do nothing with this verb now. `limit` names what it ran against, with value and limit."""

    verb: Verb
    reason: Reason
    limit: str = ""
    kind: Literal["hold"] = "hold"


Decision: TypeAlias = Act | Hold
