"""The rows of an instant vector: numbers, and native histograms."""

from collections.abc import Sequence
from typing import Any

from autopilot.domain.samples import NativeBucket, NativeSample, Sample

_SHOWN = 200  # characters of a row that a message shows


class NoSampleError(Exception):
    """A row that is neither a number nor a histogram. The message shows it."""


def read_rows(rows: Sequence[Any]) -> tuple[tuple[Sample, ...], tuple[NativeSample, ...]]:
    """All rows, without a model and without a copy: a large fleet has 100,000 of them. Raises NoSampleError."""
    try:
        return tuple(map(_number, rows)), ()
    except (KeyError, TypeError, ValueError):
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
    except (KeyError, TypeError, ValueError) as error:
        raise _no_sample(row) from error


def _number(row: Any) -> Sample:
    (at, value), labels = row["value"], row["metric"]
    if type(labels) is not dict:
        raise TypeError
    return Sample(labels, float(value), float(at))


def _read_native(row: Any) -> NativeSample:
    try:
        return _native(row)
    except (KeyError, TypeError, ValueError) as error:
        raise _no_sample(row) from error


def _native(row: Any) -> NativeSample:
    """Each bucket is [which ends belong to it, low, high, count]; without `buckets` all of them are empty."""
    (at, found), labels = row["histogram"], row["metric"]
    if type(labels) is not dict:
        raise TypeError
    buckets = tuple(NativeBucket(float(low), float(high), float(count)) for _, low, high, count in found.get("buckets") or ())
    return NativeSample(labels, float(found["count"]), float(found["sum"]), buckets, float(at))


def _no_sample(row: Any) -> NoSampleError:
    return NoSampleError(f"it gives a row that is no sample: {' '.join(str(row).split())[:_SHOWN]}")
