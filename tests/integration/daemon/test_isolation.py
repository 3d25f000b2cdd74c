"""A defect of ours that one fleet's story meets does not stop the others."""

from dataclasses import replace

from autopilot.adapters.telemetry import Telemetry
from autopilot.adapters.workers import ActWorkers
from autopilot.daemon.board import Board
from autopilot.daemon.history import History
from autopilot.daemon.looking import Eyes
from autopilot.daemon.loop import Daemon, Rim, Settings
from autopilot.domain.logical_time import ZERO
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book, Entry
from autopilot.policy.values import Pool
from tests.integration.daemon.test_order_of_a_tick import SECOND, DuringTheLook, SlowToAct, Still
from tests.support.clocks import ManualClock
from tests.support.policies import CHAT, closed_loop

# Bounds that no file can hold: what they meet in the core is an exception, as a defect of ours would be.
BROKEN = replace(CHAT, ref=FleetRef("llm", "broken"), identity=(("fleet", "broken"),), pools=(Pool("main", minimum=-1, maximum=-1),))


class Two(Still):
    def book(self) -> Book:
        return Book((Entry(BROKEN, closed_loop()), Entry(CHAT, closed_loop())))


def test_a_fleet_that_cannot_be_decided_is_left_out_and_the_others_are_served() -> None:
    still, backend = Two(), SlowToAct()
    backend.go.set()
    workers = ActWorkers({"simulated": backend}, still)
    eyes = Eyes({"default": DuringTheLook(backend)}, {"default": SECOND}, {"simulated": backend})
    rim = Rim(
        ManualClock(), eyes, still, still, still, History(still), workers, Telemetry(lambda: ZERO), Board(), lambda _, __: None, tuple
    )

    Daemon(rim, Settings(10 * SECOND), memory_lost=False).tick()

    assert backend.asked.wait(5)
    assert list(still.memories) == [CHAT.ref]
    workers.close(within_seconds=5)
