from dataclasses import replace
from datetime import timedelta
from math import inf

import pytest

from autopilot.doctor.figures import (
    Threshold,
    Times,
    floor,
    judge_edge,
    judge_interval,
    judge_traffic,
    judge_windows,
    load_seconds,
    thresholds,
)
from autopilot.doctor.findings import Level
from autopilot.domain.conditions import All, BurnRateLeaf, Condition, Not
from autopilot.domain.memory import Memory
from autopilot.domain.scaling import LevelState, ProvenLoad
from autopilot.domain.signals import Distribution, Idle, Reading
from autopilot.domain.slos import Slo
from tests.support.policies import QUEUED, SLOW, rule
from tests.unit.doctor.subjects import MINUTE, SECOND, heard, levels, reads, serving, subject

EDGES = (0.25, 0.5, 1.0, inf)


@pytest.mark.parametrize(
    ("value", "level", "shown"),
    [
        (0.5, Level.OK, ()),
        (0.3, Level.FAIL, ("0.25", "0.5")),
        (0.501, Level.FAIL, ("0.5", "1")),
        (0.1, Level.FAIL, ("0.25",)),
        (2.0, Level.FAIL, ("1",)),
    ],
    ids=["on-an-edge", "between-two", "just-off-an-edge", "under-the-first", "over-the-last"],
)
def test_t7c_a_threshold_lies_on_an_edge_or_the_next_edges_are_told(value: float, level: Level, shown: tuple[str, ...]) -> None:
    finding = judge_edge(Threshold("llm/chat slow", "ttft", value), EDGES)

    assert finding.level is level
    assert all(edge in finding.todo for edge in shown)


def test_of_a_histogram_that_shows_no_edges_nothing_is_claimed() -> None:
    assert judge_edge(Threshold("llm/chat slow", "ttft", 0.5), ()).level is Level.WARN


def test_alerts_their_ends_and_slos_are_thresholds() -> None:
    made = subject(rule("slow", replace(SLOW, clear=0.25)), rule("queued", QUEUED))
    assert made.policy is not None
    with_slo = replace(made, policy=replace(made.policy, slos=(Slo("first", "ttft", 1.0, 0.99, 28 * 24 * 60 * MINUTE),)))

    assert [one.value for one in thresholds(with_slo)] == [0.5, 0.25, 1.0]


@pytest.mark.parametrize(
    ("reading", "per_second", "level"),
    [
        (Distribution(EDGES, (200.0,) * 4), None, Level.OK),
        (Distribution(EDGES, (199.0,) * 4), 0.1, Level.WARN),
        (Distribution(EDGES, (10.0,) * 4), 5.0, Level.OK),
        (Idle(), None, Level.WARN),
    ],
    ids=["enough-now", "one-too-few", "enough-in-the-last-hour", "idle"],
)
def test_a_quantile_wants_its_full_size_in_the_window(reading: Reading, per_second: float | None, level: Level) -> None:
    found = list(judge_traffic(subject(rule("slow", SLOW)), heard(reads("ttft", reading)), per_second))

    assert levels(found) == [level]


@pytest.mark.parametrize(
    ("actual", "level"),
    [(15 * SECOND, Level.OK), (17 * SECOND, Level.OK), (30 * SECOND, Level.FAIL), (5 * SECOND, Level.WARN), (None, Level.WARN)],
    ids=["as-configured", "a-lost-scrape", "half-as-often", "more-often", "not-counted"],
)
def test_the_interval_that_is_there_is_the_configured_one(actual: timedelta | None, level: Level) -> None:
    assert judge_interval(subject(), actual).level is level


@pytest.mark.parametrize(
    ("actual", "level"),
    [(15 * SECOND, Level.OK), (15.9 * SECOND, Level.OK), (20 * SECOND, Level.FAIL), (None, Level.OK)],
    ids=["exactly-four", "counted-a-little-short", "three", "as-configured-while-not-counted"],
)
def test_a_window_holds_four_scrapes(actual: timedelta | None, level: Level) -> None:
    assert levels(list(judge_windows(subject(rule("slow", SLOW)), actual))) == [level]


@pytest.mark.parametrize(
    ("condition", "scales", "loading", "seconds"),
    [
        (SLOW, True, 34.0, "174 s"),
        (SLOW, False, 34.0, "140 s"),
        (QUEUED, True, 34.0, "114 s"),
        (All((SLOW, Not(replace(SLOW, over=5 * MINUTE)))), False, None, "380 s"),
        (BurnRateLeaf("first", 14.4, 60 * MINUTE), False, None, "3680 s"),
    ],
    ids=["until-capacity-serves", "until-the-remedy", "a-gauge-of-now", "the-longest-window", "a-burn-rate"],
)
def test_the_reaction_floor_is_a_sum(condition: Condition, scales: bool, loading: float | None, seconds: str) -> None:
    finding = floor("llm/chat slow", rule("slow", condition), Times(15, 0, 5, loading), scales=scales)

    assert finding.level is Level.OK
    assert seconds in finding.said


def test_a_source_that_answers_for_a_while_ago_is_in_the_sum() -> None:
    assert "204 s" in floor("llm/chat slow", rule("slow", SLOW), Times(15, 30, 5, 34), scales=True).said


def test_a_load_time_that_nobody_measured_is_not_zero() -> None:
    finding = floor("llm/chat slow", rule("slow", SLOW), Times(15, 0, 5, None), scales=True)

    assert "never measured" in finding.said


def test_the_load_time_is_the_longest_that_was_learned_and_else_the_longest_seen() -> None:
    learned = Memory(level=LevelState(learned=(ProvenLoad("t1", load_seconds=(20.0, 34.0)),)))

    assert load_seconds(subject(workload=serving("a", load=50.0), memory=learned)) == 34.0
    assert load_seconds(subject(workload=serving("a", load=50.0))) == 50.0
    assert load_seconds(subject()) is None
