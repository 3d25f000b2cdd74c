"""Looks at a demo that never ran, for tests of what follows from them."""

from __future__ import annotations

from demo.scenario import Scenario
from demo.scene import Scene, advance, opening
from demo.sight import Alert, Attempt, Fleet, Latency, Replica, Sight, Tally, Told

SERVING, STARTING, CORDONED = "serving", "starting", "cordoned"


def fleet(at: float, *states: str, desired: int | None = None, good: float | None = 5.0, born: tuple[float, ...] = (0.0, 50.0)) -> Fleet:
    """A fleet whose replicas were asked for at the moments in `born`."""
    replicas = tuple(
        Replica(f"chat-{index + 1}", state, at - begin, begin) for index, (state, begin) in enumerate(zip(states, born, strict=False))
    )
    alerts = (Alert("slow", "inactive", blind=False, active_seconds=0.0, for_seconds=5.0),)
    count = len(states) if desired is None else desired
    return Fleet(at, count, count, states.count(SERVING), replicas, 4.0, 2.0, alerts, (), good, Latency())


def line(number: int, at: float, event: str) -> Told:
    """A line of the story."""
    return Told(number, at, event, event)


def attempt(verdict: str, *, verb: str = "scaleOut", reason: str | None = None) -> Attempt:
    """A step of a ladder that has ended."""
    return Attempt("one", verb, 1, "ended", verdict, reason, 2)


def told(scenario: Scenario, *looks: Sight) -> Scene:
    """The scene after these looks."""
    scene = opening(scenario, 0.0)
    for look in looks:
        scene = advance(scene, look)
    return scene


RISEN = (
    Sight(20.0, fleet(20.0, SERVING)),
    Sight(41.0, fleet(41.0, SERVING), tally=Tally(40)),
)
"""One replica came up, and the calm is over."""

LANDED = (
    *RISEN,
    Sight(46.0, fleet(46.0, SERVING), story=(line(1, 45.5, "alert_pending"),)),
    Sight(51.0, fleet(51.0, SERVING, STARTING), story=(line(2, 50.0, "alert_firing"),)),
    Sight(80.0, fleet(80.0, SERVING, SERVING), story=(line(3, 79.5, "step_landed"),)),
)
"""The load rose, the alert fired, a second replica was asked for and serves."""

HELPED = (
    *LANDED,
    Sight(110.0, fleet(110.0, SERVING, SERVING), story=(line(4, 110.0, "remediation_closed"),), attempts=(attempt("helped"),)),
    Sight(136.0, fleet(136.0, SERVING, SERVING)),
)
"""It helped, and was watched for a while; the load has fallen."""

SHRUNK = (
    *HELPED,
    Sight(160.0, fleet(160.0, CORDONED, SERVING)),
    Sight(164.0, fleet(164.0, SERVING, desired=1, born=(50.0,))),
)
"""One replica was drained and went."""

HANDED_OVER = (
    *LANDED,
    Sight(
        115.0,
        fleet(115.0, SERVING, SERVING),
        attempts=(attempt("insufficient"), attempt("not_taken", verb="relocate", reason="not_supported")),
        told=1,
    ),
    Sight(128.0, fleet(128.0, SERVING, SERVING), told=1),
)
"""It did not help, the next rung was passed over, people were told."""
