"""The rows of an instant vector: numbers, and native histograms."""

from collections.abc import Sequence
from typing import Any

from autopilot.domain.samples import NativeBucket, NativeSample, Sample

_SHOWN = 200  # characters of a row that a message shows
_UNREADABLE = (AttributeError, KeyError, OverflowError, TypeError, ValueError)  # what a row of another shape raises here


class NoSampleError(Exception):
    """A row that is neither a number nor a histogram. The message shows it."""


def read_rows(rows: Sequence[Any]) -> tuple[tuple[Sample, ...], tuple[NativeSample, ...]]:
    """All rows, without a model and without a copy: a large fleet has 100,000 of them. Raises NoSampleError."""
    try:
        return tuple(map(_number, rows)), ()
    except _UNREADABLE:
        pass  # a histogram among them, or nothing that can be read: looked at one by one
    samples: list[Sample] = []
    natives: list[NativeSample] = []
    for row in rows:
        if type(row) is dict and "histogram" in row and "value" not in row:
            natives.append(_read_native(row))
        else:
            samples.append(read_number(row))
    return tuple(samples), tuple(natives)


def read_number(row: Any) -> Sample:
    """One row with a number. Raises NoSampleError."""
    try:
        return _number(row)
    except _UNREADABLE as error:
        raise _no_sample(row) from error


def _number(row: Any) -> Sample:
    at, value = row["value"]
    return Sample(_labels(row), float(value), float(at))


def _read_native(row: Any) -> NativeSample:
    try:
        return _native(row)
    except _UNREADABLE as error:
        raise _no_sample(row) from error


def _native(row: Any) -> NativeSample:
    """Each bucket is [which ends belong to it, low, high, count]; without `buckets` all of them are empty."""
    at, found = row["histogram"]
    buckets = tuple(NativeBucket(float(low), float(high), float(count)) for _, low, high, count in found.get("buckets") or ())
    return NativeSample(_labels(row), float(found["count"]), float(found["sum"]), buckets, float(at))


def _labels(row: Any) -> dict[str, str]:
    labels = row["metric"]
    if type(labels) is not dict:
        raise TypeError
    "".join(labels.values())  # the quickest way to see that all are text: TypeError where one is not
    return labels


def _no_sample(row: Any) -> NoSampleError:
    return NoSampleError(f"it gives a row that is no sample: {' '.join(str(row).split())[:_SHOWN]}")
