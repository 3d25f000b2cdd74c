"""Ticks of the whole cycle on hand-made observations: for the edges that no story plays."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from autopilot.control.cycle import Cycled, run_one
from autopilot.control.seen import Case, Seen
from autopilot.domain.decisions import Hold
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, Effect, Operation, Outcome, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.domain.reasons import Reason
from autopilot.domain.remediations import Attempt, Remediation
from autopilot.domain.scaling import DayOfLoad, LevelState, ProvenLoad
from autopilot.domain.signals import Entry, Measured, Readings
from autopilot.domain.verbs import Verb
from autopilot.domain.workloads import Observation, Replica, ReplicaState, Unobserved, Workload
from autopilot.policy.values import Fleet, Policy
from tests.support.policies import CHAT, MINUTE, closed_loop, only

SECOND = timedelta(seconds=1)
TICK = 5 * SECOND
START = timedelta(hours=2)
TEMPLATE = "t1"
STATES = {
    "s": ReplicaState.SERVING,
    "p": ReplicaState.STARTING,
    "c": ReplicaState.CORDONED,
    "f": ReplicaState.FAILED,
    "u": ReplicaState.UNHEALTHY,
}
CALM, BAD, UNKNOWN = 0.0, 9.0, None  # requests waiting per replica


def fleet_of(states: str, *, desired: int | None = None, version: int = 1, template: str = TEMPLATE, can_cordon: bool = True) -> Workload:
    """Replicas r1, r2… in these states: s(erving), p(ending), c(ordoned), f(ailed), u(nhealthy)."""
    replicas = tuple(_replica(f"r{number}", state, template) for number, state in enumerate(states, 1))
    return Workload(len(states) if desired is None else desired, str(version), template, replicas, can_cordon)


def _replica(name: str, state: str, template: str) -> Replica:
    loaded = 30.0 if state in "scu" else None
    message = "engine died" if state == "f" else ""
    return Replica(name, STATES[state], template, age=timedelta(hours=1), load_seconds=loaded, message=message)


def telling(there: Workload, *, waiting: float | None, running: float = 0.0, mute: Iterable[str] = ()) -> Readings:
    """Every live replica tells, but those in `mute`; nobody tells anything where `waiting` is None."""
    live = [replica.name for replica in there.replicas if replica.state in (ReplicaState.SERVING, ReplicaState.CORDONED)]
    if waiting is None or not live:
        return Readings()
    entries = [entry for name in live if name not in mute for entry in _of(name, running)]
    total = running * len(live)
    partial = bool(set(mute) & set(live))
    fleet = {"in_flight": total + 2 * waiting, "waiting_per_replica": waiting}
    minute = {"running": total, "request_rate": 1.0, "in_flight_growth": 0.0}
    entries += [Entry(name, None, None, Measured(value, partial=partial)) for name, value in fleet.items()]
    entries += [Entry(name, MINUTE, None, Measured(value, partial=partial)) for name, value in minute.items()]
    return Readings(tuple(entries))


def _of(name: str, running: float) -> list[Entry]:
    return [
        Entry("up", None, name, Measured(1.0)),
        Entry("running", None, name, Measured(running)),
        Entry("running", MINUTE, name, Measured(running)),
        Entry("waiting", None, name, Measured(0.0)),
        Entry("request_rate", MINUTE, name, Measured(1.0)),
    ]


@dataclass
class Ticking:
    """One fleet, tick after tick. Operations that were decided stay open until an outcome is given or the test says who executes."""

    policy: Policy | None = field(default_factory=lambda: only(closed_loop(), "queued"))
    memory: Memory = field(default_factory=Memory)
    fleet: Fleet = CHAT
    now: timedelta = START
    last: Cycled | None = None
    looks: list[Seen] = field(default_factory=list)
    _outcomes: tuple[Outcome, ...] = ()

    def tick(self, there: Observation, waiting: float | None = CALM, *, granted: int | None = None, **more: object) -> "Ticking":
        """One tick. Readings are calm and whole unless told otherwise; `more` goes into what is seen."""
        self.now += TICK
        whole = Readings() if isinstance(there, Unobserved) else telling(there, waiting=waiting)
        seen = Seen(
            now=self.now, interval=TICK, scrape_interval=TICK, readings=whole, workload=there, outcomes=self._outcomes, executing=self.open
        )
        self._outcomes = ()
        seen = replace(seen, **more)  # type: ignore[arg-type]  # fields of Seen only
        self.looks.append(seen)
        self.last = run_one(Case(self.fleet, self.policy, self.memory, seen), granted=granted)
        self.memory = self.last.memory
        return self

    def ticks(self, count: int, there: Observation, waiting: float | None = CALM, **more: object) -> "Ticking":
        """The same tick so many times; whatever is decided stays under way."""
        for _ in range(count):
            self.tick(there, waiting, **more)  # type: ignore[arg-type]
        return self

    def came_out(self, kind: OutcomeKind = OutcomeKind.DONE, detail: str = "") -> "Ticking":
        """Everything that is under way comes back so on the next tick."""
        self._outcomes = tuple(Outcome(intent.operation.id, kind, detail) for intent in self.memory.intents)
        return self

    @property
    def seen(self) -> Seen:
        """The last look."""
        return self.looks[-1]

    @property
    def open(self) -> tuple[str, ...]:
        """The operations under way."""
        back = {outcome.operation for outcome in self._outcomes}
        return tuple(intent.operation.id for intent in self.memory.intents if intent.operation.id not in back)

    @property
    def acts(self) -> list[Operation]:
        """What the last tick does."""
        assert self.last is not None
        return [act.operation for act in self.last.acts]

    @property
    def effects(self) -> list[Effect]:
        """What the last tick does to the fleet; messages aside."""
        return [operation.effect for operation in self.acts if not isinstance(operation.effect, Tell)]

    @property
    def counts(self) -> list[tuple[int, int]]:
        """Changes of the count on the last tick."""
        return [(effect.before, effect.count) for effect in self.effects if isinstance(effect, SetReplicas)]

    @property
    def told(self) -> list[Tell]:
        """Messages of the last tick."""
        return [operation.effect for operation in self.acts if isinstance(operation.effect, Tell)]

    def reasons(self, verb: Verb) -> list[Reason]:
        """Why a verb was not used on the last tick."""
        assert self.last is not None
        return [one.reason for one in self.last.decisions if isinstance(one, Hold) and one.verb is verb]

    @property
    def ladder(self) -> Remediation:
        """The open remediation, or the last closed one."""
        return self.memory.remediation or self.memory.finished[-1]

    @property
    def attempt(self) -> Attempt:
        """Its last attempt."""
        return self.ladder.attempts[-1]


def proven(good: float = 4.0, *, stable: timedelta = timedelta(0), served: tuple[str, ...] = ()) -> Memory:
    """A fleet that has shown what a replica carries."""
    load = ProvenLoad(TEMPLATE, days=(DayOfLoad(0, good=good),), seconds=2.0, load_seconds=(30.0,))
    level = LevelState(
        learned=(load,),
        stable=stable,
        calm_at=START if stable else None,
        serving_since=tuple((name, START - MINUTE) for name in served),
    )
    return Memory(now=START, level=level)


def burning(there: Workload, *, served: tuple[str, ...] = ()) -> Ticking:
    """A fleet whose queue alert has just begun to fire, its first step started: to five replicas."""
    return Ticking(memory=proven(served=served)).ticks(3, there, BAD)


def draining(**more: object) -> Ticking:
    """Three replicas of which the first was just taken out of traffic: two are the minimum."""
    policy = only(closed_loop(minimum=2), "queued")
    ticking = Ticking(policy=policy, memory=proven(stable=timedelta(hours=1))).tick(fleet_of("sss"))
    assert ticking.effects == [Cordon(("r1",))], ticking.last
    return ticking.came_out().tick(fleet_of("css", **more))  # type: ignore[arg-type]


def called_back(ticking: Ticking) -> bool:
    """Whether the last tick gives replicas back to traffic."""
    return any(isinstance(effect, Uncordon) for effect in ticking.effects)
