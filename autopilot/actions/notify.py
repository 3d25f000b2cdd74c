"""Notify: tell people. It never blocks and never holds the remediation slot."""

from typing import ClassVar

from pydantic import Field

from autopilot.actions.spec import Spec
from autopilot.domain.verbs import Verb


class Notify(Spec):
    """Whom to tell, by the names that the daemon's own file gives its receivers."""

    verb: ClassVar[Verb] = Verb.NOTIFY
    receivers: tuple[str, ...] = Field(min_length=1)
