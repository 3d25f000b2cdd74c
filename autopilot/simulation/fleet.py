"""A fleet made of values, with its own clock: it takes requests, starts, drains and loses replicas, and tells what it sees.

It offers the same door as a real backend, so whatever scales real fleets can scale this one. Nothing in it is
random but what the given generator draws: the same seed tells the same story.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from random import Random

from autopilot.domain.operations import Cordon, SetReplicas, Uncordon
from autopilot.domain.signals import Gap, Readings
from autopilot.domain.workloads import FleetRef, Replica, ReplicaState, Workload
from autopilot.ports import Conflict, Refused
from autopilot.simulation.arrivals import Request
from autopilot.simulation.engine import EngineModel, SimulatedReplica
from autopilot.simulation.scrapes import Prometheus, unknown

NO_PLACE = "0 nodes are available: insufficient nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class StartUp:
    """How replicas come up: after `seconds`, give or take the share `jitter`; only so many as there are `places` for.

    With `fails` set they end as failed instead, with that message.
    """

    seconds: float = 90.0
    jitter: float = 0.0
    places: int | None = None
    fails: str = ""


@dataclass(frozen=True, slots=True)
class Blackout:
    """From `begins` until `ends` (seconds) Prometheus gets nothing from these replicas; from none at all when empty."""

    begins: float
    ends: float
    replicas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What a story is played in. `scrape_seconds` is how often Prometheus looks.

    `graceful` says that a replica that is removed finishes its requests first, unseen, as with a preStop hook; else they are lost.
    """

    requests: Sequence[Request]
    replicas: int
    engine: EngineModel = field(default_factory=EngineModel)
    start_up: StartUp = field(default_factory=StartUp)
    scrape_seconds: float = 15.0
    blackouts: tuple[Blackout, ...] = ()
    can_cordon: bool = True
    graceful: bool = False
    template: str = "simulated"


@dataclass(slots=True)
class Tally:
    """What became of the users, and what it cost.

    `ttfts` are of all requests that reached a replica, in seconds, `cut` of those among them that it then lost;
    `turned_away` counts those that found no replica.
    """

    ttfts: list[float] = field(default_factory=list)
    cut: list[float] = field(default_factory=list)
    turned_away: int = 0
    replica_seconds: float = 0.0
    counts: list[tuple[float, int]] = field(default_factory=list)  # (seconds, what was asked for from then on)

    def within(self, seconds: float) -> float:
        """The share of requests whose first token came within so many seconds, in [0, 1]; 1 when there were none."""
        everybody = len(self.ttfts) + self.turned_away
        in_time = sum(ttft <= seconds for ttft in self.ttfts) - sum(ttft <= seconds for ttft in self.cut)
        return in_time / everybody if everybody else 1.0

    @property
    def lost(self) -> int:
        """Requests that were never answered in full."""
        return len(self.cut) + self.turned_away

    @property
    def replica_hours(self) -> float:
        """What was asked for and had a place, added up over time."""
        return self.replica_seconds / 3600.0

    @property
    def reversals(self) -> int:
        """How often the count turned from going up to going down, or back."""
        moves = [b - a for (_, a), (_, b) in pairwise(self.counts) if a != b]
        return sum((a > 0) != (b > 0) for a, b in pairwise(moves))


