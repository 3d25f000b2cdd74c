"""Scenes for stories: a fleet under load, and what is read out of what was played."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random

from autopilot.control.audit import Record
from autopilot.domain.decisions import Act
from autopilot.domain.memory import Memory
from autopilot.domain.operations import SetReplicas
from autopilot.domain.remediations import Remediation
from autopilot.policy.values import Policy
from autopilot.simulation.arrivals import Lengths, Rate, arrivals
from autopilot.simulation.engine import EngineModel
from autopilot.simulation.fleet import Blackout, Scene, SimulatedFleet, StartUp
from autopilot.simulation.play import Player
from tests.support.policies import CHAT

# One replica carries about five such requests a second within 500 ms.
STEADY = Lengths(prompt_spread=0.2, output_spread=0.2)
ENGINE = EngineModel(slots=16)
# However many replicas there are, a prompt of these takes over half a second on its own.
HOPELESS = EngineModel(slots=64, prefill_tokens_per_second=1200.0)


def scene(rate: Rate, *, seconds: float, replicas: int = 1, engine: EngineModel = ENGINE, peak: float = 30.0, seed: int = 1) -> Scene:
    requests = arrivals(rate, peak=peak, seconds=seconds, rng=Random(seed), lengths=STEADY)
    return Scene(requests=requests, replicas=replicas, engine=engine, start_up=StartUp(seconds=30.0), scrape_seconds=5.0)


def player(policy: Policy | None, played: Scene, *, memory: Memory | None = None) -> Player:
    made = Player(CHAT, policy, SimulatedFleet(played, Random(7)))
    if memory is not None:
        made.memory = memory
    return made


def changes(records: Sequence[Record]) -> list[tuple[int, int]]:
    """Every change of the count that was decided: (before, after)."""
    effects = [act.operation.effect for record in records for act in record.decisions if isinstance(act, Act)]
    return [(effect.before, effect.count) for effect in effects if isinstance(effect, SetReplicas)]


def closed(memory: Memory, alert: str) -> list[Remediation]:
    return [one for one in memory.finished if one.alert == alert]


def at(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def dark(begins: float, ends: float) -> Blackout:
    return Blackout(begins=begins, ends=ends)
