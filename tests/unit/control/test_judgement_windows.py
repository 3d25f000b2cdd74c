"""Law 2: quantiles are judged on the counts of buckets."""

from dataclasses import replace

import pytest

from autopilot.control.judgement import Judgement, Look, judge
from autopilot.domain.conditions import Comparison, Leaf, Per, Truth
from autopilot.domain.logical_time import LogicalTime
from autopilot.domain.signals import Distribution, Gap, Idle, Measured, Reading, Unknown
from tests.unit.control.looks import MINUTE, NOON, SLOW, by_replica, seeing, times

YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN
BETWEEN = replace(SLOW, threshold=0.3)
SLOW_P90 = replace(SLOW, quantile=0.9)


@pytest.mark.parametrize(
    ("leaf", "window", "expected"),
    [
        (SLOW, times(198, 0, 2), NO),
        (SLOW, times(197, 0, 3), YES),
        (SLOW_P90, times(45, 0, 5), NO),
        (SLOW_P90, times(44, 0, 6), YES),
        (BETWEEN, times(485, 5, 0), UNKNOWN),
        (BETWEEN, times(498, 2), NO),
        (BETWEEN, times(485, 5, 10), YES),
        (replace(SLOW, threshold=10.0), times(400, 50, 20, 15, 15), YES),
        (replace(SLOW, threshold=12.0), times(400, 50, 20, 15, 15), UNKNOWN),
        (replace(SLOW, threshold=12.0), times(400, 50, 30, 15, 5), NO),
        (replace(SLOW, threshold=0.1), times(500), UNKNOWN),
        (replace(SLOW, min_samples=5), times(4, 0, 1), YES),
        (replace(SLOW, min_samples=0), times(), UNKNOWN),
        (replace(SLOW, min_samples=5), times(5), NO),
    ],
    ids=[
        "exactly-one-percent-is-no",
        "over-one-percent",
        "exactly-ten-percent-is-no",
        "over-ten-percent",
        "between-two-edges-undecided",
        "between-two-edges-surely-not",
        "between-two-edges-surely",
        "over-the-top-edge",
        "threshold-over-the-top-edge-undecided",
        "threshold-over-the-top-edge-surely-not",
        "threshold-under-the-first-edge",
        "min-samples-replaces-the-full-size",
        "min-samples-of-none-does-not-make-nothing-well",
        "min-samples-for-a-no",
    ],
)
def test_a_full_window_is_judged_on_its_shares(leaf: Leaf, window: Distribution, expected: Truth) -> None:
    assert judge(leaf, seeing(window)).truth is expected


@pytest.mark.parametrize(
    ("leaf", "window", "expected"),
    [
        (SLOW, times(0, 0, 2), UNKNOWN),
        (SLOW, times(0, 0, 3), YES),
        (SLOW, times(79, 0, 3), YES),
        (SLOW, times(80, 0, 3), UNKNOWN),
        (SLOW, times(10), NO),
        (SLOW, times(9), UNKNOWN),
        (SLOW, times(150, 0, 1), UNKNOWN),
        (BETWEEN, times(100, 1), UNKNOWN),
        (BETWEEN, times(0, 3), UNKNOWN),
        (SLOW_P90, times(5, 0, 3), YES),
        (SLOW_P90, times(6, 0, 3), UNKNOWN),
        (SLOW, times(0, 0, 2.9), UNKNOWN),
        (SLOW, times(), UNKNOWN),
    ],
    ids=[
        "two-slow-are-not-enough",
        "three-of-three",
        "three-of-82-are-sure",
        "three-of-83-are-not",
        "ten-calm-are-a-no",
        "nine-calm-are-not",
        "one-slow-of-many",
        "one-possibly-slow-spoils-the-no",
        "possibly-slow-is-not-slow",
        "three-of-8-for-p90",
        "three-of-9-for-p90",
        "a-fraction-of-a-third",
        "busy-and-empty",
    ],
)
def test_a_small_window_needs_more_to_say_anything(leaf: Leaf, window: Distribution, expected: Truth) -> None:
    assert judge(leaf, seeing(window)).truth is expected


def test_two_requests_one_of_them_slow_are_neither_a_breach_nor_blindness() -> None:
    """T7 A: one of two took 12 s."""
    judgement = judge(SLOW, seeing(times(1, 0, 0, 0, 1)))

    assert judgement == Judgement(UNKNOWN, undecided=True)


def test_three_percent_over_the_top_bucket_are_a_breach() -> None:
    """T7 B: 500 requests, 3 % over the top edge."""
    assert judge(replace(SLOW, threshold=10.0), seeing(times(485, 0, 0, 0, 15))) == Judgement(YES)


