"""Prometheus is killed during a breach and during calm, comes back, and then flickers (R-1, T1)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import pytest

from autopilot.adapters.clock import SystemClock
from autopilot.adapters.prometheus import PrometheusSource
from autopilot.control.audit import Record
from autopilot.domain.alerts import AlertState
from autopilot.domain.conditions import Truth
from autopilot.domain.decisions import Act
from autopilot.domain.operations import Cordon, Tell
from autopilot.domain.remediations import Verdict
from autopilot.ports import QueryFailed
from tests.integration.daemon.side_by_side import Ground, SideBySide, scraper
from tests.integration.daemon.sites import Plan, Site
from tests.support.daemons import comes, pause
from tests.support.exporters import BUSY, CALM, QUIET
from tests.support.prometheus import Binaries, PrometheusServer, in_bin_dir, on_path

INTERVAL = 1.0  # seconds, of the daemon's ticks
OUTAGE = 30.0  # seconds; ten minutes at an interval of twenty: R-1, as written for an interval of 2 s
FLICKER = 3.0  # seconds up, and as many down
STABLE = timedelta(seconds=6)
NOTICED = 2 * INTERVAL + 0.5  # a tick of its own and the look of this test
ENOUGH = "count(count_over_time(vllm:time_to_first_token_seconds_count[4s]) >= 2) or vector(0)"

BREACH = Plan("breach", within="60s")
STILL = Plan("still", minimum=2, stable_for="6s")

TAKES = 100

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Outage:
    """What was seen. Times in seconds; `records` are those of the outage, `all` of the whole story, by fleet."""

    blind_after: Mapping[str, float]
    seeing_after: Mapping[str, float]
    records: Mapping[str, list[Record]]
    flickered: Mapping[str, list[Record]]
    counts: Mapping[str, list[tuple[int, int]]]
    all: Mapping[str, list[Record]]
    ticks: float
    wanted: Mapping[str, float | None]


def live_through(find: Callable[[], Binaries | None], ground: Ground) -> Outage:
    binaries = find()
    if binaries is None:
        pytest.skip("this version of Prometheus is not here")
    targets = ground.make_folder()
    with scraper(binaries, targets) as server, ground.site(BREACH, STILL, sources={"default": server.url}, targets=targets) as site:
        _to_the_breach(site)
        began = _now(site)
        ticks = site.daemon.metric("autopilot_ticks_total") or 0.0
        blind_after = _until(site, server.kill, blind=1.0)
        pause(OUTAGE)
        wanted = {name: site.daemon.metric("autopilot_desired_replicas", fleet=name) for name in ("breach", "still")}
        ticked = (site.daemon.metric("autopilot_ticks_total") or 0.0) - ticks
        ended = _now(site)
        server.start()
        assert comes(lambda: _answers(server) == 4, within=30)
        seeing_after = _until(site, lambda: None, blind=0.0)
        back = _now(site)
        for _ in range(3):
            with server.frozen():
                pause(FLICKER)
            pause(FLICKER)
        steady = _now(site)
        assert site.rests("still", at=1)
        site.play(CALM, "breach")
        assert site.rests("breach", at=2)
        return Outage(
            blind_after,
            seeing_after,
            _between(site, began, ended),
            _between(site, back, steady),
            {name: site.counts(name) for name in ("breach", "still")},
            {name: site.records(name) for name in ("breach", "still")},
            ticked,
            wanted,
        )


def _to_the_breach(site: Site) -> None:
    """One fleet's added replica is being verified, the other is about to shrink."""
    site.daemon.start()
    assert comes(lambda: site.knows("breach", serving=1) and site.knows("still", serving=2), within=40)
    site.play(BUSY, "breach")
    site.rewrite(replace(STILL, minimum=1))
    assert comes(lambda: site.knows("breach", serving=2), within=40)
    assert site.alerts("breach", state="firing")
    site.play(QUIET, "still")


def _until(site: Site, act: Callable[[], None], *, blind: float) -> dict[str, float]:
    """Seconds from an act until each fleet's alert is blind, or sees again."""
    clock = SystemClock()
    act()
    began = clock.running()

    def look(name: str) -> float:
        assert comes(lambda: site.daemon.metric("autopilot_slo_blind", fleet=name) == blind, within=30), site.daemon.story()
        return (clock.running() - began).total_seconds()

    return {name: look(name) for name in ("breach", "still")}


def _now(site: Site) -> timedelta:
    return timedelta(seconds=site.daemon.json("/api/v1/status")["daemon"]["running_seconds"])


def _between(site: Site, began: timedelta, ended: timedelta) -> dict[str, list[Record]]:
    return {name: [one for one in site.records(name) if began < one.seen.now <= ended] for name in ("breach", "still")}


def _answers(server: PrometheusServer) -> float:
    """How many replicas have been scraped often enough for a rate."""
    source = PrometheusSource(server.url)
    try:
        return source.instant(ENOUGH, at=SystemClock().wall().timestamp(), deadline_seconds=2).samples[0].value
    except QueryFailed:
        return 0.0


def _acts(records: list[Record]) -> list[object]:
    return [one.operation.effect for record in records for one in record.decisions if isinstance(one, Act)]


VERSIONS = {"path": partial(live_through, on_path), "bin-dir": partial(live_through, in_bin_dir)}
STORIES = tuple(VERSIONS.values())


@pytest.fixture(params=list(VERSIONS))
def outage(stories: SideBySide, request: pytest.FixtureRequest) -> Outage:
    return stories.told(VERSIONS[request.param])


def test_both_fleets_are_blind_within_two_intervals_and_see_again_within_two(outage: Outage) -> None:
    assert max(outage.blind_after.values()) <= NOTICED
    assert max(outage.seeing_after.values()) <= NOTICED


def test_nothing_is_done_and_no_alert_resolves_during_the_outage(outage: Outage) -> None:
    assert _acts(outage.records["breach"]) == _acts(outage.records["still"]) == []
    assert {record.after.alerts[0].state for record in outage.records["breach"]} == {AlertState.FIRING}
    assert {record.after.alerts[0].state for record in outage.records["still"]} == {AlertState.INACTIVE}


def test_the_loop_ticks_on_through_the_outage_and_shows_what_was_wanted_last(outage: Outage) -> None:
    assert outage.ticks >= OUTAGE - 3
    assert outage.wanted == {"breach": 2.0, "still": 2.0}


def test_an_outage_goes_blind_once_and_not_once_a_tick(outage: Outage) -> None:
    for records in outage.records.values():
        went = [one for one in records if one.after.alerts[0].blind and not one.before.alerts[0].blind]
        assert len(went) == 1


def test_a_verification_is_judged_after_the_outage_and_not_by_it(outage: Outage) -> None:
    assert outage.counts["breach"] == [(0, 1), (1, 2)]
    assert [one.verdict for one in outage.all["breach"][-1].after.finished] == [Verdict.HELPED]
    assert not [effect for effect in _acts(outage.all["breach"]) if isinstance(effect, Tell)]


def test_a_flickering_source_never_lets_a_replica_go(outage: Outage) -> None:
    assert _acts(outage.flickered["still"]) == []


def test_a_fleet_shrinks_only_after_all_of_stable_for_without_a_gap(outage: Outage) -> None:
    records = outage.all["still"]
    let_go = next(one for one in records if any(isinstance(effect, Cordon) for effect in _acts([one])))
    gaps = [one.seen.now for one in records if one.seen.now < let_go.seen.now and one.after.alerts[0].truth is Truth.UNKNOWN]

    assert let_go.seen.now - max(gaps) >= STABLE
    assert outage.counts["still"] == [(0, 2), (2, 1)]
