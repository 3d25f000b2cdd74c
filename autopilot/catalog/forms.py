"""In which form a histogram is exported: buckets by `le`, or natively."""

from collections.abc import Iterable
from enum import StrEnum
from math import frexp, isclose, log2

from autopilot.domain.samples import Answer, NativeBucket

_FINEST = 8  # Prometheus's finest schema: 2**8 buckets for each power of two
_CLOSE = 1e-9


class Form(StrEnum):
    """How a histogram is exported. `NATIVE`: its buckets are all empty, so that their kind does not show."""

    CLASSIC = "classic"
    CUSTOM_BUCKETS = "native, custom buckets"
    EXPONENTIAL = "native, exponential buckets"
    NATIVE = "native"
    ABSENT = "absent"


def form_query(matchers: str, metric: str) -> str:
    """What to ask about one histogram. `matchers` stand in the braces, `metric` is without `_bucket`."""
    return f'count by (le) ({metric}_bucket{{{matchers}, le="+Inf"}}) or {metric}{{{matchers}}}'


def forms_in(answer: Answer) -> frozenset[Form]:
    """Every form among the replicas; `ABSENT` alone where nobody exports it."""
    found = {_native(native.buckets) for native in answer.natives}
    if any("le" in sample.labels for sample in answer.samples):
        found.add(Form.CLASSIC)
    if len(found) > 1:
        found.discard(Form.NATIVE)  # one whose buckets are all empty yet is as the others
    return frozenset(found or {Form.ABSENT})


def _native(buckets: Iterable[NativeBucket]) -> Form:
    """The server does not say which: exponential buckets have powers of one root of two as edges, and no infinite one.

    Custom edges that double (1, 2, 4) read as exponential while no other bucket is filled.
    """
    filled = [bucket for bucket in buckets if bucket.held > 0 and bucket.low != -bucket.high]  # without the zero bucket
    if not filled:
        return Form.NATIVE
    return Form.EXPONENTIAL if all(map(_is_step, filled)) else Form.CUSTOM_BUCKETS


def _is_step(bucket: NativeBucket) -> bool:
    if not 0 < bucket.low < bucket.high < float("inf"):
        return False
    width = log2(bucket.high / bucket.low)
    fraction, _ = frexp(width)
    ratio = log2(bucket.high) / width
    return isclose(fraction, 0.5, rel_tol=_CLOSE) and width >= 2.0**-_FINEST / 2 and isclose(ratio, round(ratio), abs_tol=1e-6)
