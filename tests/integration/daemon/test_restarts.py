"""A restart in the middle of everything: what was waited for goes on being waited for, and the time in between never was (R-17, R-26)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.state import read_state
from autopilot.control.audit import Record
from autopilot.daemon.assembly import CODEC
from autopilot.domain.alerts import AlertState
from autopilot.domain.memory import Memory
from autopilot.domain.remediations import Attempt, Phase, Verdict
from autopilot.domain.workloads import FleetRef
from tests.integration.daemon.altered import command
from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import PATIENCE, Plan, Site
from tests.support.daemons import comes, pause
from tests.support.exporters import BUSY, CALM

DOWN = 12.0  # seconds: more than any clock below has left, so that counting them would show
STARTING = timedelta(seconds=6)  # of running time until the first tick of a new process, on busy cores

TAKES = 55

pytestmark = pytest.mark.timeout(300)

PLANS = (
    Plan("pending", maximum=1, hold="10s"),
    Plan("firing", maximum=1),
    Plan("lingering", maximum=1, keep_firing="10s"),
    Plan("verifying", within="60s", held_for="6s"),
)
FLEETS = tuple(plan.name for plan in PLANS)


@dataclass(frozen=True)
class Restarted:
    """`saved` is each fleet's memory between the two lives, `woken` the first record of the second, `last` the newest."""

    code: int | None
    saved: Mapping[str, Memory]
    woken: Mapping[str, Record]
    last: Mapping[str, Record]


def restart(ground: Ground) -> Restarted:
    with ground.site(*PLANS) as site:
        site.start()
        _into_the_middle(site)
        code = site.daemon.stop()
        saved = _memories(site)
        pause(DOWN)
        site.daemon.start()
        assert comes(lambda: all(site.daemon.fleet(name) for name in FLEETS), within=PATIENCE)
        assert site.alerts("pending", state="firing")
        assert site.alerts("lingering", state="inactive")
        site.play(CALM, "verifying")
        assert site.rests("verifying", at=2)
        records = {name: site.records(name) for name in FLEETS}
        woken = {name: next(one for one in records[name] if one.seen.restarted and one.seen.now > saved[name].now) for name in FLEETS}
        return Restarted(code, saved, woken, {name: records[name][-1] for name in FLEETS})


def _into_the_middle(site: Site) -> None:
    for name in ("firing", "lingering", "verifying"):
        site.play(BUSY, name)
    assert all(site.alerts(name, state="firing") for name in ("firing", "lingering"))
    assert site.shows("verifying", serving=2)
    site.play(CALM, "lingering")
    site.play(BUSY, "pending")
    assert site.alerts("pending", state="pending")
    assert comes(lambda: any(one.after.alerts[0].lingered is not None for one in site.records("lingering")[-3:]), within=PATIENCE)


def _memories(site: Site) -> dict[str, Memory]:
    found = read_state(site.folder / Path(site.state), CODEC).memories
    return {name: found[FleetRef("llm", name)] for name in FLEETS}


def _attempt(memory: Memory) -> Attempt:
    assert memory.remediation is not None
    assert memory.remediation.current is not None
    return memory.remediation.current


@dataclass(frozen=True)
class Stopped:
    """A daemon told to stop while a change was on its way. `loading` was not ready yet when it ended."""

    code: int | None
    seconds: float
    version: int
    loading: bool
    served_meanwhile: bool
    engines: set[int]
    adopted: set[int]
    verdicts: list[Verdict]


def stop_in_the_middle(ground: Ground) -> Stopped:
    with ground.site() as site:
        site.start(command=command("slow"))
        site.play(BUSY, loads=8.0)
        assert comes(lambda: "change_decided: replicas 1 -> 2" in " ".join(site.daemon.story()), within=PATIENCE)
        clock, began = SystemClock(), SystemClock().running()
        code = site.daemon.stop()
        seconds = (clock.running() - began).total_seconds()
        loading = not all(site.record().loads_of(one.template) and one.load_seconds for one in site.record().replicas)
        served, engines = site.serves(), site.engines()
        site.daemon.start()
        assert site.shows(serving=2)
        site.play(CALM)
        assert site.rests(at=2)
        verdicts = [one.verdict for one in site.records()[-1].after.finished]
        return Stopped(code, seconds, site.record().version, loading, served, engines, site.engines(), verdicts)


STORIES = (restart, stop_in_the_middle)


@pytest.fixture
def restarted(stories: SideBySide) -> Restarted:
    return stories.told(restart)


@pytest.fixture
def stopped(stories: SideBySide) -> Stopped:
    return stories.told(stop_in_the_middle)


def test_the_time_between_two_lives_counts_for_nothing(restarted: Restarted) -> None:
    passed = {name: restarted.woken[name].seen.now - restarted.saved[name].now for name in FLEETS}

    assert max(passed.values()) < STARTING


@pytest.mark.parametrize(
    ("fleet", "state"),
    [("pending", AlertState.PENDING), ("firing", AlertState.FIRING), ("lingering", AlertState.FIRING), ("verifying", AlertState.FIRING)],
    ids=FLEETS,
)
def test_an_alert_is_after_a_restart_what_it_was_before(restarted: Restarted, fleet: str, state: AlertState) -> None:
    before, after = restarted.saved[fleet].alerts[0], restarted.woken[fleet].after.alerts[0]

    assert before.state is after.state is state
    assert after.since == before.since


def test_a_pending_alert_keeps_the_time_it_has_waited(restarted: Restarted) -> None:
    before, after = restarted.saved["pending"].alerts[0], restarted.woken["pending"].after.alerts[0]

    assert before.active > timedelta()
    assert timedelta() <= after.active - before.active < STARTING
    assert restarted.last["pending"].after.alerts[0].state is AlertState.FIRING


def test_a_lingering_alert_keeps_the_time_it_has_lingered(restarted: Restarted) -> None:
    before, after = restarted.saved["lingering"].alerts[0], restarted.woken["lingering"].after.alerts[0]

    assert before.lingered is not None
    assert after.lingered is not None
    assert timedelta() <= after.lingered - before.lingered < STARTING


def test_a_verification_goes_on_where_it_was(restarted: Restarted) -> None:
    before, after = _attempt(restarted.saved["verifying"]), _attempt(restarted.woken["verifying"].after)

    assert before.phase is after.phase is Phase.LANDED
    assert after.landed_at == before.landed_at
    assert timedelta() <= after.waited - before.waited < STARTING
    assert [one.verdict for one in restarted.last["verifying"].after.finished] == [Verdict.HELPED]


def test_a_daemon_told_to_stop_finishes_the_change_under_way_and_leaves_well(stopped: Stopped) -> None:
    assert stopped.code == 0
    assert stopped.seconds <= 25
    assert stopped.version == 3


def test_the_fleet_serves_on_without_its_daemon_and_is_taken_up_by_the_next(stopped: Stopped) -> None:
    assert stopped.served_meanwhile
    assert stopped.engines == stopped.adopted
    assert stopped.verdicts == [Verdict.HELPED]


def test_what_was_loading_when_the_daemon_ended_lands_in_the_next_ones_life(stopped: Stopped) -> None:
    assert stopped.loading
    assert len(stopped.adopted) == 2
