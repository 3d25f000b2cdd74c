"""Playing a story: the real cycle on a fleet made of values, with interruptions where the player wants them.

Outcomes come back on the tick after the act, as they do from real workers. A *cut* is the death of the daemon at
a chosen point: what was saved stays, what was under way is unknown, and the next tick is a new process's first.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum

from autopilot.control.audit import Record, record
from autopilot.control.cycle import Cycled, run_one
from autopilot.control.scale_in import after_restart
from autopilot.control.seen import Case, Seen
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, Operation, Outcome, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.policy.values import Fleet, Policy
from autopilot.ports import Conflict, Refused
from autopilot.simulation.fleet import SimulatedFleet


class CutAt(StrEnum):
    """Where the daemon dies within a tick that acts."""

    BEFORE_SAVING = "before_saving"
    AFTER_SAVING = "after_saving"  # the intent is saved, nothing is touched
    AFTER_ACTING = "after_acting"  # the change is made, its outcome is lost


@dataclass(slots=True)
class Player:
    """One fleet under the real cycle."""

    fleet: Fleet
    policy: Policy | None
    world: SimulatedFleet
    interval: timedelta = timedelta(seconds=5)
    memory: Memory = field(default_factory=Memory)
    told: list[Tell] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    _outcomes: tuple[Outcome, ...] = ()
    _restarted: bool = True

    def play(self, until: timedelta) -> Iterator[Record]:
        """Tick after tick until a moment of the story."""
        while self.world.now < until:
            self.world.advance(self.world.now + self.interval)
            yield self.tick()

    def run(self, until: timedelta) -> "Player":
        """Play to the end of a stretch."""
        for _ in self.play(until):
            pass
        return self

    def tick(self, cut: CutAt | None = None, *, on_act: Callable[[Operation], None] | None = None) -> Record:
        """One tick. With `cut` the daemon dies there, if the tick acts at all."""
        case = self._case()
        cycled = run_one(case, granted=None)
        made = record(case, cycled, granted=None, documents="played")
        self.records.append(made)
        dies = cut if cycled.acts else None
        self._outcomes = ()
        self._restarted = False
        if dies is CutAt.BEFORE_SAVING:
            self._die(self.memory)
            return made
        self.memory = cycled.memory
        if dies is not CutAt.AFTER_SAVING:
            self._outcomes = self._act(cycled, on_act)
        if dies is not None:
            self._die(self.memory)
        return made

    def _case(self) -> Case:
        seen = Seen(
            now=self.world.now,
            interval=self.interval,
            scrape_interval=timedelta(seconds=self.world.scene.scrape_seconds),
            readings=self.world.readings(),
            workload=self.world.observe(self.fleet.ref),
            outcomes=self._outcomes,
            restarted=self._restarted,
        )
        return Case(self.fleet, self.policy, self.memory, seen)

    def _die(self, saved: Memory) -> None:
        self.memory = replace(saved, level=after_restart(saved.level))
        self._outcomes = ()
        self._restarted = True

    def _act(self, cycled: Cycled, on_act: Callable[[Operation], None] | None) -> tuple[Outcome, ...]:
        outcomes = []
        for act in cycled.acts:
            outcomes.append(self._carry_out(act.operation))
            if on_act is not None:
                on_act(act.operation)
        return tuple(outcomes)

    def _carry_out(self, operation: Operation) -> Outcome:
        try:
            self._apply(operation)
        except Conflict as error:
            return Outcome(operation.id, OutcomeKind.CONFLICT, str(error))
        except Refused as error:
            return Outcome(operation.id, OutcomeKind.REFUSED, str(error))
        return Outcome(operation.id, OutcomeKind.DONE)

    def _apply(self, operation: Operation) -> None:
        match operation.effect:
            case SetReplicas() as effect:
                self.world.set_replicas(operation.fleet, effect)
            case Cordon() as effect:
                self.world.cordon(operation.fleet, effect)
            case Uncordon() as effect:
                self.world.uncordon(operation.fleet, effect)
            case Tell() as message:
                self.told.append(message)
