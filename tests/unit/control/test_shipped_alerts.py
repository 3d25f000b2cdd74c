"""What the shipped policies make of hand-made worlds: each alert can fire, and fires where it is meant to."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from autopilot.control.alerting import evaluate
from autopilot.control.needs import Asked, signals_needed
from autopilot.control.seen import Case, Seen
from autopilot.domain.memory import Memory
from autopilot.domain.signals import Distribution, Entry, Gap, Idle, Measured, Reading, Readings, Unknown
from autopilot.domain.verbs import Mode, Verb
from autopilot.policy.load import load_documents
from autopilot.policy.sources import read_sources
from autopilot.policy.values import Fleet, Policy
from tests.unit.control.ticks import START, TICK, fleet_of

POLICIES = Path(__file__).parents[3] / "policies"
SHIPPED = ("closed-loop", "chat", "code-completion", "summarize")
CLASSES = SHIPPED[1:]
EDGES = (0.05, 0.12, 0.3, 0.32, 0.5, 0.65, 0.75, 0.8, 1.0, 1.2, 2.5, float("inf"))
LONG = timedelta(minutes=30)

World = Callable[[Asked], Reading]


def shipped(name: str) -> tuple[Fleet, Policy]:
    (pair,) = load_documents(read_sources([POLICIES / f"{name}.yaml"])).pairs
    assert pair.policy is not None
    return pair.fleet, pair.policy


def all_at(seconds: float, count: float = 1000.0) -> Distribution:
    """So many first tokens, all of them just so late."""
    return Distribution(EDGES, tuple(count if edge >= seconds else 0.0 for edge in EDGES))


def world(ttft: Reading, **others: Reading) -> World:
    calm: dict[str, Reading] = {
        "waiting_per_replica": Measured(0.0),
        "stalled_replicas": Measured(0.0),
        "bandwidth_utilization": Unknown(Gap.NOT_SUPPORTED),
        "server_errors": Measured(0.0, count=0.0),
        "refused": Measured(0.0, count=0.0),
        "ttft": ttft,
    }
    return lambda asked: (calm | others)[asked[0]]


def only_lately(now: World, before: World) -> World:
    return lambda asked: (now if asked[1] is None or asked[1] < LONG else before)(asked)


def firing(name: str, see: World) -> set[str]:
    """What fires once every `for` has passed."""
    fleet, policy = shipped(name)
    readings = Readings(tuple(Entry(signal, over, None, see((signal, over))) for signal, over in signals_needed(policy)))
    memory = Memory()
    for tick in range(60):
        seen = Seen(now=START + tick * TICK, interval=TICK, scrape_interval=TICK, readings=readings, workload=fleet_of("ss"))
        memory = Memory(alerts=evaluate(Case(fleet, policy, memory, seen)).alerts)
    return {alert.name for alert in memory.alerts if alert.firing}


FAST, SLOW, VERY_SLOW = all_at(0.05), all_at(0.75), all_at(10.0)
BUDGET = {"budget-burns-fast", "budget-burns-slowly"}
BUSY, STARVED = Measured(0.9), Measured(0.3)
MANY = Measured(1.0, count=500.0)


@pytest.mark.parametrize(
    ("see", "expected"),
    [
        (world(FAST), set()),
        (world(Idle()), set()),
        (world(FAST, waiting_per_replica=Measured(3.0)), {"queued"}),
        (world(SLOW), {"starved-bandwidth", *BUDGET}),
        (world(SLOW, bandwidth_utilization=STARVED), {"starved-bandwidth", *BUDGET}),
        (world(SLOW, bandwidth_utilization=BUSY), {"saturated", *BUDGET}),
        (world(SLOW, bandwidth_utilization=Measured(0.6)), {"saturated", *BUDGET}),
        (world(VERY_SLOW, bandwidth_utilization=STARVED), {"starved-bandwidth", "slow-first-token", *BUDGET}),
        (world(Unknown(Gap.STALLED), stalled_replicas=Measured(1.0), waiting_per_replica=Measured(3.0)), {"stalled", "queued"}),
        (only_lately(world(SLOW), world(FAST)), {"starved-bandwidth"}),
        (only_lately(world(FAST), world(VERY_SLOW)), {"budget-burns-slowly", "budget-burns-fast"}),
        (world(FAST, refused=MANY), BUDGET),
        (world(FAST, server_errors=MANY), BUDGET),
        (world(Idle(), refused=MANY), BUDGET),
    ],
    ids=[
        "calm",
        "idle",
        "a-queue",
        "slow-without-a-bandwidth-source",
        "slow-and-starved",
        "slow-and-busy",
        "slow-and-exactly-between",
        "very-slow",
        "a-hung-engine",
        "slow-for-a-minute",
        "slow-until-lately",
        "load-is-shed",
        "requests-fail",
        "everything-is-shed",
    ],
)
def test_the_closed_loop_fires(see: World, expected: set[str]) -> None:
    assert firing("closed-loop", see) == expected


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(
    ("see", "expected"),
    [
        (world(FAST), set()),
        (world(FAST, waiting_per_replica=Measured(3.0)), {"queued"}),
        (world(VERY_SLOW), {"slow-first-token", *BUDGET}),
        (world(Unknown(Gap.STALLED), stalled_replicas=Measured(1.0)), {"stalled"}),
        (world(FAST, refused=MANY), BUDGET),
    ],
    ids=["calm", "a-queue", "slow", "a-hung-engine", "load-is-shed"],
)
def test_a_class_fires(name: str, see: World, expected: set[str]) -> None:
    assert firing(name, see) == expected


@pytest.mark.parametrize(
    ("name", "limit", "typical"),
    [("chat", 0.8, 0.32), ("code-completion", 0.3, 0.12), ("summarize", 1.2, 0.65)],
)
def test_a_class_promises_what_its_scenario_needs(name: str, limit: float, typical: float) -> None:
    _, policy = shipped(name)

    assert {(slo.signal, slo.threshold, slo.objective) for slo in policy.slos} == {("ttft", limit, 0.99), ("ttft", typical, 0.95)}


@pytest.mark.parametrize("name", CLASSES)
def test_between_its_two_promises_a_class_burns_the_typical_budget_alone(name: str) -> None:
    _, policy = shipped(name)
    limit = max(slo.threshold for slo in policy.slos)

    assert firing(name, world(all_at(limit))) == BUDGET


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_for_a_cluster_changes_nothing_by_itself(name: str) -> None:
    _, policy = shipped(name)

    assert {policy.modes.of(verb) for verb in (Verb.SCALE_OUT, Verb.SCALE_IN, Verb.RELOCATE, Verb.RETUNE)} == {Mode.ADVISE}


def test_every_alert_of_the_shipped_policies_can_fire() -> None:
    worst = [
        world(VERY_SLOW, waiting_per_replica=Measured(9.0), stalled_replicas=Measured(1.0), bandwidth_utilization=bandwidth)
        for bandwidth in (BUSY, STARVED)
    ]
    fired = {name: firing(name, worst[0]) | firing(name, worst[1]) for name in SHIPPED}

    assert fired == {name: {rule.name for rule in shipped(name)[1].alerts} for name in SHIPPED}
