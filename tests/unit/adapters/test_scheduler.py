import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import apscheduler.schedulers.base
import pytest

from autopilot.adapters.scheduler import TICK, CronTimes, Ticker, Tokens, Trouble, every
from tests.support.waiting import eventually

MOMENT = timedelta(milliseconds=50)
SOON = timedelta(seconds=5)
HOUR = timedelta(hours=1)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)

dies = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "APScheduler" in thread.name or "scheduler-end" in thread.name]


class BreakableTokens(Tokens):
    broken = False

    def put(self, name: str) -> bool:
        if self.broken:
            raise ArithmeticError
        return super().put(name)


class Clockwork:
    """A ticker, what it put on its queue and the troubles it met."""

    def __init__(self, interval: timedelta) -> None:
        self.tokens = BreakableTokens()
        self.troubles: list[Trouble] = []
        self.ticker = Ticker(interval, self.tokens, self.troubles.append)


@pytest.fixture
def slow() -> Iterator[Clockwork]:
    """One that hardly ever ticks by itself."""
    clockwork = Clockwork(timedelta(days=36500))
    yield clockwork
    clockwork.ticker.stop(SOON)


@pytest.fixture
def quick() -> Iterator[Clockwork]:
    clockwork = Clockwork(MOMENT)
    yield clockwork
    clockwork.ticker.stop(SOON)


@pytest.fixture
def shift(monkeypatch: pytest.MonkeyPatch) -> list[timedelta]:
    """How far somebody has set the wall clock that APScheduler reads."""
    offset = [timedelta()]

    class SetClock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]  # noqa: ARG003
            return datetime.now(UTC) + offset[0]  # noqa: TID251 - this is the clock that is being set

    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", SetClock)
    return offset


def test_a_start_ticks_at_once(slow: Clockwork) -> None:
    slow.ticker.start()

    assert slow.tokens.take(SOON) == TICK


def test_ticks_keep_coming(quick: Clockwork) -> None:
    quick.ticker.start()

    assert [quick.tokens.take(SOON) for _ in range(4)] == [TICK] * 4


def test_a_wake_brings_the_next_tick_forward(slow: Clockwork) -> None:
    slow.ticker.start()
    slow.tokens.take(SOON)

    slow.ticker.wake()

    assert slow.tokens.take(timedelta()) == TICK


def test_many_wakes_are_one_tick(slow: Clockwork) -> None:
    slow.ticker.start()
    for _ in range(1000):
        slow.ticker.wake()

    assert [slow.tokens.take(timedelta()) for _ in range(2)] == [TICK, None]


def test_a_schedule_of_its_own_puts_its_own_name(slow: Clockwork) -> None:
    slow.ticker.add("llm/chat:fit-context", every(MOMENT))
    slow.ticker.start()
    slow.tokens.take(SOON)

    assert slow.tokens.take(SOON) == "llm/chat:fit-context"


def test_names_come_in_the_order_they_were_asked_for() -> None:
    tokens = Tokens()
    for name in ("a", "b", "a", "c"):
        tokens.put(name)

    assert [tokens.take(timedelta()) for _ in range(4)] == ["a", "b", "c", None]


def test_a_full_queue_leaves_out_new_names_only() -> None:
    tokens = Tokens(limit=1)

    assert [tokens.put("a"), tokens.put("b"), tokens.put("a")] == [True, False, True]


def test_a_stopped_ticker_leaves_no_thread_behind(quick: Clockwork) -> None:
    quick.ticker.start()

    ended = quick.ticker.stop(SOON)

    assert ended
    assert not quick.ticker.alive()
    assert eventually(lambda: threads() == [], within=20)


def test_a_ticker_that_never_started_stops(slow: Clockwork) -> None:
    assert (slow.ticker.stop(SOON), slow.ticker.alive()) == (True, False)


@dies
def test_a_ticker_whose_thread_died_is_not_alive(slow: Clockwork) -> None:
    slow.ticker.add("broken", dead_after(1))
    slow.ticker.start()

    assert eventually(lambda: not slow.ticker.alive(), within=20)


