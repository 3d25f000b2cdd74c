"""Scale: raise the floor of the fleet's level while a remediation is open. It never lowers anything."""

from math import ceil
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from autopilot.actions.spec import Spec
from autopilot.domain.verbs import Verb


def _by(value: object) -> object:
    """Refuse what is neither a count nor the one word. Raises ValueError."""
    counted = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 1000
    if counted or value == "shortfall":
        return value
    raise ValueError("write by: shortfall, or a number of replicas from 1 to 1000")


By = Annotated[
    int | Literal["shortfall"],
    BeforeValidator(_by),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 1000}, {"const": "shortfall"}]}),
]


class Scale(Spec):
    """Add replicas: `by` that many, or the whole `shortfall` at once."""

    verb: ClassVar[Verb] = Verb.SCALE_OUT
    by: By = "shortfall"


def floor_of(spec: Scale, *, ready: int, in_flight: float | None, good: float | None) -> int:
    """The number of replicas a scale step asks for.

    A shortfall is made up all at once, to ceil(in flight / good), at least one more than are ready; one
    replica a minute would lose 60 to 80 % of a burst (design.md, "Scaling by proven load"). While good or
    the load is unknown it is one more.
    """
    if spec.by != "shortfall":
        return ready + spec.by
    if in_flight is None or good is None or good <= 0:
        return ready + 1
    return max(ready + 1, ceil(in_flight / good))
