"""The two stories that the demo tells: their phases, what ends each, and how long each may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from demo import pacing
from demo.facts import Facts

CALM_SECONDS = 20.0  # 40 requests: a replica has shown what it carries, and the alert has seen a calm window
MEASURED_SECONDS = 25.0  # at 6 requests/s: 150 requests for the figures "after"
WATCHED_SECONDS = 12.0  # after people were told: long enough to see that they are not told twice and that nothing is taken away
SETTLED_SECONDS = 3.0  # after the fleet has shrunk: a request that was cut off would have failed by now

Since = Callable[[Facts, float], bool]  # what was observed, and the seconds that the phase has lasted


@dataclass(frozen=True)
class Phase:
    """One phase: the load from its start on (requests/s, None: as it was), what ends it, and its time bound in seconds.

    `awaits` completes "not observed: …" when the bound passes. `slow` names what takes its time, for the progress bar.
    """

    name: str
    rate: float | None
    over: Since
    bound_seconds: float
    awaits: str
    slow: str = ""


@dataclass(frozen=True)
class Scenario:
    """A story: `tells` says in a sentence what it shows. With a shared device an added replica cannot help."""

    name: str
    tells: str
    shared_device: bool
    phases: tuple[Phase, ...]


def _served(facts: Facts, _: float) -> bool:
    return facts.served_at is not None


def _calm(facts: Facts, seconds: float) -> bool:
    return seconds >= CALM_SECONDS and facts.proven and not facts.blind


def _pending(facts: Facts, _: float) -> bool:
    return facts.pending_at is not None


def _accepted(facts: Facts, _: float) -> bool:
    return facts.accepted_at is not None


def _landed(facts: Facts, _: float) -> bool:
    return facts.landed_at is not None


def _helped(facts: Facts, _: float) -> bool:
    return facts.verdict == "helped" and facts.judged_at is not None and facts.at - facts.judged_at >= MEASURED_SECONDS


def _judged(facts: Facts, _: float) -> bool:
    return facts.judged_at is not None


def _told(facts: Facts, _: float) -> bool:
    return facts.told_at is not None and facts.at - facts.told_at >= WATCHED_SECONDS


def _shrinking(facts: Facts, _: float) -> bool:
    return facts.shrinking_at is not None


def _shrunk(facts: Facts, seconds: float) -> bool:
    return facts.shrunk_at is not None and seconds >= SETTLED_SECONDS


OPENING = (
    Phase("warm start", None, _served, pacing.START_BOUND_SECONDS, "the first replica serving", "the first engine starts"),
    Phase("calm", pacing.EASY_RATE, _calm, 90.0, "a calm minute that the autopilot could see and learn from"),
    Phase("surge", pacing.HARD_RATE, _pending, 60.0, "the alert noticing that first tokens are slow"),
    Phase("breach", None, _accepted, 60.0, "a second replica being asked for"),
    Phase("action", None, _landed, pacing.START_BOUND_SECONDS, "the second replica serving", "the second engine starts"),
)

SCALE = Scenario(
    name="scale",
    tells="one replica cannot carry the load; a second one is added, verified, and taken away again when the load has gone",
    shared_device=False,
    phases=(
        *OPENING,
        Phase("verified", None, _helped, 180.0, "the added replica judged as having helped", "the queue is worked off, the effect is verified"),
        Phase("load falls", pacing.EASY_RATE, _shrinking, 150.0, "the fleet letting go of a replica", "the low load must last"),
        Phase("shrunk", None, _shrunk, 60.0, "the replica drained and gone", "the replica is drained and ends"),
    ),
)  # fmt: skip

LADDER = Scenario(
    name="ladder",
    tells="all replicas share one device, so an added one cannot help; the ladder sees that, climbs on and hands over to people",
    shared_device=True,
    phases=(
        *OPENING,
        Phase("judged", None, _judged, 120.0, "a verdict on the added replica", "the effect is verified"),
        Phase("handed over", pacing.EASY_RATE, _told, 60.0, "people being told", "nothing more may happen now"),
    ),
)

SCENARIOS = {scenario.name: scenario for scenario in (SCALE, LADDER)}
