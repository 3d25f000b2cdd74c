"""Whether a landed step helped."""

import pytest

from autopilot.control.verification import Comparison, compare, symptom_of, verdict_at_deadline
from autopilot.domain.conditions import AlertmanagerLeaf, All, AnyOf, Condition, Not
from autopilot.domain.remediations import Gauged, Verdict
from autopilot.domain.verbs import Verb
from tests.support.policies import QUEUED, SLOW, STARVED


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (SLOW, SLOW),
        (STARVED, None),
        (All((SLOW, STARVED)), SLOW),
        (AnyOf((SLOW, QUEUED, STARVED)), AnyOf((SLOW, QUEUED))),
        (Not(STARVED), None),
        (Not(SLOW), Not(SLOW)),
        (All((AlertmanagerLeaf("x"), SLOW)), SLOW),
        (AlertmanagerLeaf("x"), None),
    ],
)
def test_the_test_is_what_users_feel(condition: Condition, expected: Condition | None) -> None:
    assert symptom_of(condition) == expected


def gauged(share: float | None = None, mean: float | None = None, arrivals: float | None = None) -> Gauged:
    return Gauged((share,), (mean,), arrivals)


@pytest.mark.parametrize(
    ("before", "after", "better", "worse"),
    [
        (gauged(0.5, 1.0), gauged(0.4, 1.0), True, False),
        (gauged(0.5, 1.0), gauged(0.41, 1.0), False, False),
        (gauged(0.5, 1.0), gauged(0.6, 1.2), False, True),
        (gauged(0.5, 1.0), gauged(0.6, 1.1), False, False),
        (gauged(0.5, 1.0), gauged(0.7, 0.7), True, False),
        (gauged(None, 1.0), gauged(0.7, 1.3), False, True),
        (gauged(), gauged(0.7, 1.3), False, False),
        (gauged(0.0, 0.0), gauged(0.0, 0.0), False, False),
        (gauged(0.0, 0.0), gauged(0.1, 0.1), False, True),
        (Gauged((0.5, 0.5), (1.0, 1.0)), gauged(0.1, 0.1), False, False),
    ],
    ids=[
        "20 % less",
        "19 % less",
        "all rose",
        "one rose",
        "one fell",
        "one known",
        "unknown",
        "nothing",
        "from nothing",
        "another condition",
    ],
)
def test_windows_are_compared(before: Gauged, after: Gauged, *, better: bool, worse: bool) -> None:
    compared = compare(before, after)

    assert (compared.better, compared.worse) == (better, worse)


@pytest.mark.parametrize(
    ("before", "after", "rose", "same"),
    [
        (10.0, 11.0, True, True),
        (10.0, 10.9, False, True),
        (10.0, 12.6, True, False),
        (10.0, 7.4, False, False),
        (0.0, 5.0, False, False),
        (None, 5.0, False, False),
    ],
    ids=["10 % more", "9 % more", "26 % more", "26 % less", "from nothing", "unknown"],
)
def test_the_load_is_compared(before: float | None, after: float, *, rose: bool, same: bool) -> None:
    compared = compare(gauged(arrivals=before), gauged(arrivals=after))

    assert (compared.load_rose, compared.same_load) == (rose, same)


@pytest.mark.parametrize("verb", list(Verb))
@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("worse", [True, False])
@pytest.mark.parametrize("rose", [True, False])
def test_only_what_can_be_undone_can_be_harmful(verb: Verb, *, better: bool, worse: bool, rose: bool) -> None:
    verdict = verdict_at_deadline(verb, Comparison(better=better, worse=worse, load_rose=rose, same_load=True))
    undone = verb in (Verb.RELOCATE, Verb.RETUNE, Verb.TRAFFIC) and worse

    assert verdict is (Verdict.HARMFUL if undone else Verdict.INSUFFICIENT if better or rose else Verdict.INEFFECTIVE)
