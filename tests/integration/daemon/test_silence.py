"""Idle is not unknown: only a fleet whose quiet was measured shrinks (R-5, R-6, R-7, T2)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from tests.integration.daemon.side_by_side import Ground, SideBySide
from tests.integration.daemon.sites import Plan, Site
from tests.support.daemons import pause
from tests.support.exporters import CALM, IDLE, QUIET, TTFT

LONGER = 4.0  # seconds that the others are watched after the idle one shrank: more than their stableFor

TAKES = 30

pytestmark = pytest.mark.timeout(300)

PLANS = {name: Plan(name, minimum=2) for name in ("idle", "dark", "half", "aged", "mute")}


@dataclass(frozen=True)
class Silence:
    """What became of each fleet: its count, whether its alert is blind, and the gaps that its status names."""

    desired: Mapping[str, int]
    blind: Mapping[str, bool]
    gaps: Mapping[str, frozenset[str]]
    reasons: Mapping[str, str]


def silence(ground: Ground) -> Silence:
    with ground.site(*PLANS.values()) as site:
        site.play(CALM, "aged", aged=0.1)
        site.start(serving=2)
        site.play(IDLE, "idle")
        site.play(IDLE, "dark", scraped=500)
        site.play(QUIET, "half")
        site.play_alone("half-2", scraped=500)
        site.play(QUIET, "aged", aged=60.0)  # Prometheus takes no sample older than the last: that one grows old
        site.play(QUIET, "mute", muted=(TTFT,))
        for plan in PLANS.values():
            site.rewrite(replace(plan, minimum=1))
        assert site.rests("idle", at=1, within=90)
        pause(LONGER)
        return _seen(site)


def _seen(site: Site) -> Silence:
    fleets = {name: site.daemon.fleet(name) for name in PLANS}
    return Silence(
        desired={name: site.record(name).desired for name in PLANS},
        blind={name: fleet["alerts"][0]["blind"] for name, fleet in fleets.items()},
        gaps={name: frozenset(gap.split(": ")[1].split(" - ")[0] for gap in fleet["gaps"]) for name, fleet in fleets.items()},
        reasons={name: " ".join(one for one in fleet["decisions"] if one.startswith("scaleIn")) for name, fleet in fleets.items()},
    )


STORIES = (silence,)


@pytest.fixture
def seen(stories: SideBySide) -> Silence:
    return stories.told(silence)


def test_a_fleet_measured_to_do_nothing_shrinks_to_its_minimum(seen: Silence) -> None:
    assert seen.desired["idle"] == 1
    assert not seen.blind["idle"]


@pytest.mark.parametrize("fleet", ["dark", "half", "aged"])
def test_a_fleet_that_cannot_be_heard_keeps_what_it_has(seen: Silence, fleet: str) -> None:
    assert seen.desired[fleet] == 2
    assert seen.blind[fleet]
    assert "blind" in seen.reasons[fleet]


@pytest.mark.parametrize(
    ("fleet", "gap"), [("dark", "below_quorum"), ("half", "below_quorum"), ("aged", "stale")], ids=["dark", "half", "aged"]
)
def test_silence_has_its_reason(seen: Silence, fleet: str, gap: str) -> None:
    assert gap in seen.gaps[fleet]


def test_a_broken_latency_is_said_to_be_absent(seen: Silence) -> None:
    assert seen.blind["mute"]
    assert "absent" in seen.gaps["mute"]


def test_a_fleet_whose_latency_is_broken_keeps_what_it_has(seen: Silence) -> None:
    assert seen.desired["mute"] == 2
