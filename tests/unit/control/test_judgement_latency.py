from dataclasses import replace

import pytest

from autopilot.control.judgement import Look, latency_truth
from autopilot.domain.alerts import Alert, AlertRule, Severity
from autopilot.domain.conditions import All, Comparison, Condition, Truth
from autopilot.domain.signals import Gap, Idle, Measured, Reading, Unknown
from tests.unit.control.looks import MINUTE, NOON, QUEUED, SLOW, readings, seeing, times

YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN
GAPS = replace(SLOW, signal="itl", threshold=0.25)


def alert(condition: Condition, name: str = "slow") -> AlertRule:
    return AlertRule(name, Severity.PAGE, condition)


@pytest.mark.parametrize(
    ("ttft", "itl", "expected"),
    [
        (times(500), times(500), NO),
        (times(400, 0, 100), times(500), YES),
        (times(400, 0, 100), Unknown(Gap.ABSENT), YES),
        (times(500), Unknown(Gap.ABSENT), UNKNOWN),
        (times(500, partial=True), times(500), UNKNOWN),
        (Idle(), Idle(), NO),
    ],
    ids=["all-fast", "one-slow", "one-slow-one-unknown", "one-unknown", "partial", "idle"],
)
def test_any_slow_leaf_is_slow_and_all_must_be_fast(ttft: Reading, itl: Reading, expected: Truth) -> None:
    rules = [alert(All((SLOW, QUEUED))), alert(GAPS, "gaps")]

    assert latency_truth(rules, Look(readings(ttft=ttft, itl=itl), NOON)) is expected


@pytest.mark.parametrize(
    "condition",
    [QUEUED, replace(SLOW, comparison=Comparison.BELOW)],
    ids=["no-latency-leaf", "a-leaf-that-says-fast"],
)
def test_without_a_leaf_that_says_slow_nothing_is_proven(condition: Condition) -> None:
    look = Look(readings(ttft=times(500), waiting=Measured(0.0)), NOON)

    assert latency_truth([alert(condition)], look) is UNKNOWN


def test_an_absent_source_proves_nothing_whatever_the_alert_takes_it_for() -> None:
    rules = [alert(replace(SLOW, on_unknown=NO))]

    assert latency_truth(rules, seeing(Unknown(Gap.ABSENT))) is UNKNOWN


def test_a_firing_alert_does_not_lower_the_threshold_of_what_is_learned() -> None:
    rules = [alert(replace(SLOW, threshold=1.0, clear=0.25))]

    assert latency_truth(rules, replace(seeing(times(0, 500)), firing=True)) is NO


def test_calm_that_an_alert_remembers_counts() -> None:
    rules = [alert(All((QUEUED, SLOW)))]
    remembering = Alert("slow", calm=((1, NOON - 10 * MINUTE),))

    assert latency_truth(rules, seeing(times(4)), alerts=[remembering]) is NO
    assert latency_truth(rules, seeing(times(4))) is UNKNOWN
