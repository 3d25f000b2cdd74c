"""Warm-up prompts as long as production prompts really are: the fleet's own p50 and p99, where the file says `auto`."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from math import ceil

from autopilot.domain.quantiles import estimate
from autopilot.domain.signals import Distribution, Measured, Readings
from autopilot.domain.workloads import FleetRef
from autopilot.policy.book import Book
from autopilot.policy.values import Fleet

SIGNAL = "input_length"
OVER = timedelta(minutes=10)  # enough requests for a p99 on a fleet that carries one in three seconds
QUANTILES = (0.5, 0.99)

WarmUpWith = Callable[[FleetRef, tuple[int, ...]], None]
"""Tells the backend how long the prompts of a fleet's warm-up are to be, in tokens."""


def learns(fleet: Fleet) -> bool:
    """Whether the fleet's warm-up follows its traffic. On Kubernetes it is the pod's own business."""
    return fleet.backend == "local" and fleet.pool.warm_up.prompt_tokens is None


def follow(book: Book, readings: Mapping[FleetRef, Readings], warm_up_with: WarmUpWith) -> None:
    """Pass this tick's prompt lengths on, every time: a reloaded document has forgotten them."""
    for entry in book.entries:
        ref = entry.fleet.ref
        lengths = prompt_lengths(readings[ref]) if learns(entry.fleet) and ref in readings else None
        if lengths is not None:
            warm_up_with(ref, lengths)


def prompt_lengths(readings: Readings) -> tuple[int, ...] | None:
    """The lengths in tokens, None while too few prompts were seen. Quantiles of partial data are quantiles all the same."""
    histogram = readings.of(SIGNAL, over=OVER)
    if not isinstance(histogram, Distribution):
        return None
    found = [estimate(histogram, quantile) for quantile in QUANTILES]
    values = [one.value for one in found if isinstance(one, Measured)]
    return tuple(max(1, ceil(value)) for value in values) if len(values) == len(QUANTILES) else None
