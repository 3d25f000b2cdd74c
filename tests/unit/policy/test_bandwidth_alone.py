"""Bandwidth may explain and may tell people; it changes no fleet by itself."""

import pytest

from .documents import FLEET, POLICY, changed, load, paths

LEAF = "{signal: bandwidth_utilization, above: 90%, over: 1m}"
TTFT = "{signal: ttft, quantile: 99%, above: 500ms, over: 1m}"
WAITING = "{signal: waiting, above: 1}"
STEP = "spec.remedies.0.steps.0.do"


@pytest.mark.parametrize(
    ("when", "refused"),
    [
        (LEAF, [STEP]),
        (f"{{not: {LEAF}}}", [STEP]),
        (f"{{all: [{LEAF}, {LEAF}]}}", [STEP]),
        (f"{{any: [{TTFT}, {LEAF}]}}", [STEP]),
        (f"{{not: {{all: [{TTFT}, {LEAF}]}}}}", [STEP]),
        (f"{{not: {{not: {LEAF}}}}}", [STEP]),
        (f"{{all: [{TTFT[:-1]}, onUnknown: true}}, {LEAF}]}}", [STEP]),
        (f"{{all: [{TTFT}, {LEAF}]}}", []),
        (f"{{all: [{TTFT}, {{any: [{WAITING}, {LEAF}]}}]}}", []),
        (f"{{not: {{any: [{TTFT}, {LEAF}]}}}}", []),
        (TTFT, []),
    ],
    ids=[
        "leaf",
        "not",
        "twice",
        "any",
        "not-all",
        "not-not",
        "all-where-silence-does-not-object",
        "all",
        "any-within-all",
        "not-any",
        "without",
    ],
)
def test_a_step_that_bandwidth_alone_could_start_is_refused(when: str, refused: list[str]) -> None:
    policy = changed(changed(POLICY, TTFT, when), "{within: 2m}", f"{{within: 2m, when: {WAITING}}}")

    assert paths(load(FLEET, policy)) == refused


def test_bandwidth_alone_may_tell_people() -> None:
    policy = changed(
        changed(POLICY, TTFT, LEAF),
        "{do: {scale: {by: shortfall}}, repeat: 3, verify: {within: 2m}}",
        "{do: {notify: {receivers: [oncall]}}}",
    )

    assert paths(load(FLEET, policy)) == []


def test_bandwidth_is_no_demand() -> None:
    demand = "demand: [{signal: bandwidth_utilization, over: 1m, perReplica: 0.8}]"
    policy = changed(POLICY, "  scaling:\n", f"  scaling:\n    {demand}\n")

    assert paths(load(FLEET, policy)) == ["spec.scaling.demand.0.signal"]
