"""Thresholds become edges of the histograms of engines that are yet to be started."""

from typing import Any

import pytest

from autopilot.fleet.edges import FLAG, Edges, edges_of, next_edges, with_edges
from autopilot.fleet.engine import EngineSpec, command_line
from autopilot.fleet.template import template_hash

CHAT: Edges = (("ttft", 0.32), ("ttft", 0.8))


def engine(version: str = "0.32.0", **args: Any) -> EngineSpec:
    return EngineSpec("/m", args={name.replace("_", "-"): value for name, value in args.items()}, version=version)


def buckets(spec: EngineSpec) -> dict[str, list[float]]:
    found = spec.flags.get(FLAG, {})
    assert isinstance(found, dict)
    return found


def test_thresholds_stand_among_vllms_own_edges() -> None:
    found = buckets(with_edges(engine(), CHAT))

    assert set(found) == {"time_to_first_token"}
    assert found["time_to_first_token"][8:15] == [0.25, 0.32, 0.5, 0.75, 0.8, 1.0, 2.5]
    assert found["time_to_first_token"] == sorted(set(found["time_to_first_token"]))


def test_the_engine_is_told_in_words_that_vllm_reads() -> None:
    argv = command_line(with_edges(engine(), (("itl", 0.06),)), host="127.0.0.1", port=1).argv

    assert argv[argv.index("--custom-histogram-buckets") + 1].startswith('{"inter_token_latency":[0.01,0.025,0.05,0.06,0.075,')


@pytest.mark.parametrize(
    ("spec", "edges"),
    [
        (engine("0.31.0"), CHAT),
        (engine(""), CHAT),
        (engine(), ()),
        (engine(custom_histogram_buckets={"time_to_first_token": [1.0]}), CHAT),
    ],
    ids=["no-such-flag", "unknown-version", "nothing-to-add", "the-operators-own"],
)
def test_an_engine_stays_as_it_is(spec: EngineSpec, edges: Edges) -> None:
    assert template_hash(with_edges(spec, edges)) == template_hash(spec)


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        ([("ttft", 0.8), ("ttft", 0.32), ("ttft", 0.8)], CHAT),
        ([("ttft", 0.5), ("queue_time", 0.8), ("itl", 0.3)], ()),
        ([("input_length", 800.0), ("my_own", 0.8)], ()),
    ],
    ids=["sorted-and-once", "edges-already", "of-no-family"],
)
def test_edges_are_what_engines_lack(thresholds: list[tuple[str, float]], expected: Edges) -> None:
    assert edges_of(thresholds) == expected


@pytest.mark.parametrize(
    ("signal", "threshold", "expected"),
    [
        ("ttft", 0.8, (0.75, 1.0)),
        ("ttft", 0.5, None),
        ("queue_time", 0.1, (0.0, 0.3)),
        ("itl", 100.0, (80.0, float("inf"))),
        ("input_length", 800.0, None),
    ],
    ids=["between", "an-edge", "below-all", "above-all", "not-known"],
)
def test_the_next_edges_are_named(signal: str, threshold: float, expected: tuple[float, float] | None) -> None:
    assert next_edges(signal, threshold) == expected