class SimulatedFleet:
    """The one fleet of a story. `advance` lets time pass; the rest is the door of a backend, and what Prometheus tells."""

    def __init__(self, scene: Scene, rng: Random) -> None:
        """Begin with `scene.replicas` serving, at second 0."""
        self.scene = scene
        self.start_up = scene.start_up
        self.tally = Tally()
        self._rng = rng
        self._at = 0.0
        self._next = 0
        self._names = 0
        self._version = 1
        self._desired = 0
        self._prometheus = Prometheus(scene.scrape_seconds)
        self._replicas: list[SimulatedReplica] = []
        self._ask(scene.replicas)
        for replica in self._replicas:
            replica.state, replica.load_seconds = ReplicaState.SERVING, scene.start_up.seconds

    @property
    def now(self) -> timedelta:
        """The story's own time."""
        return timedelta(seconds=self._at)

    def advance(self, to: timedelta) -> None:
        """Let time pass: requests arrive, replicas come up, scrapes happen."""
        until, scrape = to.total_seconds(), self.scene.scrape_seconds
        while self._at < until:
            next_scrape = (self._at // scrape + 1) * scrape
            self._pass(min(until, next_scrape))
            if self._at == next_scrape:
                self._scrape()

    def readings(self) -> Readings:
        """What Prometheus knows now."""
        return unknown(Gap.QUERY_FAILED) if self._all_dark() else self._prometheus.readings(self._live(), self._at)

    def crash(self, name: str) -> None:
        """Kill the server of a replica: its requests are lost, and it loads again in its place."""
        replica = next(replica for replica in self._replicas if replica.name == name)
        self.tally.cut.extend(replica.drop_all(self._at))
        replica.state, replica.ready_at = ReplicaState.UNHEALTHY, self._at + self._loading()

    def set_by_hand(self, count: int) -> None:
        """Change the count as another writer would: without asking for the version."""
        self._count(count, ())

    # --- the door of a backend -----------------------------------------------------------------

    def observe(self, fleet: FleetRef) -> Workload:
        """What is there."""
        del fleet  # there is one
        replicas = tuple(self._seen(replica) for replica in self._replicas)
        return Workload(self._desired, str(self._version), self.scene.template, replicas, self.scene.can_cordon)

    def set_replicas(self, fleet: FleetRef, effect: SetReplicas) -> None:
        """Compare-and-set of the replica count. Raises Conflict, or Refused when too many victims are named."""
        if (effect.version, effect.before) != (str(self._version), self._desired):
            raise Conflict(f"{fleet}: planned at version {effect.version} with {effect.before}, found {self._version} with {self._desired}")
        if len(effect.victims) > max(0, self._desired - effect.count):
            raise Refused(f"{fleet}: {len(effect.victims)} victims named, the count falls from {self._desired} to {effect.count}")
        self._count(effect.count, effect.victims)

    def cordon(self, fleet: FleetRef, effect: Cordon) -> None:
        """Take replicas out of traffic. Raises Refused where the fleet cannot do that."""
        if not self.scene.can_cordon:
            raise Refused(f"{fleet}: replicas cannot be taken out of traffic")
        self._turn(effect.replicas, ReplicaState.SERVING, ReplicaState.CORDONED)

    def uncordon(self, fleet: FleetRef, effect: Uncordon) -> None:
        """Give replicas back to traffic."""
        del fleet
        self._turn(effect.replicas, ReplicaState.CORDONED, ReplicaState.SERVING)

    # --- how it works --------------------------------------------------------------------------

    def _pass(self, until: float) -> None:
        placed = sum(replica.ready_at is not None for replica in self._replicas)
        self.tally.replica_seconds += (until - self._at) * placed
        serving = [replica for replica in self._replicas if replica.state is ReplicaState.SERVING]
        requests, at, rng = self.scene.requests, self._next, self._rng
        while at < len(requests) and requests[at].at <= until:
            request = requests[at]
            at += 1
            if not serving:
                self.tally.turned_away += 1
                continue
            # The better of two at random: close to what a least-loaded router does.
            one, other = serving[int(rng.random() * len(serving))], serving[int(rng.random() * len(serving))]
            chosen = one if one.in_flight(request.at) <= other.in_flight(request.at) else other
            self.tally.ttfts.append(chosen.take(request))
        self._next, self._at = at, until
        self._come_up()

    def _scrape(self) -> None:
        if self._all_dark():
            self._prometheus.forget()
        else:
            self._prometheus.scrape(self._live(), self._at, self._silent())

    def _come_up(self) -> None:
        self._place()
        for replica in self._replicas:
            loads = replica.state in (ReplicaState.STARTING, ReplicaState.UNHEALTHY)
            if loads and replica.ready_at is not None and replica.ready_at <= self._at:
                self._end_of_start(replica)

    def _end_of_start(self, replica: SimulatedReplica) -> None:
        if self.start_up.fails and replica.state is ReplicaState.STARTING:
            replica.state, replica.message = ReplicaState.FAILED, self.start_up.fails
            return
        if replica.load_seconds is None:
            replica.load_seconds = self._at - replica.asked_at
        replica.state, replica.serving_from = ReplicaState.SERVING, self._at

    def _place(self) -> None:
        places = self.start_up.places
        for replica in self._replicas:
            if replica.ready_at is not None:
                continue
            taken = sum(other.ready_at is not None for other in self._replicas)
            if places is None or taken < places:
                replica.ready_at, replica.message = self._at + self._loading(), ""
            else:
                replica.message = NO_PLACE

    def _loading(self) -> float:
        start_up = self.start_up
        return start_up.seconds * (1.0 + start_up.jitter * self._rng.uniform(-1.0, 1.0))

    def _count(self, count: int, victims: Sequence[str]) -> None:
        if count > self._desired:
            self._ask(count)
            return
        going = [replica for replica in self._replicas if replica.name in victims]
        rest = [replica for replica in self._replicas if replica.name not in victims]
        rest.sort(key=lambda replica: (replica.state is ReplicaState.SERVING, -replica.asked_at))
        going.extend(rest[: max(0, self._desired - count - len(going))])
        if not self.scene.graceful:
            self.tally.cut.extend(ttft for replica in going for ttft in replica.drop_all(self._at))
        self._replicas = [replica for replica in self._replicas if replica not in going]
        self._note(count)

    def _ask(self, count: int) -> None:
        for _ in range(count - self._desired):
            self._names += 1
            self._replicas.append(SimulatedReplica(f"replica-{self._names}", self.scene.engine, asked_at=self._at))
        self._note(count)
        self._place()

    def _note(self, count: int) -> None:
        self._desired = count
        self._version += 1
        self.tally.counts.append((self._at, count))

    def _turn(self, names: Sequence[str], before: ReplicaState, after: ReplicaState) -> None:
        for replica in self._replicas:
            if replica.name in names and replica.state is before:
                replica.state = after
                self._version += 1

    def _live(self) -> list[SimulatedReplica]:
        return [replica for replica in self._replicas if replica.state in (ReplicaState.SERVING, ReplicaState.CORDONED)]

    def _seen(self, replica: SimulatedReplica) -> Replica:
        age = timedelta(seconds=self._at - replica.asked_at)
        return Replica(replica.name, replica.state, self.scene.template, age, replica.load_seconds, replica.message)

    def _all_dark(self) -> bool:
        return any(dark.begins <= self._at < dark.ends and not dark.replicas for dark in self.scene.blackouts)

    def _silent(self) -> frozenset[str]:
        return frozenset(name for dark in self.scene.blackouts if dark.begins <= self._at < dark.ends for name in dark.replicas)
