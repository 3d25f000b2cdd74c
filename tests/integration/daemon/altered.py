"""The daemon with one thing changed at its rim, as a process: `python -m tests.integration.daemon.altered KIND …`.

`cut POINT EFFECT` kills itself where a power cut could; `slow` takes seconds for a change of the count; `scheduler`
has a trigger that raises once the file `die` is there; `clock` adds the seconds in the file `jump` to the wall clock.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from autopilot.adapters import scheduler
from autopilot.adapters.logging import log_json
from autopilot.adapters.workers import ActWorkers
from autopilot.cli.configured import configured
from autopilot.cli.run import _listening
from autopilot.daemon.assembly import Assembled, assemble
from autopilot.daemon.process import Process
from autopilot.domain.memory import Memory
from autopilot.domain.operations import Cordon, Effect, SetReplicas, Uncordon
from autopilot.domain.workloads import FleetRef, Observation
from autopilot.ports import Backend, Clock, Store

MODULE = "tests.integration.daemon.altered"
EFFECTS: Mapping[str, Callable[[Effect], bool]] = {
    "out": lambda effect: isinstance(effect, SetReplicas) and 0 < effect.before < effect.count,
    "cordon": lambda effect: isinstance(effect, Cordon),
    "in": lambda effect: isinstance(effect, SetReplicas) and effect.count < effect.before,
}
POINTS = ("before-the-save", "after-the-save", "after-the-act")
SLOW = 3.0  # seconds


def command(*alteration: str) -> tuple[str, ...]:
    """What starts it."""
    return (sys.executable, "-m", MODULE, *alteration)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class CutStore:
    """Dies with the intent of an effect: before it is saved, or right after."""

    store: Store
    wanted: Callable[[Effect], bool]
    point: str

    def load(self) -> Mapping[FleetRef, Memory]:
        return self.store.load()

    def save(self, memories: Mapping[FleetRef, Memory], *, running: timedelta) -> None:
        cut = any(self.wanted(intent.operation.effect) for memory in memories.values() for intent in memory.intents)
        if cut and self.point == "before-the-save":
            die()
        self.store.save(memories, running=running)
        if cut and self.point == "after-the-save":
            die()

    def running(self) -> timedelta:
        return self.store.running()


@dataclass
class AlteredBackend:
    """Does something before and after each effect."""

    backend: Backend
    before: Callable[[Effect], None]
    after: Callable[[Effect], None]

    def observe(self, fleet: FleetRef) -> Observation:
        return self.backend.observe(fleet)

    def set_replicas(self, fleet: FleetRef, effect: SetReplicas) -> None:
        self._around(effect, lambda: self.backend.set_replicas(fleet, effect))

    def cordon(self, fleet: FleetRef, effect: Cordon) -> None:
        self._around(effect, lambda: self.backend.cordon(fleet, effect))

    def uncordon(self, fleet: FleetRef, effect: Uncordon) -> None:
        self._around(effect, lambda: self.backend.uncordon(fleet, effect))

    def _around(self, effect: Effect, act: Callable[[], None]) -> None:
        self.before(effect)
        act()
        self.after(effect)


@dataclass
class JumpingClock:
    """The machine's clock, set by hand."""

    clock: Clock
    jump: Path

    def wall(self) -> datetime:
        seconds = float(self.jump.read_text()) if self.jump.exists() else 0.0
        return self.clock.wall() + timedelta(seconds=seconds)

    def running(self) -> timedelta:
        return self.clock.running()


def cut(assembled: Assembled, point: str, effect: str) -> Assembled:
    wanted = EFFECTS[effect]

    def after(done: Effect) -> None:
        if point == "after-the-act" and wanted(done):
            die()

    rim = replace(assembled.rim, store=CutStore(assembled.rim.store, wanted, point))
    return with_backend(replace(assembled, rim=rim), before=lambda _: None, after=after)


def slow(assembled: Assembled) -> Assembled:
    def before(effect: Effect) -> None:
        if EFFECTS["out"](effect):
            threading.Event().wait(SLOW)

    return with_backend(assembled, before=before, after=lambda _: None)


def with_backend(assembled: Assembled, *, before: Callable[[Effect], None], after: Callable[[Effect], None]) -> Assembled:
    backends = {name: AlteredBackend(backend, before, after) for name, backend in assembled.rim.eyes.backends.items()}
    workers = ActWorkers(backends, assembled.rim.workers._notifier)
    return replace(assembled, rim=replace(assembled.rim, workers=workers))


def clock(assembled: Assembled) -> Assembled:
    return replace(assembled, rim=replace(assembled.rim, clock=JumpingClock(assembled.rim.clock, Path("jump"))))


def dying_scheduler(assembled: Assembled) -> Assembled:
    every = scheduler.every

    def raising(interval: timedelta) -> scheduler.Due:
        due = every(interval)

        def next_time(moment: datetime) -> datetime | None:
            if Path("die").exists():
                message = "a trigger that raises"
                raise RuntimeError(message)
            return due(moment)

        return next_time

    scheduler.every = raising
    return assembled


ALTERATIONS: Mapping[str, Callable[..., Assembled]] = {"cut": cut, "slow": slow, "clock": clock, "scheduler": dying_scheduler}


def main() -> None:
    log_json("info")
    settings = configured(Path("autopilot.yaml"))
    assembled = ALTERATIONS[sys.argv[1]](assemble(settings), *sys.argv[2:])
    assembled.daemon._rim = assembled.rim
    code = Process(assembled, settings, _listening).run()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
