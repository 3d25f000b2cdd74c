# ruff: noqa: ARG002 - the doors of ports have arguments that a stand-in needs not
"""What is seen and what came back are taken in an order in which no change of ours can look like another hand's."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from autopilot.adapters.telemetry import Telemetry
from autopilot.adapters.workers import ActWorkers
from autopilot.daemon.board import Board
from autopilot.daemon.history import History
from autopilot.daemon.looking import Eyes
from autopilot.daemon.loop import Daemon, Rim, Settings
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, SetReplicas, Tell, Uncordon
from autopilot.domain.samples import Answer
from autopilot.domain.workloads import FleetRef, Observation, Workload
from autopilot.policy.book import Book, Entry
from autopilot.ports import Line
from tests.support.clocks import ManualClock
from tests.support.policies import CHAT, closed_loop
from tests.support.waiting import eventually

SECOND = timedelta(seconds=1)


@dataclass
class SlowToAct:
    """Carries a change out while the daemon is looking: after the count was read, before the answers are there."""

    desired: int = 0
    version: int = 1
    asked: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def observe(self, fleet: FleetRef) -> Observation:
        return Workload(self.desired, str(self.version), "template")

    def set_replicas(self, fleet: FleetRef, effect: SetReplicas) -> None:
        self.asked.set()
        self.go.wait(10)
        self.desired, self.version = effect.count, self.version + 1

    def cordon(self, fleet: FleetRef, effect: Cordon) -> None: ...

    def uncordon(self, fleet: FleetRef, effect: Uncordon) -> None: ...


@dataclass
class DuringTheLook:
    """A source that answers nothing, and takes so long that the change is through."""

    backend: SlowToAct
    workers: "ActWorkers | None" = None

    def instant(self, query: str, *, at: float, deadline_seconds: float) -> Answer:
        if self.backend.asked.is_set():
            self.backend.go.set()
            eventually(lambda: self.workers is not None and not self.workers._executing, within=5)
        return Answer(())

    def ready(self) -> bool:
        return True


class Still:
    """Every other door: nothing happens behind it."""

    def __init__(self) -> None:
        self.memories: dict[FleetRef, Memory] = {}

    def book(self) -> Book:
        return Book((Entry(CHAT, closed_loop()),))

    def open_windows(self, entry: Entry, at: datetime) -> tuple[str, ...]:
        return ()

    def load(self) -> Mapping[FleetRef, Memory]:
        return {}

    def save(self, memories: Mapping[FleetRef, Memory], *, running: timedelta) -> None:
        self.memories.update(memories)

    def running(self) -> timedelta:
        return timedelta()

    def append(self, lines: Sequence[Line]) -> None: ...

    def remember_policy(self, hash_: str, text: str) -> None: ...

    def policy(self, hash_: str) -> str | None:
        return None

    def read(self, fleet: FleetRef | None = None, *, last: int = 100) -> Sequence[Line]:
        return ()

    def tell(self, message: Tell) -> None: ...


def test_a_change_of_ours_that_ends_during_the_look_is_no_foreign_write() -> None:
    clock, still, backend = ManualClock(), Still(), SlowToAct()
    source = DuringTheLook(backend)
    source.workers = workers = ActWorkers({"simulated": backend}, still)
    eyes = Eyes({"default": source}, {"default": SECOND}, {"simulated": backend})
    telemetry = Telemetry(timedelta)
    rim = Rim(clock, eyes, still, still, still, History(still), workers, telemetry, Board(), lambda _, __: None, tuple)
    daemon = Daemon(rim, Settings(10 * SECOND), memory_lost=False)
    daemon.tick()
    assert backend.asked.wait(5)

    for _ in range(3):
        clock.advance(SECOND)
        daemon.tick()

    assert backend.desired == 1
    assert daemon._memories[CHAT.ref].foreign == ()
    workers.close(within_seconds=5)
