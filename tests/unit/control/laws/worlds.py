"""Random stories: everything that may happen to a fleet and to its autopilot, drawn from a few numbers."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random

from hypothesis import strategies as st

from autopilot.actions import Notify, Relocate, Scale
from autopilot.control.audit import Record, record
from autopilot.control.cycle import run_one
from autopilot.control.scale_in import after_restart
from autopilot.control.seen import Case, Seen
from autopilot.domain.alerts import Severity
from autopilot.domain.conditions import All, Leaf
from autopilot.domain.memory import Memory, Pause
from autopilot.domain.operations import Cordon, Operation, Outcome, OutcomeKind, SetReplicas, Tell, Uncordon
from autopilot.domain.scaling import Bound, ScaleInLaw, ScalingLaw
from autopilot.domain.verbs import Mode, Modes
from autopilot.domain.workloads import Observation, Unobserved
from autopilot.policy.values import Limits, Policy, Remedy, Step, Verify
from autopilot.ports import Conflict, PortError, Refused
from autopilot.simulation.arrivals import Request, arrivals, steps
from autopilot.simulation.fleet import Blackout, Scene, SimulatedFleet, StartUp
from tests.support.policies import CHAT, QUEUED, SLOW, STARVED, closed_loop, rule
from tests.unit.control.stories.scenes import ENGINE, HOPELESS, STEADY

TICK = timedelta(seconds=5)
PEAK = 16.0  # requests per second: three replicas' worth
CALM_TAIL = 1500.0  # without load and without faults: whatever is open has time to end
ERRORS = (OutcomeKind.CONFLICT, OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.UNSURE)


@dataclass(frozen=True)
class Happening:
    """Something that happens on a tick: `what` of it, `much` as many or as long."""

    tick: int
    what: str
    much: int


@dataclass(frozen=True)
class Numbers:
    """An operator's numbers, in seconds where they are times."""

    minimum: int = 1
    room: int = 4  # of the maximum over the minimum
    stable: int = 120
    every: int = 30
    drain: int = 40
    by: int | None = None
    start: int | None = None
    hold: int = 10
    keep: int = 0
    repeat: int = 2
    within: int = 60
    cooldown: int = 20
    mode: Mode = Mode.ACT

    def policy(self) -> Policy:
        """As the core sees them: a page on latency, a ticket on the queue, a ladder that talks beside them."""
        scale = Step(Scale(by="shortfall"), repeat=self.repeat, verify=Verify(within=_s(self.within)))
        people = Step(Notify(receivers=("oncall",)))
        relocate = Step(Relocate(), verify=Verify(within=_s(self.within)))
        slow, queued = _quick(SLOW), QUEUED
        shown = rule("shown", queued, hold=_s(4 * self.hold))
        page = rule("slow", All((slow, STARVED)), hold=_s(2 * self.hold), severity=Severity.PAGE)
        ticket = replace(rule("queued", queued, hold=_s(self.hold)), keep_firing_for=_s(self.keep))
        law = ScalingLaw(
            bounds=(Bound(self.minimum, self.minimum + self.room),),
            start_within=None if self.start is None else _s(self.start),
            scale_in=ScaleInLaw(_s(self.stable), _s(self.every), _s(self.drain), self.by),
        )
        return replace(
            closed_loop(),
            modes=Modes(self.mode),
            scaling=law,
            alerts=(page, ticket, shown),
            remedies=(Remedy("queued", (scale,)), Remedy("slow", (scale, relocate, people)), Remedy("shown", (people,))),
            limits=Limits(cooldown=_s(self.cooldown)),
            receivers=("oncall",),
        )


@dataclass(frozen=True)
class Story:
    """All that a story is played from: the same values tell the same story."""

    seed: int = 1
    levels: tuple[tuple[int, float], ...] = ((0, 3.0),)
    seconds: int = 900
    replicas: int = 2
    hopeless: bool = False
    start_up: StartUp = field(default_factory=lambda: StartUp(30.0))
    blackouts: tuple[tuple[int, int, int], ...] = ()  # begins, lasts, and how many replicas are dark: 0 for all
    can_cordon: bool = True
    happenings: tuple[Happening, ...] = ()
    trouble: float = 0.0  # the share of operations that come out badly
    slowness: int = 0  # the most ticks that an operation takes
    numbers: Numbers = field(default_factory=Numbers)

    def scene(self) -> Scene:
        """The world at its beginning."""
        rate = steps(*((float(at), level) for at, level in sorted(self.levels)), (float(self.seconds), 0.0))
        requests: list[Request] = arrivals(rate, peak=PEAK, seconds=float(self.seconds), rng=Random(self.seed), lengths=STEADY)
        dark = tuple(Blackout(b, b + lasts, tuple(f"replica-{n}" for n in range(1, many + 1))) for b, lasts, many in self.blackouts)
        return Scene(
            requests=requests,
            replicas=self.replicas,
            engine=HOPELESS if self.hopeless else ENGINE,
            start_up=self.start_up,
            scrape_seconds=5.0,
            blackouts=dark,
            can_cordon=self.can_cordon,
            graceful=True,
        )


