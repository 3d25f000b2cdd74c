"""Webhooks of two real Alertmanagers, and worse ones: each is a hint, and one need is answered once (T9, R-22)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.integration.daemon.side_by_side import PROMPT, SCRAPING, Ground, SideBySide
from tests.integration.daemon.sites import Plan, Site
from tests.support.alertmanager import Peer, cluster, peers
from tests.support.daemons import comes, pause
from tests.support.exporters import CALM
from tests.support.prometheus import PrometheusServer, any_binaries, free_port
from tests.support.webhooks import alert, message

TAKES = 60
TOKENS = ("first-token", "second-token")
CANARY = "canary-secret"
ELSEWHERE = "ManyWaiting"  # an alert that Prometheus evaluates, and our policy names
CLAIMED = "NobodyFiresThis"
FIRST = (0, 1)  # the fleet comes up
LONGER = 4.0  # seconds in which a second action would show
# It keeps firing: a scrape that fails on a busy machine would end one episode, and two of them are two needs.
RULES = f"""
groups:
  - name: theirs
    interval: 1s
    rules:
      - {{alert: {ELSEWHERE}, expr: "sum by (fleet) (vllm:num_requests_waiting) > 3", labels: {{severity: page}}, keep_firing_for: 5m}}
"""
ALERTING = """
rule_files: [RULES]
alerting: {alertmanagers: [{static_configs: [{targets: [PEERS]}]}]}
"""

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Told:
    """What became of it."""

    counts: list[tuple[int, int]]
    after_restart: list[tuple[int, int]]
    statuses: Mapping[str, int]
    replays: Mapping[str, int]
    claimed: Mapping[str, Any]
    reported: list[str]
    heard_again: bool
    leaked: bool


def prometheus_with(members: tuple[Peer, ...], ground: Ground, folder: Path) -> PrometheusServer:
    rules = folder / "rules.yml"
    rules.write_text(RULES)
    targets = ", ".join(f'"{peer.address}"' for peer in members)
    config = SCRAPING.replace("TARGETS", str(ground.targets)) + ALERTING.replace("RULES", str(rules)).replace("PEERS", targets)
    return PrometheusServer(any_binaries(), config=config, flags=PROMPT)


def named_in_policy(site: Site, plan: Plan) -> None:
    """The policy's second and third alert are those that others evaluate."""
    fleet, policy = plan.documents(f"{site.folder.name}-{plan.name}")
    step = {"do": {"scale": {"by": 1}}, "verify": {"within": "60s", "when": {"alertmanager": ELSEWHERE}}}
    policy["spec"]["alerts"] += [
        {"name": name, "severity": "page", "when": {"alertmanager": name}, "for": "0s"} for name in (ELSEWHERE, CLAIMED)
    ]
    policy["spec"]["remedies"] = [{"alert": name, "steps": [step]} for name in (ELSEWHERE, CLAIMED)]
    site.document(plan).write_text("\n---\n".join(json.dumps(one) for one in (fleet, policy)))


def guarded(site: Site) -> str:
    """The door has a fixed port and two tokens; its address."""
    port = free_port()
    (site.folder / "tokens").write_text("\n".join(TOKENS))
    file = site.folder / "autopilot.yaml"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "http": {"port": port, "alertsTokenFile": "tokens"}}))
    return f"http://127.0.0.1:{port}/api/v1/alerts"


def post(hook: str, body: bytes, token: str = TOKENS[1]) -> int:
    return requests.post(hook, data=body, headers={"Authorization": f"Bearer {token}"}, timeout=20).status_code


def hostile(ground: Ground) -> Told:
    plan = Plan(maximum=4, stable_for="300s")
    members = peers(2)
    with (
        prometheus_with(members, ground, ground.make_folder()) as prometheus,
        ground.site(plan, sources={"default": prometheus.url}) as site,
    ):
        named_in_policy(site, plan)
        hook = guarded(site)
        site.start()
        fleet = f"{site.folder.name}-chat"
        claim = alert("f00d", fleet=fleet, alertname=CLAIMED)
        statuses = {
            "wrong token": post(hook, message(claim), CANARY),
            "no token": requests.post(hook, data=message(claim), timeout=20).status_code,
            "5 MB": post(hook, b"x" * 5_000_000),
            "not json": post(hook, b"{"),
            "resolved first": post(hook, message({**claim, "status": "resolved", "endsAt": "2026-11-03T10:00:01Z"})),
            "stale": post(hook, message({**claim, "startsAt": "2020-01-01T00:00:00Z"})),
            "then firing": post(hook, message(claim)),
            "a claim": post(hook, message({**claim, "startsAt": "2026-11-04T10:00:00Z"})),
        }
        with cluster(members, hook=hook, token=TOKENS[0]):
            site.play(replace(CALM, waiting=6.0))
            assert site.grows(to=2, within=60), site.daemon.said()[-3000:]
            own = alert("beef", fleet=fleet, alertname=ELSEWHERE)
            replays = [post(hook, message(own)) for _ in range(200)]
            claimed = next(one for one in site.daemon.fleet("chat")["alerts"] if one["name"] == CLAIMED)
            reported = [one["name"] for one in site.daemon.fleet("chat")["reported"]]
            assert comes(lambda: (site.daemon.metric("autopilot_webhook_alerts_total", taken="duplicate") or 0) >= 199, within=30)
            pause(LONGER)
            counts = site.counts()
            post(hook, message({**own, "startsAt": "2026-11-05T10:00:00Z"}))
            site.daemon.kill()  # after the 202, before or in the middle of what follows
            site.daemon.start()
            pause(LONGER)
            heard_again = comes(lambda: (site.daemon.metric("autopilot_webhook_requests_total", code="202") or 0) > 0, within=30)
            said = "".join(file.read_text(errors="replace") for file in site.folder.glob("daemon-*"))
            return Told(
                counts=counts,
                after_restart=site.counts(),
                statuses=statuses,
                replays={str(code): replays.count(code) for code in set(replays)},
                claimed=claimed,
                reported=reported,
                heard_again=heard_again,
                leaked=any(secret in said for secret in (CANARY, *TOKENS)),
            )


STORIES = (hostile,)


@pytest.fixture
def told(stories: SideBySide) -> Told:
    return stories.told(hostile)


def test_t9_two_alertmanagers_and_two_hundred_replays_are_one_action(told: Told) -> None:
    assert (told.counts, told.replays) == ([FIRST, (1, 2)], {"202": 200})


def test_t9_a_claim_that_the_source_does_not_show_is_blind_and_acts_not(told: Told) -> None:
    assert (told.claimed["state"], told.claimed["blind"]) == ("inactive", True)
    assert CLAIMED in told.reported


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("wrong token", 401),
        ("no token", 401),
        ("5 MB", 413),
        ("not json", 400),
        ("resolved first", 202),
        ("stale", 202),
        ("then firing", 202),
        ("a claim", 202),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
def test_r22_each_bad_message_has_its_answer(told: Told, what: str, status: int) -> None:
    assert told.statuses[what] == status


def test_t9_a_daemon_killed_after_it_took_a_message_acts_no_second_time(told: Told) -> None:
    assert told.after_restart == [FIRST, (1, 2)]


def test_the_peers_come_in_again_after_a_restart(told: Told) -> None:
    assert told.heard_again


def test_s5_no_token_is_ever_said(told: Told) -> None:
    assert not told.leaked
