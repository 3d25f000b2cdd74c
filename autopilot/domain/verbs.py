"""What the autopilot may do, and how far it may go on its own."""

from dataclasses import dataclass
from enum import StrEnum


class Verb(StrEnum):
    """Every kind of act, as policy files spell it."""

    SCALE_OUT = "scaleOut"
    SCALE_IN = "scaleIn"
    RELOCATE = "relocate"
    RETUNE = "retune"
    TRAFFIC = "traffic"
    DIAGNOSE = "diagnose"
    NOTIFY = "notify"


DISRUPTIVE = frozenset({Verb.SCALE_IN, Verb.RELOCATE, Verb.RETUNE, Verb.TRAFFIC})
# What can make things worse, and is then undone. Capacity is not among them: no verdict takes it away.
REVERSIBLE = frozenset({Verb.RELOCATE, Verb.RETUNE, Verb.TRAFFIC})
# Verbs that only talk: they act unless a policy says otherwise, and never hold the remediation slot.
TALKING = frozenset({Verb.DIAGNOSE, Verb.NOTIFY})


class Mode(StrEnum):
    """How far a verb may go: each includes the ones before it."""

    DISABLED = "disabled"
    OBSERVE = "observe"
    ADVISE = "advise"
    APPROVE = "approve"
    ACT = "act"


@dataclass(frozen=True, slots=True)
class Modes:
    """The mode of each verb; verbs that are not named follow `default`, talking ones act."""

    default: Mode = Mode.ADVISE
    named: tuple[tuple[Verb, Mode], ...] = ()

    def of(self, verb: Verb) -> Mode:
        """The mode in force for a verb."""
        named = dict(self.named)
        if verb in named:
            return named[verb]
        return Mode.ACT if verb in TALKING else self.default
