"""What every action's Spec has in common: it is frozen, it refuses unknown keys, it names its verb."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from autopilot.domain.verbs import Verb


def camel(name: str) -> str:
    """`max_refused` as files spell it: `maxRefused`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


class Spec(BaseModel):
    """An action as an operator writes it under `do:`."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=camel, populate_by_name=True)
    verb: ClassVar[Verb]
