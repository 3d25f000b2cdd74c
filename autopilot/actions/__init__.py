"""What the autopilot can do: one file per verb, and their union, which is the registry."""

from typing import Final, TypeAlias

from autopilot.actions.diagnose import Diagnose
from autopilot.actions.notify import Notify
from autopilot.actions.relocate import Relocate
from autopilot.actions.retune import Retune
from autopilot.actions.scale import Scale
from autopilot.actions.spec import Spec

Action: TypeAlias = Scale | Relocate | Retune | Diagnose | Notify
ACTIONS: dict[str, type[Action]] = {"scale": Scale, "relocate": Relocate, "retune": Retune, "diagnose": Diagnose, "notify": Notify}

# Verbs that have a schema and no hands yet: a warning in `check`, `Hold(not_supported)` when their turn comes.
NOT_SUPPORTED: Final[tuple[type[Spec], ...]] = (Relocate, Retune, Diagnose)

__all__ = ["ACTIONS", "NOT_SUPPORTED", "Action", "Diagnose", "Notify", "Relocate", "Retune", "Scale"]
