"""Diagnose: collect evidence for one remediation. It has a schema and no hands yet."""

from typing import ClassVar, Literal

from pydantic import Field

from autopilot.actions.spec import Spec
from autopilot.domain.verbs import Verb

Evidence = Literal["engine-logs", "gpu-state", "gc-log", "metrics", "node-state"]


class Diagnose(Spec):
    """What to collect."""

    verb: ClassVar[Verb] = Verb.DIAGNOSE
    collect: tuple[Evidence, ...] = Field(min_length=1)