def _s(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def _quick(leaf: Leaf) -> Leaf:
    return replace(leaf, min_samples=20)


@dataclass
class Life:
    """One fleet, one autopilot, and everything that goes wrong."""

    story: Story
    world: SimulatedFleet = field(init=False)
    memory: Memory = field(default_factory=Memory)
    policy: Policy | None = field(init=False)
    records: list[Record] = field(default_factory=list)
    done: list[Operation] = field(default_factory=list)  # carried out, with effect
    interval: timedelta = TICK
    cut_at: int | None = None  # the tick that acts and is cut
    cut_after: str = ""
    _queue: deque[tuple[int, Operation]] = field(default_factory=deque)
    _outcomes: tuple[Outcome, ...] = ()
    _restarted: bool = True
    _unseen_until: int = 0
    _unruled_until: int = 0
    _tick: int = 0
    _rng: Random = field(init=False)

    def __post_init__(self) -> None:
        self.world = SimulatedFleet(self.story.scene(), Random(self.story.seed + 1))
        self.policy = self.story.numbers.policy()
        self._rng = Random(self.story.seed + 2)

    def live(self, *, tail: float = CALM_TAIL) -> "Life":
        """The whole story, and a calm end."""
        end = _s(self.story.seconds + tail)
        while self.world.now < end:
            self.step()
        return self

    def step(self) -> Record:
        """One tick: time passes, things happen, workers work, the cycle decides."""
        self.world.advance(self.world.now + self.interval)
        for happening in self.story.happenings:
            if happening.tick == self._tick and self.world.now < _s(self.story.seconds):
                self._happen(happening)
        self._work()
        made = self._decide()
        self._tick += 1
        return made

    @property
    def troubled(self) -> bool:
        return self.world.now < _s(self.story.seconds)

    def _decide(self) -> Record:
        case = Case(CHAT, None if self._tick < self._unruled_until else self.policy, self.memory, self._seen())
        cycled = run_one(case, granted=None)
        made = record(case, cycled, granted=None, documents="")
        self.records.append(made)
        self._outcomes, self._restarted = (), False
        cut = self.cut_after if self._tick == self.cut_at else ""
        if cut == "deciding":
            self._restart()
            return made
        self.memory = cycled.memory
        if cut != "saving":
            self._queue.extend((self._rng.randint(0, self.story.slowness if self.troubled else 0), act.operation) for act in cycled.acts)
        if cut == "acting":
            self._work(at_once=True)
        if cut:
            self._restart()
        return made

    def _seen(self) -> Seen:
        there: Observation = Unobserved("dark") if self._tick < self._unseen_until else self.world.observe(CHAT.ref)
        return Seen(
            now=self.world.now,
            interval=self.interval,
            scrape_interval=timedelta(seconds=5),
            readings=self.world.readings(),
            workload=there,
            outcomes=self._outcomes,
            executing=tuple(operation.id for _, operation in self._queue),
            restarted=self._restarted,
        )

    def _restart(self) -> None:
        self.memory = replace(self.memory, level=after_restart(self.memory.level))
        self._queue.clear()
        self._outcomes, self._restarted = (), True

    def _happen(self, happening: Happening) -> None:
        happens: dict[str, Callable[[int], None]] = {
            "crash": self._crash,
            "hand": lambda much: self.world.set_by_hand(much % 8),
            "unseen": lambda much: setattr(self, "_unseen_until", self._tick + much),
            "no policy": lambda much: setattr(self, "_unruled_until", self._tick + much),
            "restart": lambda _: self._restart(),
            "lost memory": self._lose_memory,
            "rollout": lambda much: setattr(self.world, "scene", replace(self.world.scene, template=f"t{much}")),
            "pause": self._pause,
            "places": lambda _: setattr(self.world, "start_up", replace(self.world.start_up, places=None, fails="")),
        }
        happens[happening.what](happening.much)

    def _crash(self, much: int) -> None:
        names = [one.name for one in self.world.observe(CHAT.ref).serving]
        if names:
            self.world.crash(names[much % len(names)])

    def _lose_memory(self, much: int) -> None:
        del much
        self._restart()
        self.memory = Memory(now=self.world.now)

    def _pause(self, much: int) -> None:
        pause = Pause(self.world.now + much * TICK, "a pause", "people")
        self.memory = replace(self.memory, pauses=(*self.memory.pauses, pause))

    def _work(self, *, at_once: bool = False) -> None:
        """Workers carry out what is due, in order; those of the calm end make no mistakes."""
        while self._queue and (at_once or self._queue[0][0] <= 0):
            _, operation = self._queue.popleft()
            self._outcomes = (*self._outcomes, self._carry_out(operation))
        if self._queue:
            left, operation = self._queue[0]
            self._queue[0] = (left - 1, operation)

    def _carry_out(self, operation: Operation) -> Outcome:
        bad = self.troubled and self._rng.random() < self.story.trouble
        kind = self._rng.choice(ERRORS) if bad else OutcomeKind.DONE
        if kind is OutcomeKind.UNSURE and self._rng.random() < 0.5:
            self._apply(operation)
        if kind is not OutcomeKind.DONE:
            return Outcome(operation.id, kind, "bad luck")
        return Outcome(operation.id, self._apply(operation))

    def _apply(self, operation: Operation) -> OutcomeKind:
        try:
            self._effect(operation)
        except Conflict:
            return OutcomeKind.CONFLICT
        except Refused:
            return OutcomeKind.REFUSED
        except PortError:
            return OutcomeKind.FAILED
        self.done.append(operation)
        return OutcomeKind.DONE

    def _effect(self, operation: Operation) -> None:
        match operation.effect:
            case SetReplicas() as effect:
                self.world.set_replicas(operation.fleet, effect)
            case Cordon() as effect:
                self.world.cordon(operation.fleet, effect)
            case Uncordon() as effect:
                self.world.uncordon(operation.fleet, effect)
            case Tell():
                pass


NUMBERS = st.builds(
    Numbers,
    minimum=st.sampled_from([1, 1, 0, 2]),
    room=st.sampled_from([6, 5, 3, 0]),
    stable=st.sampled_from([20, 40, 90]),
    every=st.sampled_from([0, 10, 30]),
    drain=st.sampled_from([30, 10, 90]),
    by=st.sampled_from([None, 1, 2]),
    start=st.sampled_from([None, 15, 60]),
    hold=st.sampled_from([5, 0, 15]),
    keep=st.sampled_from([0, 30]),
    repeat=st.integers(1, 3),
    within=st.sampled_from([5, 30, 90]),
    cooldown=st.sampled_from([0, 20, 60]),
    mode=st.sampled_from([Mode.ACT] * 9 + [Mode.ADVISE]),
)
WHAT = ("crash", "crash", "hand", "unseen", "no policy", "restart", "lost memory", "rollout", "pause", "places")


def levels(seconds: int) -> st.SearchStrategy[tuple[tuple[int, float], ...]]:
    """Load that changes every so often, from nothing to more than six replicas can carry."""
    pieces = 6
    rates = st.sampled_from([4.0, 0.0, 1.0, 9.0, 15.0])
    return st.lists(rates, min_size=pieces, max_size=pieces).map(
        lambda drawn: tuple((seconds * n // pieces, rate) for n, rate in enumerate(drawn))
    )


def stories(*, calm: bool = False, seconds: int = 900) -> st.SearchStrategy[Story]:
    """Any story of so many seconds and a calm end; `calm` leaves out what goes wrong with the autopilot and its hands."""
    moments = st.integers(0, seconds)
    happening = st.builds(Happening, tick=st.integers(1, seconds // 5), what=st.sampled_from(WHAT), much=st.integers(0, 20))
    return st.builds(
        Story,
        seed=st.integers(0, 10_000),
        levels=levels(seconds),
        seconds=st.just(seconds),
        replicas=st.sampled_from([2, 1, 4, 6, 0]),
        hopeless=st.sampled_from([False] * 7 + [True]),
        start_up=st.builds(
            StartUp,
            seconds=st.sampled_from([15.0, 5.0, 60.0]),
            jitter=st.sampled_from([0.0, 0.5]),
            places=st.sampled_from([None, None, None, 2, 4]),
            fails=st.sampled_from([""] * 6 + ["engine died"]),
        ),
        blackouts=st.lists(st.tuples(moments, st.integers(5, 120), st.integers(0, 3)), max_size=0 if calm else 3).map(tuple),
        can_cordon=st.sampled_from([True, True, False]),
        happenings=st.just(()) if calm else st.lists(happening, min_size=2, max_size=8).map(tuple),
        trouble=st.just(0.0) if calm else st.sampled_from([0.0, 0.1, 0.4]),
        slowness=st.just(0) if calm else st.sampled_from([0, 1, 6]),
        numbers=NUMBERS,
    )
