"""In which form a histogram is exported shows in its edges."""

from math import inf

import pytest

from autopilot.catalog.forms import Form, forms_in
from autopilot.domain.samples import Answer, NativeBucket, NativeSample, Sample

CLASSIC = Sample({"le": "+Inf"}, 2.0, 0.0)


def native(*edges: tuple[float, float]) -> NativeSample:
    return NativeSample({}, 5.0, 1.0, tuple(NativeBucket(low, high, 1.0) for low, high in edges), 0.0)


@pytest.mark.parametrize(
    ("answer", "forms"),
    [
        (Answer(()), {Form.ABSENT}),
        (Answer((CLASSIC,)), {Form.CLASSIC}),
        (Answer((), natives=(native((0.1, 0.25), (5.0, inf)),)), {Form.CUSTOM_BUCKETS}),
        (Answer((), natives=(native((-inf, 0.5), (0.5, 1.0)),)), {Form.CUSTOM_BUCKETS}),
        (Answer((), natives=(native((0.5, 2**-0.875), (2**0.25, 2**0.375)),)), {Form.EXPONENTIAL}),
        (Answer((), natives=(native((-1e-128, 1e-128), (1.0, 2**0.125)),)), {Form.EXPONENTIAL}),
        (Answer((), natives=(native(),)), {Form.NATIVE}),
        (Answer((CLASSIC,), natives=(native(), native((0.1, 0.25)))), {Form.CLASSIC, Form.CUSTOM_BUCKETS}),
    ],
    ids=["nobody", "classic", "custom", "lowest-bucket", "exponential", "with-zero-bucket", "empty", "mixed"],
)
def test_the_forms_of_a_histogram_are_told(answer: Answer, forms: set[Form]) -> None:
    assert forms_in(answer) == forms
