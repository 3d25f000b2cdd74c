from itertools import product

import pytest

from autopilot.domain.conditions import All, AnyOf, Comparison, Leaf, Not, Truth, all_of, any_of, leaves, symptoms

YES, NO, UNKNOWN = Truth.YES, Truth.NO, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("truths", "both", "either"),
    [
        ([YES, YES], YES, YES),
        ([YES, NO], NO, YES),
        ([NO, NO], NO, NO),
        ([YES, UNKNOWN], UNKNOWN, YES),
        ([NO, UNKNOWN], NO, UNKNOWN),
        ([UNKNOWN, UNKNOWN], UNKNOWN, UNKNOWN),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value),
)
def test_and_and_or_are_kleenes(truths: list[Truth], both: Truth, either: Truth) -> None:
    assert (all_of(truths), any_of(truths)) == (both, either)
    assert (all_of(truths[::-1]), any_of(truths[::-1])) == (both, either)


def test_de_morgan_holds_with_unknowns() -> None:
    for truths in product(list(Truth), repeat=3):
        assert all_of(list(truths)).negated() is any_of([truth.negated() for truth in truths])


def test_a_truth_refuses_to_be_taken_as_a_bool() -> None:
    with pytest.raises(TypeError):
        bool(Truth.UNKNOWN)


def test_the_leaves_of_a_condition_come_in_reading_order() -> None:
    slow, queued, idle_card = (
        Leaf("ttft", Comparison.ABOVE, 1.0, symptom=True, latency=True),
        Leaf("waiting", Comparison.ABOVE, 1.0, symptom=True),
        Leaf("bandwidth_utilization", Comparison.BELOW, 0.6),
    )
    condition = AnyOf((All((slow, Not(idle_card))), queued))

    assert leaves(condition) == (slow, idle_card, queued)
    assert symptoms(condition) == (slow, queued)
