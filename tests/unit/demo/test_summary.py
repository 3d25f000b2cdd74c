from __future__ import annotations

import json
from dataclasses import replace

import pytest

from demo.scenario import LADDER, SCALE
from demo.sight import Sight, latency_of_times
from demo.summary import Measured, Requests, Windows, as_json, not_observed
from tests.unit.demo.stories import CORDONED, HANDED_OVER, HELPED, LANDED, SERVING, SHRUNK, attempt, fleet, told

SLOW, FAST = latency_of_times([5.0, 6.0]), latency_of_times([0.2, 0.3])
WINDOWS = Windows(SLOW, FAST, SLOW, FAST)
ALL = Requests(600, 600, 0, 0, whole=True)
GOOD = Measured(told(SCALE, *SHRUNK), WINDOWS, ALL, 180.0, 50.0)
HANDED = Measured(told(LADDER, *HANDED_OVER), Windows(SLOW, SLOW, SLOW, SLOW), ALL, 180.0, 50.0)


@pytest.mark.parametrize("measured", [GOOD, HANDED], ids=["scale", "ladder"])
def test_a_run_that_showed_everything_misses_nothing(measured: Measured) -> None:
    assert not_observed(measured) == ()


@pytest.mark.parametrize(
    "measured",
    [
        replace(GOOD, requests=Requests(600, 599, 1, 0, whole=True)),
        replace(GOOD, requests=Requests(600, 599, 0, 1, whole=True)),
        replace(GOOD, requests=Requests()),
        replace(GOOD, windows=replace(WINDOWS, client_after=SLOW)),
        replace(GOOD, windows=replace(WINDOWS, server_after=SLOW)),
        replace(GOOD, scene=told(SCALE, *HELPED, Sight(163.0, fleet(163.0, SERVING, desired=1, born=(50.0,))))),
        replace(HANDED, scene=replace(HANDED.scene, facts=replace(HANDED.scene.facts, told=2))),
        replace(HANDED, scene=replace(HANDED.scene, facts=replace(HANDED.scene.facts, least=1))),
        replace(HANDED, scene=replace(HANDED.scene, facts=replace(HANDED.scene.facts, attempts=(attempt("insufficient"),)))),
        replace(HANDED, scene=replace(HANDED.scene, facts=replace(HANDED.scene.facts, attempts=(attempt("helped"),)))),
    ],
    ids=[
        "a-failed-request", "a-lost-request", "a-load-that-did-not-sum-up", "no-relief-at-the-client", "no-relief-in-the-engines",
        "not-drained", "told-twice", "capacity-taken-away", "no-next-rung", "a-first-rung-that-helped",
    ],
)  # fmt: skip
def test_a_promise_that_was_not_kept_is_named(measured: Measured) -> None:
    assert not_observed(measured)


def test_the_moments_are_told_from_what_they_follow() -> None:
    numbers = as_json(GOOD)["measured"]

    assert isinstance(numbers, dict)
    assert [numbers[key] for key in ("breach_seen_seconds", "action_seconds", "shrink_decided_seconds", "shrunk_seconds")] == [
        4.5, 9.0, 24.0, 28.0,
    ]  # fmt: skip


def test_what_was_not_observed_is_null_and_not_zero() -> None:
    numbers = as_json(replace(GOOD, scene=told(SCALE, *LANDED), newest_sample=None))["measured"]

    assert isinstance(numbers, dict)
    assert (numbers["verdict"], numbers["shrunk_seconds"], numbers["sample_to_change_seconds"]) == (None, None, None)


@pytest.mark.parametrize("measured", [GOOD, HANDED], ids=["scale", "ladder"])
def test_the_summary_is_json(measured: Measured) -> None:
    assert json.loads(json.dumps(as_json(measured)))["ok"] is True


def test_a_replica_out_of_traffic_counts_as_drained() -> None:
    assert told(SCALE, *HELPED, Sight(160.0, fleet(160.0, CORDONED, SERVING))).facts.drained
