"""Relocate: move the worst replica to an idle node, make before break. It has a schema and no hands yet."""

from typing import ClassVar, Literal

from autopilot.actions.spec import Spec
from autopilot.domain.verbs import Verb


class Relocate(Spec):
    """Where to move the worst replica."""

    verb: ClassVar[Verb] = Verb.RELOCATE
    to: Literal["idle-node"] = "idle-node"
