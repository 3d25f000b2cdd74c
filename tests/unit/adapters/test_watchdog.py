from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.scheduler import TICK, Ticker, Tokens, every
from autopilot.adapters.watchdog import Watchdog
from tests.support.clocks import ManualClock
from tests.support.waiting import eventually

INTERVAL = timedelta(seconds=5)
INSTANT = timedelta(microseconds=1)
SOON = timedelta(seconds=5)

dies = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


class Scripted:
    """A ticking whose fate the test decides."""

    def __init__(self) -> None:
        self.living = True
        self.broken = False
        self.reschedules = 0

    def alive(self) -> bool:
        return self.living

    def reschedule(self) -> None:
        self.reschedules += 1
        if self.broken:
            raise ArithmeticError


class Scene:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.ticking = Scripted()
        self.deaths = 0
        self.watchdog = Watchdog(self.ticking, INTERVAL, self.clock, self.die)

    def die(self) -> None:
        self.deaths += 1

    def wait(self, time: timedelta, *, ticks: bool = False) -> None:
        """Let time pass, with a look twice per interval."""
        for _ in range(round(time / (INTERVAL / 2))):
            self.clock.advance(INTERVAL / 2)
            if ticks:
                self.watchdog.tick_completed()
            self.watchdog.check()


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_loop_that_ticks_is_left_alone(scene: Scene) -> None:
    scene.wait(20 * INTERVAL, ticks=True)

    assert (scene.ticking.reschedules, scene.deaths) == (0, 0)


@pytest.mark.parametrize(
    ("quiet", "reschedules"), [(2 * INTERVAL, 0), (2 * INTERVAL + INSTANT, 1)], ids=["exactly-two-intervals", "just-over"]
)
def test_two_intervals_without_a_tick_are_too_many(scene: Scene, quiet: timedelta, reschedules: int) -> None:
    scene.clock.advance(quiet)

    scene.watchdog.check()

    assert scene.ticking.reschedules == reschedules


@pytest.mark.parametrize("jump", [-timedelta(hours=1), timedelta(days=1)], ids=["back-an-hour", "forward-a-day"])
def test_a_clock_that_was_set_reschedules_once(scene: Scene, jump: timedelta) -> None:
    scene.clock.jump(jump)

    scene.wait(5 * INTERVAL, ticks=True)

    assert (scene.ticking.reschedules, scene.deaths) == (1, 0)


@pytest.mark.parametrize("jump", [timedelta(seconds=2), -timedelta(seconds=2)], ids=["forward", "back"])
def test_a_clock_that_is_adjusted_is_left_alone(scene: Scene, jump: timedelta) -> None:
    scene.clock.jump(jump)

    scene.watchdog.check()

    assert scene.ticking.reschedules == 0


def test_a_dead_scheduler_is_noticed_while_ticks_still_come(scene: Scene) -> None:
    scene.ticking.living = False

    scene.wait(INTERVAL / 2, ticks=True)

    assert scene.ticking.reschedules == 1


def test_three_attempts_without_a_tick_are_the_end(scene: Scene) -> None:
    scene.wait(5 * INTERVAL + INTERVAL / 2)

    assert (scene.ticking.reschedules, scene.deaths) == (3, 1)


def test_the_attempts_leave_time_for_a_tick(scene: Scene) -> None:
    scene.wait(4 * INTERVAL)

    assert scene.deaths == 0


def test_a_tick_after_the_second_attempt_forgives(scene: Scene) -> None:
    scene.wait(4 * INTERVAL)
    before = scene.ticking.reschedules
    scene.watchdog.tick_completed()
    scene.wait(4 * INTERVAL)

    assert (before, scene.ticking.reschedules, scene.deaths) == (2, 4, 0)


def test_a_reschedule_that_raises_is_one_attempt(scene: Scene) -> None:
    scene.ticking.living, scene.ticking.broken = False, True

    scene.wait(4 * INTERVAL, ticks=True)

    assert (scene.ticking.reschedules, scene.deaths) == (3, 1)


def test_the_age_of_the_last_tick_is_monotonic(scene: Scene) -> None:
    scene.watchdog.tick_completed()
    scene.clock.advance(INTERVAL)
    scene.clock.jump(timedelta(days=1))

    assert scene.watchdog.age() == INTERVAL


class Broken:
    """A trigger that answers once and then raises, in the scheduler's thread."""

    def __init__(self) -> None:
        self._answered = False

    def __call__(self, moment: datetime) -> datetime:
        if self._answered:
            raise ArithmeticError
        self._answered = True
        return moment


@pytest.fixture
def ticker() -> Iterator[tuple[Ticker, Tokens]]:
    tokens = Tokens()
    ticker = Ticker(timedelta(hours=1), tokens, lambda _: None)
    yield ticker, tokens
    ticker.stop(SOON)


@dies
def test_a_scheduler_that_dies_of_its_trigger_ends_the_process(ticker: tuple[Ticker, Tokens]) -> None:
    ticking, _ = ticker
    deaths: list[str] = []
    watchdog = Watchdog(ticking, timedelta(seconds=0.1), SystemClock(), lambda: deaths.append("dead"))
    ticking.add("broken", Broken())
    ticking.start()
    watchdog.start()

    assert eventually(lambda: deaths, within=20)
    assert watchdog.stop(SOON)
    assert deaths == ["dead"]


@dies
def test_a_scheduler_that_dies_once_is_brought_back_and_ticks(ticker: tuple[Ticker, Tokens]) -> None:
    ticking, tokens = ticker
    clock = ManualClock()
    watchdog = Watchdog(ticking, INTERVAL, clock, lambda: pytest.fail("it is not dead"))
    ticking.add("broken", Broken())
    ticking.start()
    tokens.take(SOON)
    eventually(lambda: not ticking.alive(), within=20)
    ticking.add("broken", every(timedelta(hours=1)))

    watchdog.check()

    assert ticking.alive()
    assert TICK in {tokens.take(timedelta()) for _ in range(2)}
    watchdog.stop(SOON)


def test_a_stopped_watchdog_leaves_no_thread_behind(ticker: tuple[Ticker, Tokens]) -> None:
    ticking, _ = ticker
    ticking.start()
    watchdog = Watchdog(ticking, timedelta(hours=1), SystemClock(), lambda: None)
    watchdog.start()

    assert watchdog.stop(SOON)
