from dataclasses import replace

import pytest

from autopilot.doctor.engines import judge_versions
from autopilot.doctor.findings import Check, Level
from autopilot.doctor.signals import exported, judge_bandwidth, judge_signals, wants
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Unknown
from tests.support.policies import MINUTE, QUEUED, SLOW, STARVED, rule
from tests.unit.doctor.subjects import heard, levels, reads, subject

FEW = Distribution((0.5, float("inf")), (3.0, 3.0))


@pytest.mark.parametrize(
    ("reading", "level"),
    [
        (FEW, Level.OK),
        (Idle(), Level.OK),
        (Unknown(Gap.ABSENT), Level.FAIL),
        (Unknown(Gap.QUERY_FAILED), Level.FAIL),
        (Unknown(Gap.MISSHAPEN), Level.FAIL),
    ],
    ids=["measured", "idle", "absent", "not-asked", "misshapen"],
)
def test_a_signal_that_an_alert_needs_can_be_read(reading: Reading, level: Level) -> None:
    assert levels(list(judge_signals(subject(rule("slow", SLOW)), heard(reads("ttft", reading))))) == [level]


def test_one_whose_absence_is_provided_for_is_no_failure() -> None:
    found = list(judge_signals(subject(rule("starved", STARVED)), heard(reads("bandwidth_utilization", Unknown(Gap.ABSENT)))))

    assert levels(found) == [Level.WARN]


def test_one_that_another_alert_cannot_do_without_is_a_failure_all_the_same() -> None:
    strict = rule("strict", replace(STARVED, on_unknown=None))
    found = list(judge_signals(subject(rule("starved", STARVED), strict), heard(reads("bandwidth_utilization", Unknown(Gap.ABSENT)))))

    assert levels(found) == [Level.FAIL]


def test_the_metric_that_is_missing_is_named_with_the_nearest_that_is_there() -> None:
    found = list(judge_signals(subject(rule("slow", SLOW)), heard(metrics=["vllm:time_to_first_tokens_seconds_bucket", "up"])))

    assert "vllm:time_to_first_token_seconds" in found[0].said
    assert "vllm:time_to_first_tokens_seconds" in found[0].said


def test_targets_that_do_not_give_what_others_do_are_named() -> None:
    silent = reads("waiting_per_replica", Unknown(Gap.ABSENT), over=None, replica="chat-1")
    given = reads("waiting_per_replica", Measured(1.0), over=None)
    found = list(judge_signals(subject(rule("queued", QUEUED)), heard(given, silent)))

    assert [(one.check, one.level) for one in found] == [(Check.SIGNAL_EXISTS, Level.OK), (Check.TARGETS_EXPORT, Level.WARN)]
    assert "chat-1" in found[1].said


@pytest.mark.parametrize(
    ("reading", "level"),
    [(Measured(0.6), Level.OK), (Measured(1.4), Level.WARN), (Idle(), Level.OK), (Unknown(Gap.MISSHAPEN, "flat"), Level.WARN)],
    ids=["believable", "over-the-peak", "idle", "zero-while-tokens-flow"],
)
def test_a_bandwidth_that_cannot_be_is_not_believed(reading: Reading, level: Level) -> None:
    found = list(judge_bandwidth(subject(rule("starved", STARVED)), heard(reads("bandwidth_utilization", reading))))

    assert levels(found) == [level]


def test_nobody_is_asked_for_a_bandwidth_that_no_alert_looks_at() -> None:
    assert list(judge_bandwidth(subject(rule("slow", SLOW)), heard())) == []


@pytest.mark.parametrize("metric", ["x", "x_bucket", "x_count", "x_total"])
def test_a_metric_is_there_in_any_of_its_forms(metric: str) -> None:
    assert exported("x", frozenset({metric}))


def test_a_want_names_its_alerts_and_its_window() -> None:
    (want,) = wants(subject(rule("slow", SLOW), rule("slower", replace(SLOW, threshold=1.0))))

    assert (want.by, want.over) == (("slow", "slower"), MINUTE)


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({"a": "0.32.0", "b": "0.32.0"}, [Level.OK]),
        ({"a": "0.11.0", "b": "0.32.0"}, [Level.WARN]),
        ({"a": "0.41.0"}, [Level.WARN]),
        ({"a": "nightly"}, [Level.WARN]),
        ({}, []),
    ],
    ids=["one", "mixed", "newer-than-known", "no-version", "nobody-told"],
)
def test_versions_are_told_and_judged(versions: dict[str, str], expected: list[Level]) -> None:
    assert levels(list(judge_versions(subject(versions=versions)))) == expected