def test_an_slo_between_two_edges_is_a_breach_only_when_the_counts_are_certain() -> None:
    """T7 C: 0.3 s, with edges at 0.25 and 0.5."""
    assert judge(BETWEEN, seeing(times(490, 10))) == Judgement(UNKNOWN, undecided=True)
    assert judge(BETWEEN, seeing(times(484, 0, 16))) == Judgement(YES)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (times(198, 0, 2), NO),
        (times(199, 0, 1), YES),
        (times(196, 0, 4), NO),
        (times(100), UNKNOWN),
        (times(0, 0, 10), NO),
        (times(0, 0, 9), UNKNOWN),
    ],
    ids=["exactly-99-percent-below", "over-99-percent-below", "under", "100-below-are-not-sure-for-p99", "ten-above", "nine-above"],
)
def test_below_is_the_mirror_image(window: Distribution, expected: Truth) -> None:
    fast = replace(SLOW, comparison=Comparison.BELOW)

    assert judge(fast, seeing(window)).truth is expected


def test_below_between_two_edges_is_undecided() -> None:
    fast = replace(BETWEEN, comparison=Comparison.BELOW, quantile=0.5)

    assert judge(fast, seeing(times(100, 100, 50))) == Judgement(UNKNOWN, undecided=True)
    assert judge(fast, seeing(times(150, 50, 50))) == Judgement(YES)
    assert judge(fast, seeing(times(50, 50, 150))) == Judgement(NO)


@pytest.mark.parametrize(
    ("leaf", "reading", "expected"),
    [
        (SLOW, Idle(), Judgement(NO)),
        (SLOW, Unknown(Gap.BELOW_QUORUM), Judgement(UNKNOWN)),
        (SLOW, Measured(3.0), Judgement(UNKNOWN)),
        (replace(SLOW, quantile=None), times(0, 0, 500), Judgement(UNKNOWN)),
        (SLOW, times(100, 0, 400, partial=True), Judgement(YES, partial=True)),
        (SLOW, times(500, partial=True), Judgement(UNKNOWN, partial=True)),
        (SLOW, times(9, partial=True), Judgement(UNKNOWN, partial=True)),
        (BETWEEN, times(400, 100, partial=True), Judgement(UNKNOWN, partial=True)),
    ],
    ids=[
        "idle",
        "unknown",
        "a-number",
        "no-quantile",
        "partial-yes",
        "partial-no",
        "partial-small",
        "partial-undecided",
    ],
)
def test_what_is_not_a_whole_window_is_unknown_at_best(leaf: Leaf, reading: Reading, expected: Judgement) -> None:
    assert judge(leaf, seeing(reading)) == expected


def told(*windows: Reading, leaf: Leaf = SLOW, every: LogicalTime = MINUTE) -> list[Truth]:
    """The truth after each of these windows, with what was calm carried on."""
    calm: tuple[tuple[int, LogicalTime], ...] = ()
    truths = []
    for number, window in enumerate(windows):
        judgement = judge(leaf, seeing(window, now=NOON + number * every, calm=calm))
        calm = judgement.calm
        truths.append(judgement.truth)
    return truths


FEW = times(4)


def test_ten_windows_of_nothing_but_calm_are_a_no() -> None:
    assert told(*[FEW] * 12) == [UNKNOWN] * 10 + [NO] * 2


@pytest.mark.parametrize(
    "between",
    [times(3, 0, 1), times(), Unknown(Gap.LATE), times(4, partial=True), times(0, 0, 5), times(500, 0, 2)],
    ids=["one-slow", "busy-and-empty", "unknown", "partial", "a-breach", "some-slow-of-many"],
)
def test_anything_that_is_not_calm_starts_the_ten_afresh(between: Reading) -> None:
    truths = told(*[FEW] * 5, between, *[FEW] * 11)

    assert truths[6:] == [UNKNOWN] * 10 + [NO]


@pytest.mark.parametrize("between", [Idle(), times(40)], ids=["idle", "calm-and-large-enough"])
def test_idleness_or_better_proof_of_calm_does_not_interrupt_it(between: Reading) -> None:
    truths = told(*[FEW] * 5, between, *[FEW] * 5)

    assert truths == [UNKNOWN] * 5 + [NO] + [UNKNOWN] * 4 + [NO]


def test_ten_windows_are_ten_times_over_however_often_one_looks() -> None:
    truths = told(*[FEW] * 121, every=MINUTE / 12)

    assert truths == [UNKNOWN] * 120 + [NO]


def test_calm_is_remembered_leaf_by_leaf() -> None:
    remembered = judge(SLOW, seeing(FEW)).calm

    assert remembered == ((0, NOON),)


def test_one_replica_that_is_not_calm_keeps_the_others_waiting() -> None:
    leaf = replace(SLOW, per=Per.REPLICA)
    calm, mixed = by_replica("ttft", a=FEW, b=FEW), by_replica("ttft", a=FEW, b=times(3, 0, 1))
    since = ((0, NOON - 10 * MINUTE),)

    assert judge(leaf, Look(calm, NOON, replicas=("a", "b"), calm=since)) == Judgement(NO, calm=since)
    assert judge(leaf, Look(mixed, NOON, replicas=("a", "b"), calm=since)) == Judgement(UNKNOWN, undecided=True)
