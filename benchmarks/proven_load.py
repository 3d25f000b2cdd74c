"""Proven load beside two autoscalers as people run them, on simulated fleets.

    AUTOPILOT_TEST_DATA=DIR python -m benchmarks.proven_load

DIR holds `azure-llm-2023-conv.csv` (the conversation trace that Azure published in 2023; it is not part of this
repository). Without it the two stories from the trace are left out. A cell is: % of first tokens within 500 ms /
replica-hours / reversals, the mean over three seeds. Compare the shape with the published table, not the digits:
the engine is a model.
"""

import csv
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from statistics import mean

from autopilot.domain.scaling import Bounds
from autopilot.simulation.arrivals import Request, arrivals, burst, constant, diurnal, scaled, trace_of
from autopilot.simulation.fleet import Scene, SimulatedFleet, StartUp, Tally
from benchmarks.rules import OBJECTIVE, SLO_SECONDS, Autoscaler, Fixed, ProvenLoad, Rule, play

SEEDS = (1, 2, 3)
START_UP = StartUp(seconds=90.0, jitter=0.1)
HOUR = 3600.0
TRACE = "azure-llm-2023-conv.csv"


@dataclass(frozen=True)
class Story:
    """A load, the replicas it begins with, and the bounds of everybody who scales."""

    name: str
    requests: Callable[[Random], Sequence[Request]]
    hours: float
    begins_with: int
    bounds: Bounds


def tell(story: Story, rule: Rule, seed: int) -> Tally:
    """Play a story once."""
    rng = Random(seed)
    scene = Scene(story.requests(rng), story.begins_with, start_up=START_UP, graceful=True)
    fleet = SimulatedFleet(scene, rng)
    play(fleet, rule, until=timedelta(hours=story.hours))
    return fleet.tally


def carried_by_one() -> tuple[float, float]:
    """What one replica carries within the SLO: requests per second, and the requests in flight that go with it."""
    low, high = 0.5, 16.0
    while high - low > 0.1:
        rate = (low + high) / 2
        low, high = (rate, high) if _kept(rate) else (low, rate)
    rng = Random(0)
    fleet = SimulatedFleet(Scene(arrivals(constant(4 * low), peak=4 * low, seconds=600.0, rng=rng), 4), rng)
    carried = []
    for minute in range(2, 11):
        fleet.advance(timedelta(minutes=minute))
        carried.append(getattr(fleet.readings().of("in_flight"), "value", 0.0) / 4)
    return low, mean(carried)


def _kept(rate: float) -> bool:
    rng = Random(0)
    fleet = SimulatedFleet(Scene(arrivals(constant(4 * rate), peak=4 * rate, seconds=600.0, rng=rng), 4), rng)
    play(fleet, Fixed(), until=timedelta(minutes=10))
    return fleet.tally.within(SLO_SECONDS) >= OBJECTIVE


def factor_for(trace: Sequence[Request], need: int) -> float:
    """How much the trace is speeded up until `need` replicas, and no fewer, keep it within the SLO."""
    low, high = 0.1, 12.0
    while high - low > 0.02 * high:
        factor = (low + high) / 2
        rng = Random(0)
        fleet = SimulatedFleet(Scene(scaled(trace, factor=factor, rng=rng), need), rng)
        play(fleet, Fixed(), until=timedelta(hours=1))
        low, high = (factor, high) if fleet.tally.within(SLO_SECONDS) >= OBJECTIVE else (low, factor)
    return low


def stories(rate: float) -> list[Story]:
    """The four loads: the trace twice, a day, a burst; `rate` is what one replica carries."""
    told = [_from_trace(trace, need) for trace in _traces() for need in (4, 8)]
    day = diurnal(low=rate, high=8 * rate, period=2 * HOUR)
    told.append(
        Story(
            "a day in 2 h",
            lambda rng: arrivals(day, peak=8 * rate, seconds=2 * HOUR, rng=rng),
            hours=2.0,
            begins_with=2,
            bounds=Bounds(1, 40),
        )
    )
    # The same proportions as the published burst: usually one replica is enough.
    jump = burst(usual=rate / 2, factor=10.0, begins=0.5 * HOUR, lasts=300.0)
    told.append(
        Story(
            "burst x10 for 5 min",
            lambda rng: arrivals(jump, peak=5 * rate, seconds=1.5 * HOUR, rng=rng),
            hours=1.5,
            begins_with=2,
            bounds=Bounds(1, 40),
        )
    )
    return told


def _from_trace(trace: Sequence[Request], need: int) -> Story:
    factor = factor_for(trace, need)
    return Story(
        f"conv, need {need}",
        lambda rng: scaled(trace, factor=factor, rng=rng),
        hours=1.0,
        begins_with=need,
        bounds=Bounds(1, 5 * need),
    )


def _traces() -> list[list[Request]]:
    directory = os.environ.get("AUTOPILOT_TEST_DATA")
    path = Path(directory) / TRACE if directory else None
    if path is None or not path.is_file():
        print(f"without {TRACE}: AUTOPILOT_TEST_DATA names no directory that holds it")
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [
            (datetime.fromisoformat(row["TIMESTAMP"][:26]).timestamp(), int(row["ContextTokens"]), int(row["GeneratedTokens"]))
            for row in csv.DictReader(lines)
        ]
    return [trace_of(rows)]


def rules(in_flight: float) -> dict[str, Callable[[Bounds], Rule]]:
    """Who is compared; `in_flight` is what one replica carries at the edge of the SLO."""
    return {
        "proven load, for: 1m": ProvenLoad,
        "proven load, for: 30s": lambda bounds: ProvenLoad(bounds, hold=timedelta(seconds=30)),
        "HPA, in flight, 70 % of what a replica carries": lambda bounds: Autoscaler(bounds, "in_flight", 0.7 * in_flight),
        "HPA, in flight, 70 % of 64 slots": lambda bounds: Autoscaler(bounds, "in_flight", 0.7 * 64),
        "KEDA, waiting, 2 per replica": lambda bounds: Autoscaler(bounds, "waiting", 2.0),
    }


def main() -> None:
    """Print the table."""
    rate, in_flight = carried_by_one()
    print(f"one replica carries {rate:.1f} requests per second within the SLO, {in_flight:.1f} in flight")
    for story in stories(rate):
        print(f"\n{story.name} (begins with {story.begins_with}, at most {story.bounds.maximum})")
        for name, rule in rules(in_flight).items():
            tallies = [tell(story, rule(story.bounds), seed) for seed in SEEDS]
            within = 100.0 * mean(tally.within(SLO_SECONDS) for tally in tallies)
            hours = mean(tally.replica_hours for tally in tallies)
            print(f"  {name:48s} {within:6.2f} / {hours:5.2f} / {mean(tally.reversals for tally in tallies):.0f}")


if __name__ == "__main__":
    main()