@dies
def test_a_dead_ticker_is_brought_back(slow: Clockwork) -> None:
    slow.ticker.add("broken", dead_after(1))
    slow.ticker.start()
    eventually(lambda: not slow.ticker.alive(), within=20)
    slow.tokens.take(timedelta())

    slow.ticker.add("broken", every(HOUR))
    slow.ticker.reschedule()

    assert slow.ticker.alive()
    assert slow.tokens.take(timedelta()) == TICK


@dies
def test_a_schedule_that_is_broken_for_good_raises_at_every_attempt(slow: Clockwork) -> None:
    slow.ticker.add("broken", dead_after(1))
    slow.ticker.start()
    eventually(lambda: not slow.ticker.alive(), within=20)

    for _ in range(2):
        with pytest.raises(ArithmeticError):
            slow.ticker.reschedule()

    assert not slow.ticker.alive()


def test_a_stopped_ticker_is_not_started_by_a_watchdog(slow: Clockwork) -> None:
    slow.ticker.start()
    slow.ticker.stop(SOON)

    slow.ticker.reschedule()

    assert not slow.ticker.alive()


def test_a_clock_set_forward_by_a_day_makes_up_with_one_run(slow: Clockwork, shift: list[timedelta]) -> None:
    slow.ticker.add("hourly", every(HOUR))
    slow.ticker.start()
    slow.tokens.take(SOON)

    shift[0] = timedelta(days=1)
    slow.ticker._scheduler.wakeup()  # type: ignore[union-attr]  # it looks at the clock, as it does when its wait ends

    assert slow.tokens.take(SOON) == "hourly"
    assert slow.tokens.take(4 * MOMENT) is None
    assert slow.troubles == []


def test_a_clock_set_back_by_an_hour_ticks_on_after_a_reschedule(quick: Clockwork, shift: list[timedelta]) -> None:
    quick.ticker.start()
    quick.tokens.take(SOON)

    shift[0] = -HOUR
    while quick.tokens.take(4 * MOMENT) is not None:
        pass
    quick.ticker.reschedule()

    assert [quick.tokens.take(SOON) for _ in range(4)] == [TICK] * 4


def test_a_job_that_raises_is_counted_and_tried_again(quick: Clockwork) -> None:
    quick.ticker.start()
    quick.tokens.broken = True

    assert eventually(lambda: len(quick.troubles) > 1, within=20)
    assert set(quick.troubles) == {Trouble.ERROR}


@pytest.mark.parametrize(
    ("interval", "after", "due"),
    [
        (timedelta(seconds=5), NOON, NOON + timedelta(seconds=5)),
        (timedelta(seconds=5), NOON + timedelta(seconds=4.999999), NOON + timedelta(seconds=5)),
        (timedelta(seconds=7), NOON, datetime(2026, 3, 2, 12, 0, 1, tzinfo=UTC)),
        (HOUR, NOON - timedelta(microseconds=1), NOON),
    ],
    ids=["strictly-after", "just-before", "whole-multiples-since-1970", "hourly"],
)
def test_slots_are_the_same_after_every_start(interval: timedelta, after: datetime, due: datetime) -> None:
    assert every(interval)(after) == due


@pytest.mark.parametrize("interval", [timedelta(), -HOUR], ids=["zero", "negative"])
def test_an_interval_is_positive(interval: timedelta) -> None:
    with pytest.raises(ValueError, match="positive"):
        every(interval)


def test_a_crontab_line_is_due_strictly_after() -> None:
    times = CronTimes("0 12 * * *", "UTC")

    assert times(NOON) == NOON + timedelta(days=1)


def dead_after(answers: int) -> "DeadAfter":
    return DeadAfter(answers)


class DeadAfter:
    """Due at once, and broken after so many answers."""

    def __init__(self, answers: int) -> None:
        self._left = answers

    def __call__(self, moment: datetime) -> datetime:
        self._left -= 1
        if self._left < 0:
            raise ArithmeticError
        return moment
