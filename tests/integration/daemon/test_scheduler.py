"""The scheduler dies, and somebody sets the clock (R-18, R-15)."""

from dataclasses import dataclass
from datetime import datetime

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.watchdog import DEAD
from tests.integration.daemon.altered import command
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import PATIENCE, Plan, Site
from tests.support.daemons import comes, pause
from tests.support.exporters import BUSY

INTERVAL = 1.0
ATTEMPTS = 3  # to get going again, one interval apart
HOUR, DAY = 3600, 86_400
JUMPS = {"back-an-hour": -HOUR, "forward-a-day": DAY}

TAKES = 20

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Died:
    """A daemon whose trigger raises. `noticed` and `ended` are seconds after the death."""

    code: int | None
    noticed: float
    ended: float
    serves: bool
    engines_live: bool


def scheduler_dies(ground: Ground) -> Died:
    with ground.site() as site:
        site.start(command=command("scheduler"))
        engines = site.engines()
        died = SystemClock().wall()
        (site.folder / "die").touch()
        code = site.daemon.ends(within=PATIENCE)
        ended = SystemClock().wall() - died
        noticed = next(event for event in site.daemon.events() if event["event"] == "rescheduled")
        after = datetime.fromisoformat(noticed["at"]) - died
        return Died(code, after.total_seconds(), ended.total_seconds(), site.serves(), site.engines() == engines)


@dataclass(frozen=True)
class Jumped:
    """A daemon whose wall clock was set. `ticks` came in so many `seconds` after it."""

    first_tick: float
    ticks: float
    seconds: float
    logical: float
    alive: bool
    changes_meanwhile: int
    grew: bool


@dataclass(frozen=True)
class Jump:
    """One setting of the clock: so many seconds, and back again."""

    seconds: int

    def __call__(self, ground: Ground) -> Jumped:
        return _jumped(ground, self.seconds)


PLAN = Plan(hold="5s")


def _jumped(ground: Ground, seconds: int) -> Jumped:
    with ground.site(PLAN) as site:
        site.start(command=command("clock"))
        site.play(BUSY)
        assert site.alerts(state="pending")
        clock, began, ticks, logical = SystemClock(), SystemClock().running(), _ticks(site), _logical(site)
        (site.folder / "jump").write_text(str(seconds))
        assert comes(lambda: _ticks(site) > ticks, within=PATIENCE)
        first = (clock.running() - began).total_seconds()
        pause(4.0)
        changes = len(site.counts()) - 1
        ticked, passed, took = _ticks(site) - ticks, (clock.running() - began).total_seconds(), _logical(site) - logical
        (site.folder / "jump").write_text("0")
        grew = site.grows(to=2)
        return Jumped(first, ticked, passed, took, site.daemon.code is None, changes, grew)


def _ticks(site: Site) -> float:
    return site.daemon.metric("autopilot_ticks_total") or 0.0


def _logical(site: Site) -> float:
    return float(site.daemon.json("/api/v1/status")["daemon"]["running_seconds"])


CLOCKS = {name: Jump(seconds) for name, seconds in JUMPS.items()}
STORIES = (scheduler_dies, *CLOCKS.values())


def test_a_dead_scheduler_is_noticed_within_two_intervals(stories: SideBySide) -> None:
    assert stories.told(scheduler_dies).noticed <= 2 * INTERVAL + 0.5


def test_a_daemon_that_cannot_tick_any_more_ends_with_a_code_of_its_own(stories: SideBySide) -> None:
    died = stories.told(scheduler_dies)

    assert died.code == DEAD
    assert died.ended <= (2 + ATTEMPTS + 2) * INTERVAL


def test_the_fleet_serves_on_when_the_loop_has_died(stories: SideBySide) -> None:
    died = stories.told(scheduler_dies)

    assert died.serves
    assert died.engines_live


@pytest.fixture(params=list(CLOCKS))
def jumped(stories: SideBySide, request: pytest.FixtureRequest) -> Jumped:
    return stories.told(CLOCKS[request.param])


def test_the_next_tick_comes_within_two_intervals_of_a_set_clock_and_there_is_no_burst(jumped: Jumped) -> None:
    assert jumped.first_tick <= 2 * INTERVAL
    assert jumped.ticks <= jumped.seconds / INTERVAL + 2
    assert jumped.alive


def test_logical_time_does_not_jump(jumped: Jumped) -> None:
    assert jumped.logical == pytest.approx(jumped.seconds, abs=1.5)


def test_nothing_is_done_while_the_clock_is_wrong_and_the_story_goes_on_when_it_is_right(jumped: Jumped) -> None:
    assert jumped.changes_meanwhile == 0
    assert jumped.grew
