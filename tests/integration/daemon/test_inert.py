"""A policy that matches nothing is inert, says so, and does nothing, however busy the fleet (T5)."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.integration.daemon.side_by_side import PROMPT, SCRAPING, Ground, SideBySide
from tests.integration.daemon.sites import PATIENCE, SLO, Plan, Site
from tests.support.daemons import comes, pause
from tests.support.exporters import BUSY, TTFT
from tests.support.prometheus import PrometheusServer, any_binaries

TEMPTED = 5.0  # seconds of load that would have it act, were it not inert
PLAN = Plan()
OTHER_CASE = "    relabel_configs: [{source_labels: [fleet], action: uppercase, target_label: fleet}]\n"

TAKES = 40

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Seen:
    """What a daemon said and did. `others` is the metric of a policy that works."""

    inert: bool
    alert: Any
    lines: list[str]
    logged: bool
    counts: list[tuple[int, int]]
    healed: bool


def label_case(ground: Ground) -> Seen:
    """Prometheus has the label in capitals."""
    config = SCRAPING.replace("TARGETS", str(ground.targets)) + OTHER_CASE
    with PrometheusServer(any_binaries(), config=config, flags=PROMPT) as other, ground.site(PLAN, sources={"default": other.url}) as site:
        site.play(BUSY)
        return _seen(site)


def metric_missing(ground: Ground) -> Seen:
    """The engines export everything but the histogram, and later that too."""
    with ground.site(PLAN) as site:
        site.play(BUSY, muted=(TTFT,))
        seen = _seen(site)
        site.play(BUSY)
        healed = comes(lambda: site.daemon.metric("autopilot_policy_inert", policy="chat") == 0.0, within=PATIENCE)
        return Seen(seen.inert, seen.alert, seen.lines, seen.logged, seen.counts, healed)


def _seen(site: Site) -> Seen:
    site.daemon.start()
    inert = comes(lambda: site.daemon.metric("autopilot_policy_inert", policy="chat") == 1.0, within=2 * PATIENCE)
    pause(TEMPTED)
    status = site.daemon.json("/api/v1/status")["daemon"]
    logged = any(event.get("event") == "policy_inert" for event in site.daemon.events())
    return Seen(inert, site.daemon.alert("chat"), status["inert"], logged, site.counts(), healed=False)


STORIES = (label_case, metric_missing)


@pytest.fixture(params=STORIES, ids=["label-case", "metric-missing"])
def seen(stories: SideBySide, request: pytest.FixtureRequest) -> Seen:
    result = stories.told(request.param)
    assert isinstance(result, Seen)
    return result


def test_t5_the_alarm_metric_is_1_and_the_log_says_so_once(seen: Seen) -> None:
    assert seen.inert
    assert seen.logged


def test_t5_the_status_says_inert_and_never_healthy(seen: Seen) -> None:
    assert seen.alert["name"] == SLO
    assert seen.alert["inert"]
    assert seen.alert["state"] == "inactive"
    assert [line for line in seen.lines if "llm/chat" in line and SLO in line]


def test_t5_nothing_is_done_but_what_the_minimum_asks_for(seen: Seen) -> None:
    assert seen.counts == [(0, 1)]


def test_a_policy_works_again_once_its_signal_is_there(stories: SideBySide) -> None:
    assert stories.told(metric_missing).healed
