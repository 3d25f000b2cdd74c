from __future__ import annotations

from typing import Any

import pytest

from demo.sight import attempts_of, fleet_of, latency_of_buckets, latency_of_times, told_of

STATUS: dict[str, Any] = {
    "daemon": {"at": "2026-01-01T00:01:40+00:00"},
    "fleets": [
        {
            "desired": 2,
            "wanted": 2,
            "serving": 1,
            "replicas": [
                {"name": "chat-1", "state": "serving", "age_seconds": 90.0, "running": 12.0, "waiting": 4.0, "message": ""},
                {"name": "chat-2", "state": "starting", "age_seconds": 10.0, "running": None, "waiting": None, "message": ""},
            ],
            "ttft": [{"quantile": 0.99, "value": 1.5, "state": "sparse", "count": 80.0}, {"quantile": 0.999, "value": None, "count": None}],
            "in_flight": 16.0,
            "request_rate": 4.5,
            "alerts": [{"name": "slow", "state": "pending", "blind": False, "active_seconds": 2.0, "for_seconds": 5.0}],
            "remediation": None,
            "good": 5.5,
        }
    ],
}


def _buckets(**cumulative: float) -> dict[str, Any]:
    rows = [{"metric": {"le": edge}, "value": [0, str(count)]} for edge, count in cumulative.items()]
    return {"data": {"result": rows}}


def test_a_replica_was_asked_for_as_long_ago_as_it_is_old() -> None:
    fleet = fleet_of(STATUS)

    assert fleet is not None
    assert [fleet.at - replica.asked_at for replica in fleet.replicas] == [90.0, 10.0]


def test_a_quantile_that_nobody_measured_is_not_there() -> None:
    fleet = fleet_of(STATUS)

    assert fleet is not None
    assert (fleet.minute.of(0.99), fleet.minute.of(0.999), fleet.minute.count) == (1.5, None, 80)


@pytest.mark.parametrize(
    "answer", [{"daemon": {"at": None}, "fleets": []}, {"daemon": {"at": None}, "fleets": [{}]}], ids=["no-fleet", "no-tick"]
)
def test_before_the_first_tick_there_is_no_fleet(answer: dict[str, Any]) -> None:
    assert fleet_of(answer) is None


def test_buckets_are_interpolated_as_prometheus_does() -> None:
    latency = latency_of_buckets(_buckets(**{"0.5": 50.0, "1.0": 100.0, "+Inf": 100.0}))

    assert (latency.count, latency.of(0.5), latency.of(0.9)) == (100, 0.5, 0.9)


def test_beyond_the_last_edge_the_last_edge_is_all_that_is_known() -> None:
    assert latency_of_buckets(_buckets(**{"0.5": 10.0, "+Inf": 100.0})).of(0.9) == 0.5


@pytest.mark.parametrize("answer", [_buckets(), _buckets(**{"0.5": 0.0, "+Inf": 0.0})], ids=["no-series", "no-request"])
def test_without_requests_there_are_no_quantiles(answer: dict[str, Any]) -> None:
    assert latency_of_buckets(answer).of(0.5) is None


def test_a_measured_quantile_is_one_of_the_measured_times() -> None:
    latency = latency_of_times([float(number) for number in range(10, 0, -1)])

    assert (latency.of(0.5), latency.of(0.9), latency.of(0.999)) == (5.0, 9.0, 10.0)


def test_the_steps_of_a_remediation_keep_their_order() -> None:
    steps = [
        {"verb": "scaleOut", "number": 1, "phase": "ended", "verdict": "ineffective", "reason": None, "target": 2},
        {"verb": "relocate", "number": 1, "phase": "ended", "verdict": "not_taken", "reason": "not_supported", "target": None},
    ]

    assert [step.verdict for step in attempts_of({"id": "one", "attempts": steps})] == ["ineffective", "not_taken"]


def test_a_story_line_knows_its_moment() -> None:
    line = {"number": 3, "wall": "1970-01-01T00:00:05Z", "fleet": "demo/chat", "event": "alert_firing", "text": "", "remediation": ""}

    assert told_of({"newest": 3, "lines": [line]})[0].wall == 5.0


def test_a_story_line_is_one_line_whatever_it_quotes() -> None:
    line = {"number": 3, "wall": "1970-01-01T00:00:05Z", "event": "step_ended", "text": "never ready; its log:\nloading\n"}

    assert told_of({"newest": 3, "lines": [line]})[0].text == "never ready; its log: loading"
